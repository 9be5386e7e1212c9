export type DatabaseName = "mysql" | "postgres" | "redis";

export interface SystemInfo {
	readonly title: string;
	/** Below `bench/queue/`. */
	readonly module: string;
	readonly database: DatabaseName;
	readonly isBatched: boolean;
	/** Whether Corkboard's hints go over Redis. */
	readonly hints?: boolean;
	/** Redis: when the append-only file is flushed. */
	readonly fsync?: "everysec" | "always";
	readonly isPeer: boolean;
	/** How it is set up. */
	readonly settings: string;
}

export const SYSTEMS = {
	corkboard: {
		title: "Corkboard",
		module: "systems/corkboard.ts",
		database: "mysql",
		isBatched: true,
		hints: true,
		isPeer: false,
		settings:
			"4 queue shards, one worker with --concurrency 200, hints over Redis",
	},
	"corkboard-nohints": {
		title: "Corkboard, no hints",
		module: "systems/corkboard.ts",
		database: "mysql",
		isBatched: true,
		isPeer: false,
		settings: "the same without Redis",
	},
	graphile: {
		title: "graphile-worker, batched",
		module: "peers/graphile.ts",
		database: "postgres",
		isBatched: true,
		isPeer: true,
		settings:
			"concurrentJobs 24, localQueue.size 500, completeJobBatchDelay 0 (as its own benchmark)",
	},
	"graphile-single": {
		title: "graphile-worker",
		module: "peers/graphile.ts",
		database: "postgres",
		isBatched: false,
		isPeer: true,
		settings: "concurrentJobs 24, maxPoolSize 26",
	},
	pgboss: {
		title: "pg-boss, batched",
		module: "peers/pgboss.ts",
		database: "postgres",
		isBatched: true,
		isPeer: true,
		settings: "batchSize 500, burstWhenBatchFull, notify",
	},
	"pgboss-single": {
		title: "pg-boss",
		module: "peers/pgboss.ts",
		database: "postgres",
		isBatched: false,
		isPeer: true,
		settings:
			"batchSize 1, localConcurrency 24, burstWhenReadyExceeds 1, notify",
	},
	bullmq: {
		title: "BullMQ, AOF everysec",
		module: "peers/bullmq.ts",
		database: "redis",
		isBatched: true,
		fsync: "everysec",
		isPeer: true,
		settings: "concurrency 200, addBulk",
	},
	"bullmq-always": {
		title: "BullMQ, AOF always",
		module: "peers/bullmq.ts",
		database: "redis",
		isBatched: true,
		fsync: "always",
		isPeer: true,
		settings: "concurrency 200, addBulk",
	},
	"pinlater-2015": {
		title: "PinLater's layout of 2015",
		module: "systems/pinlater2015.ts",
		database: "mysql",
		isBatched: false,
		isPeer: false,
		settings:
			"4 shards; UPDATE … LIMIT with a claim text; a statement for each enqueue and ack",
	},
	"seed-2020": {
		title: "the layout of 2020",
		module: "systems/seed2020.ts",
		database: "mysql",
		isBatched: true,
		isPeer: false,
		settings:
			"4 shards, partitions by (state, updated_at); SKIP LOCKED, batched acks as ours",
	},
} as const satisfies Readonly<Record<string, SystemInfo>>;

export type SystemName = keyof typeof SYSTEMS;
export const SYSTEM_NAMES = Object.keys(SYSTEMS) as readonly SystemName[];

export function infoOf(name: SystemName): SystemInfo {
	return SYSTEMS[name];
}
