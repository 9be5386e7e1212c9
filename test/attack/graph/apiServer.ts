import { mkdir, readFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReservedPort } from "../../services/port.ts";
import { startWatched, type Watched } from "../../services/watched.ts";

const LAUNCH = join(import.meta.dirname, "../../../src/cli/launch.mjs");
const START_LIMIT_MS = 120_000;
const LOOK_MS = 100;

export interface Reply {
	readonly status: number;
	readonly body: unknown;
}

/** Nobody listened there, so the request did not reach a server. */
export class NotSent extends Error {}

/** A server process at a fixed port, which may be killed and started again. */
export class ApiServer implements AsyncDisposable {
	readonly number: number;
	readonly folder: string;
	readonly #reserved: ReservedPort;
	readonly #settings: Readonly<Record<string, string>>;
	readonly #ended: (server: ApiServer, how: string) => void;
	#agent = new Agent({ keepAlive: true, maxSockets: 64 });
	#process: Watched | null = null;
	/** Counts processes: what one process promises of itself does not bind the next. */
	starts = 0;
	/** Whether its end is ours. */
	#isEnding = false;
	isFrozen = false;

	constructor(options: {
		readonly number: number;
		readonly folder: string;
		readonly reserved: ReservedPort;
		readonly settings: Readonly<Record<string, string>>;
		/** Called when the process ends and nobody killed it. */
		readonly ended: (server: ApiServer, how: string) => void;
	}) {
		this.number = options.number;
		this.folder = options.folder;
		this.#reserved = options.reserved;
		this.#settings = options.settings;
		this.#ended = options.ended;
	}

	get pid(): number | null {
		return this.#process?.hasExited() === false ? this.#process.pid : null;
	}

	get logFile(): string {
		return join(this.folder, "log");
	}

	/** Until it answers; `launched` is called with the process id before that. */
	async start(launched: (pid: number) => void): Promise<void> {
		await mkdir(this.folder, { recursive: true });
		this.#isEnding = false;
		this.isFrozen = false;
		this.starts++;
		const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
		const settings = {
			PATH,
			HOME,
			TMPDIR,
			CORKBOARD_SHUTDOWN_DELAY: "0",
			...this.#settings,
			PORT: String(this.#reserved.port),
		};
		const running = await startWatched(
			[
				"/usr/bin/env",
				"-i",
				...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
				process.execPath,
				LAUNCH,
				"serve",
			],
			{ folder: this.folder, log: this.logFile },
		);
		this.#process = running;
		launched(running.pid);
		running.exited.then((how) => {
			if (this.#process === running && !this.#isEnding) this.#ended(this, how);
		});
		const deadline = performance.now() + START_LIMIT_MS;
		while (performance.now() < deadline) {
			if (running.hasExited()) {
				const log = await readFile(this.logFile, "utf8").catch(() => "");
				if (this.#isEnding) return;
				throw new Error(
					`expected server ${this.number} to start but got: its end. It printed:\n${log.slice(-2_000)}`,
				);
			}
			const live = await this.send(
				"GET",
				"/health/live",
				null,
				{},
				1_000,
			).catch(() => null);
			if (live?.status === 200) return;
			await sleep(LOOK_MS);
		}
		throw new Error(`expected server ${this.number} to answer`);
	}

	freeze(): void {
		if (this.#signal("SIGSTOP")) this.isFrozen = true;
	}

	thaw(): void {
		this.#signal("SIGCONT");
		this.isFrozen = false;
	}

	/** By SIGKILL, and until it is gone. */
	async kill(): Promise<void> {
		this.#isEnding = true;
		this.#signal("SIGKILL");
		await this.#process?.exited;
		this.isFrozen = false;
		this.#agent.destroy();
		this.#agent = new Agent({ keepAlive: true, maxSockets: 64 });
	}

	/** Rejects without an answer in time; with `NotSent` if nobody listens. */
	send(
		method: "GET" | "POST",
		path: string,
		body: string | null,
		headers: Readonly<Record<string, string>>,
		timeoutMs: number,
	): Promise<Reply> {
		return new Promise((resolve, reject) => {
			const sent = request(
				{
					host: "127.0.0.1",
					port: this.#reserved.port,
					method,
					path,
					agent: this.#agent,
					headers: {
						...(body !== null && { "content-type": "application/json" }),
						...headers,
					},
				},
				(response) => {
					let text = "";
					response.setEncoding("utf8");
					response.on("data", (chunk: string) => {
						text += chunk;
					});
					response.on("error", reject);
					response.on("end", () => {
						try {
							resolve({
								status: response.statusCode ?? 0,
								body: text.startsWith("{") ? JSON.parse(text) : text,
							});
						} catch (error) {
							reject(error);
						}
					});
				},
			);
			const timer = setTimeout(
				() => sent.destroy(new Error(`no answer in ${timeoutMs} ms`)),
				timeoutMs,
			);
			sent.on("close", () => clearTimeout(timer));
			sent.on("error", (error: NodeJS.ErrnoException) =>
				reject(
					error.code === "ECONNREFUSED"
						? new NotSent(`server ${this.number} does not listen`)
						: error,
				),
			);
			sent.end(body ?? undefined);
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.kill();
		this.#agent.destroy();
		await this.#reserved[Symbol.asyncDispose]();
	}

	#signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): boolean {
		const { pid } = this;
		if (pid === null) return false;
		process.kill(pid, name);
		return true;
	}
}
