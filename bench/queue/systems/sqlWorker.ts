import { setTimeout as sleep } from "node:timers/promises";

/** Pause after a turn that found nothing, doubled after each further one, as Corkboard's without hints. Milliseconds. */
const FIRST_IDLE_MS = 50;
const MOST_IDLE_MS = 1_000;

/**
 * Loops that claim, run and acknowledge until they are disposed of. `turn` runs
 * what it finds, and returns how many jobs that were.
 */
export function startLoops(
	count: number,
	turn: (loop: number) => Promise<number>,
): AsyncDisposable {
	const stop = new AbortController();
	const loop = async (index: number) => {
		let idleMs = FIRST_IDLE_MS;
		while (!stop.signal.aborted) {
			if ((await turn(index)) > 0) {
				idleMs = FIRST_IDLE_MS;
				continue;
			}
			await sleep(idleMs, undefined, { signal: stop.signal }).catch(() => {});
			idleMs = Math.min(MOST_IDLE_MS, idleMs * 2);
		}
	};
	const loops = Array.from({ length: count }, (_, index) => loop(index));
	// Seen when it is disposed of.
	for (const one of loops) one.catch(() => {});
	return {
		async [Symbol.asyncDispose]() {
			stop.abort();
			await Promise.all(loops);
		},
	};
}

/** Numbers of a length, in an order of chance. */
export function shuffled(length: number): readonly number[] {
	const left = Array.from({ length }, (_, index) => index);
	return Array.from(
		{ length },
		() => left.splice(Math.floor(Math.random() * left.length), 1)[0] as number,
	);
}
