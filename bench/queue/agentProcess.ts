import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { moveToOtherCores, moveToServerCore } from "../servers/cores.ts";
import { cpuMsOfAll } from "../usage.ts";
import type { EnqueueOptions, LogBytes, QueueTarget } from "./queueSystem.ts";
import { infoOf, type SystemName } from "./systems.ts";

/** What a process of the benchmark can be asked to do. Times are of `monotonicMs`, which all processes share. */
export interface AgentMethods {
	prepare(target: QueueTarget): Promise<void>;
	fill(
		options: EnqueueOptions & {
			readonly target: QueueTarget;
			readonly first: number;
			readonly count: number;
		},
	): Promise<void>;
	logBytes(target: QueueTarget): Promise<LogBytes>;
	expire(target: QueueTarget): Promise<void>;
	holdSnapshot(target: QueueTarget): Promise<void>;
	endSnapshot(params: null): Promise<void>;
	openProducer(target: QueueTarget): Promise<void>;
	/** Enqueues jobs as fast as they are acknowledged. */
	enqueue(
		options: EnqueueOptions & {
			readonly queue: string;
			readonly first: number;
			readonly count: number;
			/** Jobs of a call. */
			readonly batch: number;
			/** Calls at the same time. */
			readonly parallel: number;
			/** The size of a body. */
			readonly bytes: number;
			readonly blockMs?: number;
		},
	): Promise<{ readonly ms: number }>;
	/** Enqueues one job a call at a rate, or slower if too many are not answered. */
	steady(options: {
		readonly queue: string;
		readonly first: number;
		readonly perSecond: number;
		readonly seconds: number;
		readonly bytes: number;
	}): Promise<{
		readonly calledAt: readonly number[];
		/** NaN: it failed. */
		readonly acknowledgedAt: readonly number[];
		readonly ms: number;
		readonly firstError: string | null;
	}>;
	closeProducer(params: null): Promise<void>;
	startWorker(target: QueueTarget): Promise<void>;
	/** Resolves when so many different jobs have been started. */
	untilRun(count: number): Promise<void>;
	stopWorker(params: null): Promise<void>;
	runs(options: { readonly times: boolean }): Promise<Runs>;
	forget(params: null): Promise<void>;
}

export interface Runs {
	readonly distinct: number;
	/** Starts beyond the first of each job. */
	readonly repeats: number;
	readonly firstAt: number;
	readonly lastAt: number;
	/** By number of the job; empty unless asked for. */
	readonly startedAt: readonly (number | null)[];
}

export interface AgentCall {
	readonly id: number;
	readonly method: keyof AgentMethods;
	readonly params: unknown;
}

export type AgentReply =
	| { readonly ready: true }
	| { readonly started: number; readonly at: number }
	| { readonly id: number; readonly result: unknown }
	| { readonly id: number; readonly error: string };

type Params<Method extends keyof AgentMethods> = Parameters<
	AgentMethods[Method]
>[0];
type Result<Method extends keyof AgentMethods> = Awaited<
	ReturnType<AgentMethods[Method]>
>;

/** A process that produces or runs jobs of one system. It ends with this one. */
export class AgentProcess implements AsyncDisposable {
	readonly #child: ChildProcess;
	readonly #calls = new Map<
		number,
		{ resolve(value: unknown): void; reject(error: Error): void }
	>();
	readonly #onStarted = new Set<(n: number, at: number) => void>();
	#lastId = 0;

	private constructor(child: ChildProcess, title: string) {
		this.#child = child;
		child.on("message", (reply: AgentReply) => {
			if ("started" in reply) {
				for (const on of this.#onStarted) on(reply.started, reply.at);
			}
			if (!("id" in reply)) return;
			const call = this.#calls.get(reply.id);
			this.#calls.delete(reply.id);
			if ("error" in reply) call?.reject(new Error(`${title}: ${reply.error}`));
			else call?.resolve(reply.result);
		});
		child.on("exit", (code, signal) => {
			const error = new Error(`${title} ended: ${signal ?? `code ${code}`}`);
			for (const { reject } of this.#calls.values()) reject(error);
			this.#calls.clear();
		});
	}

	/** `worker`: on the core of the server under test; `producer`: on the others. */
	static async start(
		system: SystemName,
		role: "worker" | "producer",
	): Promise<AgentProcess> {
		const { module, title } = infoOf(system);
		const child = fork(
			join(import.meta.dirname, "agent.ts"),
			[join(import.meta.dirname, module)],
			{
				serialization: "advanced",
				env: { ...process.env, NODE_ENV: "production" },
				stdio: ["ignore", "ignore", "inherit", "ipc"],
			},
		);
		const agent = new AgentProcess(child, `${title} (${role})`);
		const failed = once(child, "exit").then(([code]) => {
			throw new Error(`${title} did not start: code ${code}`);
		});
		failed.catch(() => {});
		await Promise.race([once(child, "message"), failed]);
		if (role === "producer") moveToOtherCores(agent.pid);
		else moveToServerCore(agent.pid);
		return agent;
	}

	get pid(): number {
		return this.#child.pid ?? 0;
	}

	/** That it has used. Milliseconds. */
	cpuMs(): number {
		return cpuMsOfAll(this.pid);
	}

	call<Method extends keyof AgentMethods>(
		method: Method,
		params: Params<Method>,
		signal?: AbortSignal,
	): Promise<Result<Method>> {
		const id = ++this.#lastId;
		return new Promise((resolve, reject) => {
			const stop = () => reject(signal?.reason);
			signal?.addEventListener("abort", stop, { once: true });
			if (signal?.aborted) stop();
			this.#calls.set(id, {
				resolve(value) {
					signal?.removeEventListener("abort", stop);
					resolve(value as Result<Method>);
				},
				reject,
			});
			this.#child.send({ id, method, params } satisfies AgentCall);
		});
	}

	/** Calls back with each start of a job that blocks. */
	onStarted(listener: (n: number, at: number) => void): void {
		this.#onStarted.add(listener);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
			return;
		}
		const exited = once(this.#child, "exit");
		this.#child.kill("SIGKILL");
		await exited;
	}
}
