import { isMainThread, Worker, workerData } from "node:worker_threads";

/** A slowed server runs for so long in each period. A stop is far shorter than what a client takes for silence. */
const PERIOD_MS = 50;
const RUNS_MS = 1;

interface Slowed {
	readonly pids: readonly number[];
	/** Not 0: they run freely again. */
	readonly isOver: Int32Array;
}

/**
 * Gives servers a fiftieth of their time, until disposed: what they are asked
 * queues, so that a bench on a small machine can ask for more than they carry. A
 * thread of its own does it, since that of the load is busy.
 */
export function slowDown(pids: readonly number[]): Disposable {
	const isOver = new Int32Array(new SharedArrayBuffer(4));
	const slowed: Slowed = { pids, isOver };
	const worker = new Worker(new URL(import.meta.url), { workerData: slowed });
	worker.unref();
	return {
		[Symbol.dispose]() {
			Atomics.store(isOver, 0, 1);
			Atomics.notify(isOver, 0);
		},
	};
}

function stopAndGo({ pids, isOver }: Slowed): void {
	const signal = (name: "SIGSTOP" | "SIGCONT") => {
		for (const pid of pids) process.kill(pid, name);
	};
	const isRunning = (ms: number) =>
		Atomics.wait(isOver, 0, 0, ms) === "timed-out";
	try {
		while (isRunning(RUNS_MS)) {
			signal("SIGSTOP");
			if (!isRunning(PERIOD_MS - RUNS_MS)) return;
			signal("SIGCONT");
		}
	} finally {
		signal("SIGCONT");
	}
}

if (!isMainThread) stopAndGo(workerData);
