import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../../../util/reasonOf.ts";
import type { SinkOptions } from "./changeSink.ts";

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Tries until it succeeds or the signal aborts, ever less often: what comes after must not overtake it. */
export async function repeated(
	sink: string,
	{ signal, onFailure }: SinkOptions,
	attempt: () => Promise<void>,
	firstMs = FIRST_MS,
): Promise<void> {
	for (let pauseMs = firstMs; ; pauseMs = Math.min(2 * pauseMs, LONGEST_MS)) {
		signal.throwIfAborted();
		try {
			await attempt();
			return;
		} catch (thrown) {
			signal.throwIfAborted();
			onFailure(sink, reasonOf(thrown));
			await sleep(pauseMs, undefined, { signal });
		}
	}
}
