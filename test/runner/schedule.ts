import { cpus } from "node:os";

/** How many jobs run at once, and when that number changes. */
export interface Slots {
	/** So many always run. */
	readonly least: number;
	/** No more than this run, however idle the cores are. */
	readonly most: number;
	/** How many cores were idle since the last call. */
	idleCores(): number;
	/** Resolves when it is time to look at the idle cores again. */
	nextLook(signal: AbortSignal): Promise<unknown>;
}

/** The idle part of a core for which one more job runs. */
const ENOUGH = 0.1;
/** If less than this part of a core is idle, the next job that ends is not replaced. */
const TOO_LITTLE = 0.02;

/**
 * Runs jobs in their order. Many test files mostly wait: for a deadline, a
 * server's start or another process. So the number of jobs that run at once grows
 * while cores are idle, and shrinks to the least while they are not.
 */
export async function runInSlots<Job>(
	jobs: readonly Job[],
	{ least, most, idleCores, nextLook }: Slots,
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
	const look = () => nextLook(stopLooking.signal).then(() => "look" as const);
	let looking = look();
	let slots = least;
	try {
		while (!signal.aborted) {
			while (running.size < slots && start());
			if (running.size === 0) break;
			const woken = await Promise.race([looking, ...running]);
			if (woken !== "look" || signal.aborted) continue;
			looking = look();
			const idle = idleCores();
			if (idle < TOO_LITTLE) slots = Math.max(least, slots - 1);
			else if (idle > ENOUGH && slots < most) slots++;
		}
	} finally {
		looking.catch(() => {});
		stopLooking.abort();
	}
	await Promise.all(running);
}

/** Measures how many cores were idle since the last call, no matter which programs used the others. */
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
