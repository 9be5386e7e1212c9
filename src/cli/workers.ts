import cluster from "node:cluster";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../errors.ts";
import type { CommandContext } from "./commandContext.ts";

export interface WorkerLimits {
	/** A worker that served for this long before it ended is replaced at once. Milliseconds. */
	readonly stableMs: number;
	/** Most early ends in a row: then `serve` ends too. */
	readonly maxFailures: number;
	/** Before the first replacement; doubled after each further failure. Milliseconds. */
	readonly restartDelayMs: number;
	/** From SIGTERM to SIGKILL. Longer than a worker needs to drain, with jobs that it runs. Milliseconds. */
	readonly stopMs: number;
}

const LIMITS: WorkerLimits = {
	stableMs: 60_000,
	maxFailures: 5,
	restartDelayMs: 500,
	stopMs: 35_000,
};

/** A process that serves. */
export interface WorkerProcess {
	readonly pid: number | undefined;
	/** Resolves when the worker accepts connections; never, if it ends before. */
	readonly listening: Promise<unknown>;
	readonly exited: Promise<WorkerExit>;
	kill(signal: "SIGTERM" | "SIGKILL"): void;
}

export interface WorkerExit {
	readonly code: number | null;
	readonly signal: string | null;
}

/** Whether `runWorkers` started this process. */
export function isWorker(): boolean {
	return cluster.isWorker;
}

/**
 * Serves with several processes on one port until interrupted. A worker that
 * ends is replaced, after a delay that grows if it ends again and again. Throws
 * UNAVAILABLE if a first worker ends before it serves, or if one ends
 * `maxFailures` times in a row. All workers have ended when this returns: those
 * that do not end within `stopMs` after SIGTERM are killed.
 */
export async function runWorkers(
	count: number,
	context: CommandContext,
	{
		fork = forkWorker,
		limits: given = {},
		onEnd = (worker, { code, signal }) =>
			context.stderr(
				`worker ${worker} ended (${signal ?? `exit code ${code}`})`,
			),
	}: {
		readonly fork?: () => WorkerProcess;
		readonly limits?: Partial<WorkerLimits>;
		/** Reports a worker that ended by itself. By default to stderr. */
		readonly onEnd?: (worker: number, exit: WorkerExit) => void;
	} = {},
): Promise<number> {
	const limits = { ...LIMITS, ...given };
	const interruption = context.interruptSignal();
	const stopping = new AbortController();
	const running = new Set<WorkerProcess>();
	let hasServed = false;

	/** Keeps one worker running until `stopping`. */
	async function keepOne(): Promise<void> {
		let failures = 0;
		while (!stopping.signal.aborted) {
			const worker = fork();
			running.add(worker);
			let servingSince: number | null = null;
			worker.listening.then(
				() => {
					servingSince = performance.now();
					hasServed = true;
				},
				// It then exits, which is handled below.
				() => {},
			);
			const exit = await worker.exited;
			running.delete(worker);
			if (stopping.signal.aborted) return;
			onEnd(worker.pid ?? 0, exit);
			if (!hasServed && exit.signal === null) throw cannotStart(exit);
			const servedMs =
				servingSince === null ? 0 : performance.now() - servingSince;
			failures = servedMs >= limits.stableMs ? 0 : failures + 1;
			if (failures >= limits.maxFailures) throw keepsEnding(failures);
			const delay = limits.restartDelayMs * 2 ** Math.max(0, failures - 1);
			await sleep(delay, undefined, { signal: stopping.signal }).catch(
				() => {},
			);
		}
	}

	const slots = Array.from({ length: count }, keepOne);
	try {
		await Promise.race([
			...slots,
			interruption.aborted ? undefined : once(interruption, "abort"),
		]);
	} finally {
		stopping.abort();
		for (const worker of running) worker.kill("SIGTERM");
		const kill = setTimeout(() => {
			for (const worker of running) worker.kill("SIGKILL");
		}, limits.stopMs);
		await Promise.allSettled(slots);
		clearTimeout(kill);
	}
	return 0;
}

function forkWorker(): WorkerProcess {
	const worker = cluster.fork();
	return {
		pid: worker.process.pid,
		listening: once(worker, "listening"),
		exited: new Promise((resolve) => {
			worker.once("exit", (code, signal) => resolve({ code, signal }));
		}),
		kill: (signal) => void worker.process.kill(signal),
	};
}

function cannotStart({ code }: WorkerExit): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		`A worker could not start: it ended with exit code ${code} before it served. Its messages are above.`,
	);
}

function keepsEnding(failures: number): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		`A worker ended ${failures} times in a row. Its messages are above.`,
	);
}
