import {
	type ChangedJobs,
	lookupJobs,
	type QueuedJob,
	type RemoveOptions,
	type RetryOptions,
	removeJobs,
	retryFailed,
} from "../admin/changeJobs.ts";
import {
	changeSettings,
	createQueue,
	deleteQueue,
	listQueues,
	type QueueList,
	type SettingsChange,
} from "../admin/queueAdmin.ts";
import {
	type Count,
	countJobs,
	queueStats,
	type StatsAnswer,
} from "../admin/queueStats.ts";
import { type JobFilter, type ScanPage, scanJobs } from "../admin/scanJobs.ts";
import type { Acked, CountedJobs, JobAdmin, JobStore } from "../jobStore.ts";
import type { LiveSettings } from "../liveSettings.ts";
import {
	type AckOnShard,
	type ClaimAnswer,
	type ClaimOptions,
	claimJobs,
} from "./claimJobs.ts";

/**
 * Everything that can be asked of queues: PinLater's calls. The commands
 * `corkboard queue …` are made of them. Producers use `Jobs`, and workers have
 * a loop of their own; `claim` is for programs that bring their own.
 */
export interface QueueCalls {
	createQueue(name: string, settings?: readonly string[]): Promise<boolean>;
	deleteQueue(
		name: string,
		options?: { readonly force?: boolean },
	): Promise<void>;
	changeSettings(
		name: string,
		settings: readonly string[],
		options?: { readonly dryRun?: boolean },
	): Promise<SettingsChange>;
	queues(): Promise<QueueList>;
	claim(queue: string, options?: ClaimOptions): Promise<ClaimAnswer>;
	/** Says of jobs that they succeeded, failed, are given back, or go on with another body. */
	ack(
		queue: string,
		acks: readonly AckOnShard[],
	): Promise<readonly (Acked | Error)[]>;
	lookup(
		ids: readonly string[],
		options?: { readonly body?: boolean },
	): Promise<readonly (QueuedJob | null)[]>;
	count(queue: string, of: CountedJobs): Promise<Count>;
	stats(queue: string): Promise<StatsAnswer>;
	scan(
		queue: string,
		filter: JobFilter,
		page: Parameters<typeof scanJobs>[3],
	): Promise<ScanPage>;
	retryFailed(queue: string, options?: RetryOptions): Promise<ChangedJobs>;
	remove(queue: string, options: RemoveOptions): Promise<ChangedJobs>;
}

export function createQueueCalls(
	store: JobStore & JobAdmin,
	settings: LiveSettings,
): QueueCalls {
	return {
		async createQueue(name, given) {
			const created = await createQueue(store, name, given);
			await settings.refresh();
			return created;
		},
		async deleteQueue(name, options) {
			await deleteQueue(store, name, options);
			await settings.refresh();
		},
		async changeSettings(name, given, options) {
			const change = await changeSettings(store, name, given, options);
			await settings.refresh();
			return change;
		},
		queues: () => listQueues(store),
		claim: (queue, options) => claimJobs(store, settings, queue, options),
		async ack(queue, acks) {
			const { acked } = await claimJobs(store, settings, queue, {
				acks,
				limit: 0,
			});
			return acked;
		},
		lookup: (ids, options) => lookupJobs(store, ids, options),
		count: (queue, of) => countJobs(store, queue, of),
		stats: (queue) => queueStats(store, queue),
		scan: (queue, filter, page) => scanJobs(store, queue, filter, page),
		retryFailed: (queue, options) => retryFailed(store, queue, options),
		remove: (queue, options) => removeJobs(store, queue, options),
	};
}
