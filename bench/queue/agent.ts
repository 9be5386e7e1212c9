/**
 * A process of the benchmark: it produces jobs of one system, or runs them.
 * `agentProcess.ts` starts it and calls its methods.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../src/util/monotonic.ts";
import type { AgentCall, AgentMethods, AgentReply } from "./agentProcess.ts";
import type { BenchJob, Producer, QueueSystem } from "./queueSystem.ts";

const [, , modulePath = ""] = process.argv;
const { default: system } = (await import(modulePath)) as {
	readonly default: QueueSystem;
};

/** Enqueues without an answer: a system that is slower than the rate gets no more. */
const MOST_PENDING = 200;

let producer: Producer | null = null;
let worker: AsyncDisposable | null = null;
let snapshot: AsyncDisposable | null = null;
/** By number of the job: when it was first started, and how often. */
let startedAt: number[] = [];
let starts: number[] = [];
let distinct = 0;
let awaited: { readonly count: number; readonly resolve: () => void } | null =
	null;

function handle({ n, blockMs = 0 }: BenchJob): void {
	starts[n] = (starts[n] ?? 0) + 1;
	if (starts[n] === 1) {
		startedAt[n] = monotonicMs();
		distinct++;
		if (distinct === awaited?.count) awaited.resolve();
	}
	if (blockMs === 0) return;
	process.send?.({ started: n, at: monotonicMs() } satisfies AgentReply);
	// As a handler that computes; without taking a core from what is measured.
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
}

const methods: AgentMethods = {
	prepare: (target) => system.prepare(target),
	logBytes: (target) => system.logBytes(target),
	async expire(target) {
		if (system.expire === undefined) throw new Error("It keeps all jobs.");
		await system.expire(target);
	},
	async holdSnapshot(target) {
		snapshot = (await system.holdSnapshot?.(target)) ?? null;
	},
	async endSnapshot() {
		await snapshot?.[Symbol.asyncDispose]();
		snapshot = null;
	},
	fill: ({ target, count, ...options }) => system.fill(target, count, options),

	async openProducer(target) {
		producer = await system.openProducer(target);
	},
	async enqueue({ queue, first, count, batch, parallel, bytes, ...more }) {
		const { blockMs, ...options } = more;
		const open = opened();
		const began = monotonicMs();
		let next = 0;
		const one = async () => {
			while (next < count) {
				const from = next;
				next = Math.min(count, from + batch);
				await open.enqueue(
					queue,
					Array.from({ length: next - from }, (_, index) =>
						jobOf(first + from + index, bytes, blockMs),
					),
					options,
				);
			}
		};
		await Promise.all(Array.from({ length: parallel }, one));
		return { ms: monotonicMs() - began };
	},
	async steady({ queue, first, perSecond, seconds, bytes }) {
		const open = opened();
		const began = monotonicMs();
		const count = Math.round(perSecond * seconds);
		const acknowledgedAt: number[] = [];
		let firstError: string | null = null;
		const calledAt: number[] = [];
		const pending = new Set<Promise<void>>();
		for (let sent = 0; sent < count; ) {
			const due = Math.min(
				count,
				Math.floor(((monotonicMs() - began) * perSecond) / 1_000) + 1,
			);
			for (; sent < due && pending.size < MOST_PENDING; sent++) {
				const at = sent;
				calledAt[at] = monotonicMs();
				const call = open
					.enqueue(queue, [jobOf(first + at, bytes)])
					.then(
						() => {
							acknowledgedAt[at] = monotonicMs();
						},
						(error) => {
							acknowledgedAt[at] = Number.NaN;
							firstError ??= String(error);
						},
					)
					.finally(() => pending.delete(call));
				pending.add(call);
			}
			await sleep(1);
		}
		await Promise.all(pending);
		const ms = monotonicMs() - began;
		return { calledAt, acknowledgedAt, ms, firstError };
	},
	async closeProducer() {
		await producer?.[Symbol.asyncDispose]();
		producer = null;
	},

	async startWorker(target) {
		worker = await system.startWorker(target, handle);
	},
	async untilRun(count) {
		if (distinct < count) {
			await new Promise<void>((resolve) => {
				awaited = { count, resolve };
			});
		}
	},
	async stopWorker() {
		await worker?.[Symbol.asyncDispose]();
		worker = null;
	},
	async runs({ times }) {
		const some = startedAt.filter((at) => at !== undefined);
		return {
			distinct,
			repeats: starts.reduce(
				(sum, count = 0) => sum + Math.max(0, count - 1),
				0,
			),
			firstAt: some.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
			lastAt: some.reduce((a, b) => Math.max(a, b), 0),
			startedAt: times ? startedAt : [],
		};
	},
	async forget() {
		startedAt = [];
		starts = [];
		distinct = 0;
		awaited = null;
	},
};

/** Text that no database makes shorter. */
const CHANCE = randomBytes(24_000).toString("base64");

function opened(): Producer {
	if (producer === null) throw new Error("No producer is open.");
	return producer;
}

function jobOf(n: number, bytes: number, blockMs?: number): BenchJob {
	// About: the number and the names take some.
	const pad = CHANCE.slice(0, Math.max(0, bytes - 20));
	return { n, pad, ...(blockMs !== undefined && { blockMs }) };
}

process.on("message", async ({ id, method, params }: AgentCall) => {
	try {
		const call = methods[method] as (params: unknown) => Promise<unknown>;
		const result = await call(params);
		process.send?.({ id, result } satisfies AgentReply);
	} catch (error) {
		const text =
			error instanceof Error ? (error.stack ?? error.message) : error;
		process.send?.({ id, error: String(text) } satisfies AgentReply);
	}
});
process.on("disconnect", () => process.exit(0));
process.send?.({ ready: true } satisfies AgentReply);
