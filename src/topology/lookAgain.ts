import { setTimeout as sleep } from "node:timers/promises";

/** Looks at what a store has, again and again with a pause between, until it is disposed of. If the store does not answer, the next look may. */
export function lookAgain(
	pauseMs: number,
	look: () => Promise<void>,
): AsyncDisposable {
	const stop = new AbortController();
	const { signal } = stop;
	const looking = (async () => {
		while (!signal.aborted) {
			try {
				await look();
			} catch {
				// What cannot be read has no metrics.
			}
			await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
		}
	})();
	return {
		async [Symbol.asyncDispose]() {
			stop.abort();
			await looking;
		},
	};
}
