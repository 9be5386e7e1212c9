import { CorkboardError } from "../errors.ts";
import type { JobStore } from "./jobStore.ts";
import type { LiveSettings } from "./liveSettings.ts";
import { rotateIfDue } from "./rotation.ts";
import type { RotationStore } from "./rotationStore.ts";

/**
 * The rounds of all queues that are due and that no other process has taken:
 * shards beside each other, the queues of a shard one after the other. What fails
 * is reported by its round, and done again by the next one.
 */
export async function rotateQueues(
	store: JobStore & RotationStore,
	settings: LiveSettings,
	signal: AbortSignal,
): Promise<void> {
	await Promise.all(
		store.shards.map(async (shard) => {
			for (const queue of settings.queues) {
				const own = settings.of(queue);
				if (own === null) continue;
				if (signal.aborted) return;
				try {
					await rotateIfDue(store, { queue, shard }, own);
				} catch (error) {
					if (!(error instanceof CorkboardError)) throw error;
				}
			}
		}),
	);
}
