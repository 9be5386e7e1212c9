import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ReservedPort, reservePort } from "./port.ts";
import { startWatched, type Watched } from "./watched.ts";

/** How a server is started on a port, and how one sees that it answers. */
export interface Recipe {
	/** As in a URL: `redis`. */
	readonly scheme: string;
	/** What the name of its folder begins with (default: the scheme). */
	readonly folderName?: string;
	/** `user:password@`, or nothing. */
	readonly credentials: string;
	/** Fills the server's new folder, before its first start. */
	prepare(folder: string): Promise<void>;
	command(folder: string, port: number): readonly string[];
	/** Ends it for good, without writing down what it has in memory (default: SIGKILL). */
	readonly end?: Ending;
	/** Whether the server of this folder and process, and no other, answers on that port. Rejects or says no until it does. */
	answers(at: {
		readonly folder: string;
		readonly port: number;
		readonly pid: number;
	}): Promise<boolean>;
}

type Ending = "SIGKILL" | "SIGQUIT" | "SIGTERM";

/** No server takes nearly as long, even on busy cores. */
const START_LIMIT_MS = 180_000;
/** MySQL writes down what it has in memory. */
const END_LIMIT_MS = 180_000;
const LOOK_MS = 15;
/** How often a port may turn out to be somebody else's. */
const PORT_TRIES = 5;

/**
 * A server of one's own on 127.0.0.1, with its files in a temporary folder. It
 * ends, and its folder goes, with `stop` or with the process that started it,
 * whichever is first and however that ends.
 */
export class Server implements AsyncDisposable {
	readonly host = "127.0.0.1";
	readonly #recipe: Recipe;
	readonly #folder: string;
	/** Also between a stop and the next start. */
	readonly #reserved: ReservedPort;
	#process: Watched;

	private constructor(
		recipe: Recipe,
		folder: string,
		reserved: ReservedPort,
		running: Watched,
	) {
		this.#recipe = recipe;
		this.#folder = folder;
		this.#reserved = reserved;
		this.#process = running;
	}

	static async start(recipe: Recipe): Promise<Server> {
		const folder = await mkdtemp(
			join(tmpdir(), `${recipe.folderName ?? recipe.scheme}-`),
		);
		try {
			await recipe.prepare(folder);
			for (let tries = 1; ; tries++) {
				const reserved = await reservePort();
				try {
					const running = await launch(recipe, folder, reserved.port);
					return new Server(recipe, folder, reserved, running);
				} catch (error) {
					await reserved[Symbol.asyncDispose]();
					if (tries >= PORT_TRIES || !isPortTaken(error)) throw error;
				}
			}
		} catch (error) {
			await rm(folder, { recursive: true, force: true });
			throw error;
		}
	}

	get port(): number {
		return this.#reserved.port;
	}

	/** `127.0.0.1:6379` */
	get address(): string {
		return `${this.host}:${this.port}`;
	}

	/** `mysql://user:password@127.0.0.1:3306` */
	get url(): string {
		const { scheme, credentials } = this.#recipe;
		return `${scheme}://${credentials}${this.address}`;
	}

	get pid(): number {
		return this.#process.pid;
	}

	/** Its folder: data, and `log`, what it printed. */
	get folder(): string {
		return this.#folder;
	}

	/** Ends it, without warning unless by SIGTERM; its data stays for `restart`. */
	async kill(signal: Ending = "SIGKILL"): Promise<void> {
		const running = this.#process;
		this.#signal(signal);
		// A paused one hears nothing but SIGKILL.
		this.#signal("SIGCONT");
		await within(END_LIMIT_MS, running.exited, () => {
			this.#signal("SIGKILL");
			return `${this.#recipe.scheme} (process ${running.pid}) to end after ${signal}`;
		});
	}

	/** Stops it as SIGTERM does, unless it was killed, and starts it again: same port, same data. */
	async restart(): Promise<void> {
		await this.kill("SIGTERM");
		this.#process = await launch(this.#recipe, this.#folder, this.port);
	}

	/** It accepts connections, the kernel does that, and answers nothing until `resume`. */
	pause(): void {
		this.#signal("SIGSTOP");
		// The signal is on its way, and a thread on another core may still answer.
		const until = performance.now() + STOP_LIMIT_MS;
		while (!isStopped(this.pid)) {
			if (performance.now() > until) {
				throw new Error(`expected process ${this.pid} to be paused`);
			}
			Atomics.wait(NOTHING, 0, 0, 1);
		}
	}

	resume(): void {
		this.#signal("SIGCONT");
	}

	/** Ends it for good and removes its folder: nobody will read what it would write down. */
	async stop(): Promise<void> {
		await this.kill(this.#recipe.end ?? "SIGKILL");
		await this.#reserved[Symbol.asyncDispose]();
		await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.stop();
	}

	/** By process id, and only while that process is ours. */
	#signal(signal: NodeJS.Signals): void {
		if (this.#process.hasExited()) return;
		try {
			process.kill(this.#process.pid, signal);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
		}
	}
}

/** For the files a server forgets with each start. */
export function temporaryIn(folder: string): string {
	return join(folder, "tmp");
}

async function launch(
	recipe: Recipe,
	folder: string,
	port: number,
): Promise<Watched> {
	const log = join(folder, "log");
	// What one that was killed left there stops MySQL's replication.
	const temporary = temporaryIn(folder);
	await rm(temporary, { recursive: true, force: true });
	await mkdir(temporary);
	const running = await startWatched(recipe.command(folder, port), {
		folder,
		log,
	});
	const deadline = performance.now() + START_LIMIT_MS;
	let lastError: unknown;
	while (!running.hasExited() && performance.now() < deadline) {
		try {
			// A client's connection takes far more CPU, and MySQL is looked at some sixty times.
			await connects(port);
			if (await recipe.answers({ folder, port, pid: running.pid })) {
				return running;
			}
		} catch (error) {
			lastError = error;
		}
		await sleep(LOOK_MS);
	}
	const how = running.hasExited()
		? `its end, ${await running.exited}`
		: `nothing within ${START_LIMIT_MS / 1_000} s (${lastError})`;
	if (!running.hasExited()) process.kill(running.pid, "SIGKILL");
	await running.exited;
	const printed = await readFile(log, "utf8").catch(() => "");
	throw new Error(
		`expected ${recipe.scheme} to answer on port ${port} but got: ${how}. It printed:\n${printed.slice(-4_000)}`,
	);
}

async function connects(port: number): Promise<void> {
	const socket = connect({ host: "127.0.0.1", port });
	try {
		await once(socket, "connect");
	} finally {
		socket.destroy();
	}
}

function isPortTaken(error: unknown): boolean {
	return (
		error instanceof Error && /address already in use/i.test(error.message)
	);
}

async function within<T>(
	ms: number,
	promise: Promise<T>,
	expected: () => string,
): Promise<T> {
	const timer = new AbortController();
	const late = sleep(ms, undefined, { signal: timer.signal }).then(() => {
		throw new Error(
			`expected ${expected()} but got: nothing in ${ms / 1_000} s`,
		);
	});
	late.catch(() => {});
	try {
		return await Promise.race([promise, late]);
	} finally {
		timer.abort();
	}
}

const STOP_LIMIT_MS = 60_000;
const NOTHING = new Int32Array(new SharedArrayBuffer(4));

/** Whether all threads of a process are paused (proc(5): state T). Systems other than Linux do not show it. */
function isStopped(pid: number): boolean {
	try {
		return readdirSync(`/proc/${pid}/task`).every((thread) => {
			const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
			return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
		});
	} catch {
		return true;
	}
}
