import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";

/** Calls a body again while a server is away, if that is no harm. */
export type Patiently = <T>(body: () => Promise<T>) => Promise<T>;

const RETRY_MS = 250;

/** For so long from the first failure on. Milliseconds. */
export function patientFor(ms: number, signal: AbortSignal): Patiently {
	return async (body) => {
		let until: number | null = null;
		for (;;) {
			signal.throwIfAborted();
			try {
				return await body();
			} catch (thrown) {
				const isAway =
					thrown instanceof CorkboardError && thrown.code === "UNAVAILABLE";
				until ??= performance.now() + ms;
				if (!isAway || performance.now() > until) throw thrown;
				await sleep(RETRY_MS, undefined, { signal });
			}
		}
	};
}
