import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ITEM_QUEUE, USER_QUEUE } from "../../src/feed/jobBodies.ts";
import type { Pools } from "../../src/feed/pools/pools.ts";
import type { OpenedJobs } from "../../src/queue/openJobs.ts";
import { startMemcached } from "../../test/services/memcached.ts";
import { startMysql } from "../../test/services/mysql.ts";
import { startRedis } from "../../test/services/redis.ts";
import type { Server } from "../../test/services/server.ts";
import { generateGraph } from "../graph/generate.ts";
import { writeImportFile } from "../graph/writeGraph.ts";
import type { Progress } from "../progress.ts";
import {
	environmentOf,
	importPatiently,
	readIds,
} from "../servers/corkboard.ts";
import { type FeedGraph, readFeedGraph } from "./graph.ts";
import type { Options } from "./options.ts";

const LAUNCH = join(import.meta.dirname, "../../src/cli/launch.mjs");
const GRAPH_SHARDS = 16;
const QUEUE_SHARDS = 4;
export const POOL_SHARDS = 16;
const SEED = 7;

/** All data fits. Commits are on disk within a second. */
export const MYSQL_OPTIONS: readonly string[] = [
	"--innodb-buffer-pool-size=1G",
	"--innodb-redo-log-capacity=1G",
	"--max-connections=1000",
];

/** A fleet with a graph: one MySQL with shards, queues, pools and feeds, a memcached and a Redis. */
export interface FeedFleet extends AsyncDisposable {
	readonly mysql: Server;
	readonly graph: FeedGraph;
	readonly env: Readonly<Record<string, string>>;
}

export async function startFeedFleet(
	options: Pick<Options, "graph" | "scale">,
	progress: Progress,
): Promise<FeedFleet> {
	await using stack = new AsyncDisposableStack();
	const folder = await mkdtemp(join(tmpdir(), "corkboard-bench-feed-"));
	stack.defer(() => rm(folder, { recursive: true, force: true }));
	const mysql = stack.use(await startMysql({ args: MYSQL_OPTIONS }));
	const memcached = stack.use(
		await startMemcached({ args: ["--memory-limit=512"] }),
	);
	const redis = stack.use(await startRedis());
	const topologyFile = join(folder, "topology.json");
	const range = (count: number) => ({
		range: [0, count - 1],
		primary: mysql.url,
	});
	await writeFile(
		topologyFile,
		JSON.stringify({
			version: 1,
			shards: [{ ...range(GRAPH_SHARDS), open: true }],
			lookups: [range(GRAPH_SHARDS)],
			queues: [range(QUEUE_SHARDS)],
			pools: [range(POOL_SHARDS)],
		}),
		{ mode: 0o600 },
	);
	const files = {
		databases: {
			fleet: { mysql, hosts: [mysql], memcached, redis, topologyFile },
		},
		dataFolder: folder,
		documents: folder,
	};
	const env = {
		PATH: process.env.PATH ?? "",
		...environmentOf("executed", files),
	};
	await promisify(execFile)(process.execPath, [LAUNCH, "init"], { env });
	let file = options.graph;
	if (file === null) {
		file = join(folder, "graph.ndjson");
		await writeImportFile(generateGraph(options.scale, SEED), file);
	}
	const never = new AbortController().signal;
	const seconds = await importPatiently("executed", file, files, never);
	const graph = await readFeedGraph(file, await readIds("executed", files));
	progress.say(
		`imported ${graph.users.length} users, ${graph.owners.length} pins and ${graph.follows} follows in ${seconds.toFixed(0)} s`,
	);
	const owned = stack.move();
	return {
		mysql,
		graph,
		env,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** Lets all users be active, who looked a minute ago. */
export async function visitAll(
	pools: Pools,
	users: FeedGraph["users"],
): Promise<void> {
	const at = Date.now() - 60_000;
	const visit = { visitedAt: at, generatedAt: at, asked: 25, rebuiltAt: at };
	for (let from = 0; from < users.length; from += 200) {
		const some = users.slice(from, from + 200);
		await Promise.all(some.map((user) => pools.noteVisit(user, visit)));
	}
}

/** Jobs of feeds that run or are due, at most `cap` of each queue, shard and state. */
export async function countDue(
	{ store }: Pick<OpenedJobs, "store">,
	cap: number,
): Promise<number> {
	const due = { state: "pending", until: (Date.now() + 1) * 1_000 } as const;
	const counts = await Promise.all(
		store.shards.flatMap((shard) =>
			[ITEM_QUEUE, USER_QUEUE].flatMap((queue) =>
				[due, { state: "running" } as const].map((of) =>
					store.count({ queue, shard }, of, cap),
				),
			),
		),
	);
	return counts.reduce((sum, count) => sum + count, 0);
}
