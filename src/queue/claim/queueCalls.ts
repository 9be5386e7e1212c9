import { lookupJobs, removeJobs, retryFailed } from "../admin/changeJobs.ts";
import {
	changeSettings,
	createQueue,
	deleteQueue,
	listQueues,
} from "../admin/queueAdmin.ts";
import { countJobs, queueStats } from "../admin/queueStats.ts";
import { scanJobs } from "../admin/scanJobs.ts";
import type { JobAdmin, JobStore } from "../jobStore.ts";
import type { LiveSettings } from "../liveSettings.ts";
import { type AckOnShard, type ClaimOptions, claimJobs } from "./claimJobs.ts";
import { DueProbe } from "./dueProbe.ts";

type Store = JobStore & JobAdmin;

/**
 * Everything that can be asked of queues: PinLater's calls. The commands
 * `corkboard queues …` and `corkboard jobs …` call the same functions. Producers
 * use `Jobs`, and workers have a loop of their own; `claim` is for programs that
 * bring their own.
 */
export function createQueueCalls(store: Store, settings: LiveSettings) {
	const asking =
		<Given extends readonly unknown[], T>(
			call: (store: Store, ...given: Given) => Promise<T>,
		) =>
		(...given: Given) =>
			call(store, ...given);
	const changing =
		<Given extends readonly unknown[], T>(
			call: (store: Store, ...given: Given) => Promise<T>,
		) =>
		async (...given: Given) => {
			const changed = await call(store, ...given);
			await settings.refresh();
			return changed;
		};
	const probe = new DueProbe(store);
	const claim = (queue: string, options?: ClaimOptions) =>
		claimJobs(store, settings, queue, options, probe);
	return {
		createQueue: changing(createQueue),
		deleteQueue: changing(deleteQueue),
		changeSettings: changing(changeSettings),
		queues: asking(listQueues),
		claim,
		/** Says of jobs that they succeeded, failed, are given back, or continue with another body. */
		ack: async (queue: string, acks: readonly AckOnShard[]) =>
			(await claim(queue, { acks, limit: 0 })).acked,
		lookup: asking(lookupJobs),
		count: asking(countJobs),
		stats: asking(queueStats),
		scan: asking(scanJobs),
		retryFailed: asking(retryFailed),
		remove: asking(removeJobs),
	};
}
