import type { Readable } from "node:stream";
import type { Corkboard } from "../app/openCorkboard.ts";
import type { AccessMode } from "../app/openStore.ts";
import type { Config } from "../config.ts";

/** What a command has of the process it runs in, so that a test can give it something else. */
export interface CommandContext {
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly stdin: Readable;
	/** Whether somebody watches stderr, so that a line of progress may be overwritten. */
	readonly isTerminal: boolean;
	/** One line, or several, of the command's output. */
	stdout(text: string): void;
	/** One line, or several, beside the output: progress, warnings, errors. */
	stderr(text: string): void;
	/** Text on stderr as it is, without an end of line. */
	stderrRaw(text: string): void;
	/**
	 * From the first call on, an interrupt (SIGINT, SIGTERM) aborts this signal
	 * instead of ending the process, and the command is to end by itself soon.
	 */
	interruptSignal(): AbortSignal;
	/** The program these settings describe. */
	open(config: Config, access: AccessMode): Promise<Corkboard>;
}

/** npm hands on the SIGINT that the terminal has already sent to us: within this time (ms) it is the same one. */
const SAME_INTERRUPT_MS = 1_000;

export function processContext(): CommandContext {
	let interruption: AbortSignal | undefined;
	// Whoever read our output went away (`| head`): there is nobody left to work for.
	for (const stream of [process.stdout, process.stderr]) {
		stream.on("error", (error: NodeJS.ErrnoException) => {
			if (error.code !== "EPIPE") throw error;
			process.exit(process.exitCode ?? 0);
		});
	}
	return {
		env: process.env,
		stdin: process.stdin,
		isTerminal: process.stderr.isTTY === true,
		stdout: (text) => void process.stdout.write(`${text}\n`),
		stderr: (text) => void process.stderr.write(`${text}\n`),
		stderrRaw: (text) => void process.stderr.write(text),
		interruptSignal: () => (interruption ??= onInterrupt()),
		// Loaded when asked for: `id` and `--help` need not wait for the server's packages.
		open: async (config, access) =>
			(await import("../app/openCorkboard.ts")).openCorkboard(config, access),
	};
}

/** The second interrupt ends the process as it would have without us. */
function onInterrupt(): AbortSignal {
	const controller = new AbortController();
	let first = 0;
	for (const name of ["SIGINT", "SIGTERM"] as const) {
		process.on(name, () => {
			if (!controller.signal.aborted) {
				first = performance.now();
				controller.abort(name);
			} else if (performance.now() - first > SAME_INTERRUPT_MS) {
				process.exit(name === "SIGINT" ? 130 : 143);
			}
		});
	}
	return controller.signal;
}

/** Opens the program for a command, and warns where it uses the kept copy of the topology. `serve` logs that instead. */
export async function openForCommand(
	context: CommandContext,
	config: Config,
	access: AccessMode,
): Promise<Corkboard> {
	const corkboard = await context.open(config, access);
	const { topologyProblem } = corkboard;
	if (topologyProblem !== null) {
		context.stderr(`corkboard: warning: ${topologyProblem.message}`);
	}
	return corkboard;
}
