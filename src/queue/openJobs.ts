import type { RedisByName } from "../cache/redis/redisServers.ts";
import type { HostWriteGuard } from "../storage/mysql/driver/commitProtocol.ts";
import { dataFoldersOf, queuesOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import { QueueLevels } from "./admin/queueLevels.ts";
import { type ClaimedBatch, claimBatches } from "./claim/claimBatches.ts";
import { Jobs } from "./enqueue/jobs.ts";
import { QueueBounds } from "./enqueue/queueBounds.ts";
import { type JobHints, LocalHints } from "./hints.ts";
import { type JobAdmin, type JobStore, PRIORITIES } from "./jobStore.ts";
import { LiveSettings } from "./liveSettings.ts";
import type { JobStoreSource, OpenedJobStore } from "./openedJobStore.ts";
import { openJobStoreOf } from "./openJobStore.ts";
import { openRedisHints } from "./redisHints.ts";

/** The queues of a process. */
export interface OpenedJobs {
	readonly store: OpenedJobStore;
	readonly settings: LiveSettings;
	readonly hints: JobHints;
	readonly jobs: Jobs;
	readonly source: JobStoreSource;
	/**
	 * Claims jobs of a queue, for programs that bring their own loop: batches of at
	 * most `limit` (50), until the signal aborts.
	 */
	claims(
		queue: string,
		options?: Parameters<typeof claimBatches>[2],
	): AsyncGenerator<ClaimedBatch, void>;
	/** Switches to the queues of a newer topology. */
	switchTopology(topology: Topology): void;
	/** The oldest version on which a call still runs. */
	readonly oldestVersion: number;
	/** Calls back when it has. The function returned ends that. */
	onSwitch(listener: (source: JobStoreSource) => void): () => void;
	readonly levels: QueueLevels;
}

/** Opens the queues of a topology; null if it has none. `resources` closes them. */
export async function openJobs(
	options: {
		readonly topology: Topology;
		readonly redis: RedisByName | null;
		/** The queues that the program has kinds of jobs for: an embedded folder gets them. */
		readonly queues: readonly string[];
		/** Called when `oldestVersion` may have risen. */
		readonly onRetired?: () => void;
		/** Asked before each write to a host (default: none). */
		readonly writeGuard?: HostWriteGuard | null;
	},
	resources: AsyncDisposableStack,
): Promise<OpenedJobs | null> {
	const { topology, redis } = options;
	const queues = queuesOf(topology);
	if (queues.length === 0) return null;
	let source: JobStoreSource = { queues, version: topology.version };
	const { writeGuard = null, onRetired } = options;
	const store = resources.use(
		openJobStoreOf(source, { writeGuard, onRetired }),
	);
	// This process owns the folder.
	if (dataFoldersOf(topology).size > 0) {
		await store.createTables();
		await createQueues(store, options.queues);
		await store.endFormerClaims();
	}
	const settings = resources.use(await LiveSettings.open(store));
	const hints = openHints(redis, resources);
	const jobs = new Jobs(store, hints, new QueueBounds(store, settings));
	const levels = resources.use(new QueueLevels(store, settings));
	const listeners = new Set<(source: JobStoreSource) => void>();
	return {
		store,
		settings,
		hints,
		jobs,
		levels,
		get source() {
			return source;
		},
		claims: (queue, options) =>
			claimBatches({ store, settings, hints }, queue, options),
		switchTopology({ queues: next = [], version }) {
			const former = source;
			source = { queues: next, version };
			store.switchTo(source);
			if (JSON.stringify(next) === JSON.stringify(former.queues)) return;
			for (const listener of listeners) listener(source);
		},
		get oldestVersion() {
			return store.oldestVersion;
		},
		onSwitch(listener) {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
	};
}

/** Creates these queues on the shards that lack them. */
export async function createQueues(
	store: JobStore & JobAdmin,
	queues: readonly string[],
): Promise<void> {
	for (const shard of store.shards) {
		const rows = await store.queues(shard);
		const names = new Set(rows.map(({ name }) => name));
		for (const queue of queues) {
			if (names.has(queue)) continue;
			await store.put(shard, { name: queue, settings: {}, version: 0 });
		}
	}
}

/** Hints of this process, and over Redis those of others. */
function openHints(
	redis: RedisByName | null,
	resources: AsyncDisposableStack,
): JobHints {
	const local = new LocalHints();
	if (redis === null) return local;
	const remote = resources.use(
		openRedisHints({
			redis,
			onHint(hint) {
				const [queue = "", shard = "", priority] = hint.split(".");
				const known = PRIORITIES.find((one) => String(one) === priority);
				local.publish(queue, Number(shard), known);
			},
		}),
	);
	return {
		publish(queue, shard, priority) {
			local.publish(queue, shard, priority);
			remote.publish(
				queue,
				`${queue}.${shard}${priority === undefined ? "" : `.${priority}`}`,
			);
		},
		subscribe(onHint, queues) {
			const ends = [local.subscribe(onHint), remote.listen(queues)];
			return () => {
				for (const end of ends) end();
			};
		},
		get isConnected() {
			return remote.isConnected;
		},
		leads: (queues, lease) => remote.leads(queues, lease),
	};
}
