import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

const ROOT = join(import.meta.dirname, "../..");
const LAUNCH = join(ROOT, "src/cli/launch.mjs");
/** Nothing that a test waits for takes nearly as long (ms), even on busy cores. */
const LIMIT_MS = 180_000;
const OUTPUT_LIMIT = 4 * 1024 * 1024;

export type Environment = Readonly<Record<string, string>>;

/**
 * The options with which the program runs, and where Node keeps what it compiled: without
 * them a process takes twice the CPU to start.
 */
export const NODE_ENVIRONMENT: Environment = Object.fromEntries(
	["NODE_OPTIONS", "NODE_COMPILE_CACHE"].flatMap((name) => {
		const value = process.env[name];
		return value === undefined ? [] : [[name, value]];
	}),
);

export interface Ended {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly out: string;
	readonly err: string;
}

/** A process of the program. Disposing of it kills it, if it still runs. */
export interface Program extends AsyncDisposable {
	readonly pid: number;
	readonly stdin: Writable;
	readonly stdout: Readable;
	/** What it has printed so far. */
	readonly out: () => string;
	readonly err: () => string;
	/** To read it is to expect the end: it rejects, and the process is killed, if that does not come in time. */
	readonly ended: Promise<Ended>;
	/** The first match in what it prints; an error if it ends, or prints nothing like it in time. */
	printed(stream: "out" | "err", pattern: RegExp): Promise<RegExpExecArray>;
	send(signal: NodeJS.Signals): void;
}

export interface StartOptions {
	/** Beside it the process sees a PATH, a TMPDIR and Node's options, and nothing else of ours. It stops without a delay. */
	readonly env?: Environment;
	/** What it reads, to the end; left open to be written to if not given. */
	readonly input?: string;
	/** Started instead of the program's launcher. */
	readonly command?: readonly [string, ...string[]];
	/** How long its end may be waited for (default: three minutes). Milliseconds. */
	readonly limitMs?: number;
}

export function startProgram(
	args: readonly string[],
	options: StartOptions = {},
): Program {
	const { limitMs = LIMIT_MS } = options;
	const [file, ...first] = options.command ?? [process.execPath, LAUNCH];
	const { PATH, TMPDIR, HOME } = process.env;
	const child = spawn(file, [...first, ...args], {
		cwd: ROOT,
		env: {
			PATH,
			TMPDIR,
			HOME,
			...NODE_ENVIRONMENT,
			CORKBOARD_SHUTDOWN_DELAY: "0",
			...options.env,
		},
		stdio: ["pipe", "pipe", "pipe"],
	});
	const { pid } = child;
	if (pid === undefined) throw new Error(`expected ${file} to start`);
	const killed = () => void child.kill("SIGKILL");
	process.once("exit", killed);
	child.once("exit", () => process.off("exit", killed));

	const text = { out: "", err: "" };
	for (const [name, stream] of [
		["out", child.stdout],
		["err", child.stderr],
	] as const) {
		stream.setEncoding("utf8").on("data", (chunk: string) => {
			text[name] = (text[name] + chunk).slice(-OUTPUT_LIMIT);
		});
	}
	// It may end before it has read all; what it says then is what counts.
	child.stdin.on("error", () => {});
	if (options.input !== undefined) child.stdin.end(options.input);

	const said = () => `\nstdout: ${text.out}\nstderr: ${text.err}`;
	let isLate = false;
	let limit: NodeJS.Timeout | undefined;
	const ended = once(child, "close").then(([code, signal]): Ended => {
		clearTimeout(limit);
		if (isLate) {
			throw new Error(`expected an end within ${limitMs} ms${said()}`);
		}
		return { code, signal, ...text };
	});
	// A caller that awaits it gets the error; a test that failed before has its own.
	ended.catch(() => {});
	let isClosed = false;
	child.once("close", () => {
		isClosed = true;
	});

	return {
		pid,
		stdin: child.stdin,
		stdout: child.stdout,
		out: () => text.out,
		err: () => text.err,
		get ended() {
			if (!isClosed) {
				limit ??= setTimeout(() => {
					isLate = true;
					killed();
				}, limitMs);
			}
			return ended;
		},
		async printed(stream, pattern) {
			const source = stream === "out" ? child.stdout : child.stderr;
			const match = () => pattern.exec(text[stream]);
			let found = match();
			if (found) return found;
			const { promise, resolve } = Promise.withResolvers<RegExpExecArray>();
			const look = () => {
				found = match();
				if (found) resolve(found);
			};
			source.on("data", look);
			const late = Promise.withResolvers<never>();
			const timer = setTimeout(
				() =>
					late.reject(
						new Error(
							`expected ${pattern} within ${LIMIT_MS} ms but got:${said()}`,
						),
					),
				LIMIT_MS,
			);
			try {
				return await Promise.race([
					promise,
					late.promise,
					ended.then(() => {
						throw new Error(`expected ${pattern} but it ended${said()}`);
					}),
				]);
			} finally {
				clearTimeout(timer);
				source.off("data", look);
			}
		},
		send: (signal) => void child.kill(signal),
		async [Symbol.asyncDispose]() {
			if (child.exitCode === null && child.signalCode === null) killed();
			await ended.catch(() => {});
		},
	};
}

/** One command line, from its start to its end. */
export async function runProgram(
	args: readonly string[],
	options: StartOptions = {},
): Promise<Ended> {
	await using program = startProgram(args, { input: "", ...options });
	return await program.ended;
}

export interface Served extends Program {
	/** Without a path. */
	readonly url: string;
	/** SIGTERM, and the end of the process. */
	stop(): Promise<Ended>;
}

/** A server on a free port, without a demo graph or GraphiQL unless the settings say otherwise. */
export async function serve(env: Environment): Promise<Served> {
	const program = startProgram(["serve"], {
		env: {
			PORT: "0",
			CORKBOARD_DEMO: "off",
			CORKBOARD_GRAPHIQL: "off",
			...env,
		},
	});
	try {
		const [, url = ""] = await program.printed(
			"out",
			/Server listening at (http:\/\/[0-9.]+:\d+)/,
		);
		return Object.assign(program, {
			url,
			stop() {
				program.send("SIGTERM");
				return program.ended;
			},
		});
	} catch (error) {
		await program[Symbol.asyncDispose]();
		throw error;
	}
}
