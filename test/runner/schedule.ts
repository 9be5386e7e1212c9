import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** How many jobs run at once, and when one more is started. */
export interface Slots {
	/** So many always run. */
	readonly least: number;
	/** No more than this run, however idle the cores are. */
	readonly most: number;
	/** How many cores were idle since the last call. */
	idleCores(): number;
	/** Time between two looks at the idle cores. Milliseconds. */
	readonly stepMs: number;
}

/** The idle part of a core for which one more job is started. */
const NEEDED = 0.3;
/** A job that was added shows its use of the cores after so many looks. */
const SETTLING = 2;

/**
 * Runs jobs in their order. Many test files mostly wait: for a deadline, a
 * server's start or another process. While cores are idle, more than the least
 * number run; on a machine that is busy with something else, no more.
 */
export async function runInSlots<Job>(
	jobs: readonly Job[],
	{ least, most, idleCores, stepMs }: Slots,
	run: (job: Job) => Promise<void>,
	signal: AbortSignal,
): Promise<void> {
	const waiting = jobs.values();
	const running = new Set<Promise<void>>();
	const start = () => {
		const { done, value } = waiting.next();
		if (done) return false;
		const ending = run(value).finally(() => running.delete(ending));
		running.add(ending);
		return true;
	};
	const stopLooking = new AbortController();
	const nextLook = () =>
		sleep(stepMs, "look", { signal: stopLooking.signal, ref: false });
	let look = nextLook();
	let settling = SETTLING;
	try {
		while (!signal.aborted) {
			while (running.size < least && start());
			if (running.size === 0) break;
			const woken = await Promise.race([look, ...running]);
			if (woken !== "look" || signal.aborted) continue;
			look = nextLook();
			const idle = idleCores();
			if (settling-- > 0 || running.size >= most || idle < NEEDED) continue;
			if (start()) settling = SETTLING;
		}
	} finally {
		look.catch(() => {});
		stopLooking.abort();
	}
	await Promise.all(running);
}

/** Measures how many cores were idle since the last call, whoever used the others. */
export function idleCoresOf(): () => number {
	const timesNow = () =>
		cpus().map(({ times }) => ({
			idle: times.idle,
			all: Object.values(times).reduce((sum, time) => sum + time, 0),
		}));
	let before = timesNow();
	return () => {
		const now = timesNow();
		let idle = 0;
		for (const [n, core] of now.entries()) {
			const was = before[n] ?? core;
			if (core.all > was.all) {
				idle += (core.idle - was.idle) / (core.all - was.all);
			}
		}
		before = now;
		return idle;
	};
}
