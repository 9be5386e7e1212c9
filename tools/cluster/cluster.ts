import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Topology } from "../../src/topology/types.ts";
import { startMemcached } from "../../test/services/memcached.ts";
import { type Pair, startMysqlPair } from "../../test/services/mysql.ts";
import { startRedis } from "../../test/services/redis.ts";
import type { Server } from "../../test/services/server.ts";

/** As many as some dozen processes may open to each server, which `hosts check` adds up: `serve --workers` on a large machine. */
const MYSQL_ARGS = [
	"--max-connections=2000",
	// Room for the tables of 32 shards: docs/how-to/install.md#settings-of-mysql.
	"--table-open-cache-instances=4",
	"--table-open-cache=5000",
	"--table-definition-cache=2000",
	"--innodb-open-files=2000",
];

/** A fleet in small: two MySQL pairs that hold half of the shards each, a memcached, a Redis. */
export interface Cluster extends AsyncDisposable {
	readonly pairs: readonly [Pair, Pair];
	readonly memcached: Server;
	readonly redis: Server;
	readonly topology: Topology;
	/** The topology, written down. */
	readonly topologyFile: string;
	/** The settings that make a `corkboard` use all this; a secret is not among them. */
	readonly settings: Readonly<Record<string, string>>;
}

/** Its tables are not made yet: that is `corkboard init`. */
export async function startCluster({
	shards = 16,
}: {
	/** An even number of them. */
	readonly shards?: number;
} = {}): Promise<Cluster> {
	await using stack = new AsyncDisposableStack();
	const own = async <T extends AsyncDisposable>(starting: Promise<T>) =>
		stack.use(await starting);
	const starting = [
		own(startMysqlPair({ args: MYSQL_ARGS })),
		own(startMysqlPair({ args: MYSQL_ARGS })),
		own(startMemcached()),
		// The topology is in its folder.
		own(startRedis({ folderName: "corkboard-cluster" })),
	] as const;
	// Waited for even if one fails, so that the others are stopped.
	await Promise.allSettled(starting);
	const [first, second, memcached, redis] = await Promise.all(starting);

	const topology = topologyOf([first, second], shards);
	// A folder that goes with this process, however that ends.
	const topologyFile = join(redis.folder, "topology.json");
	await writeFile(topologyFile, `${JSON.stringify(topology, null, "\t")}\n`, {
		mode: 0o600,
	});
	const owned = stack.move();
	return {
		pairs: [first, second],
		memcached,
		redis,
		topology,
		topologyFile,
		settings: {
			CORKBOARD_TOPOLOGY: topologyFile,
			CORKBOARD_MEMCACHED: memcached.address,
			CORKBOARD_REDIS: redis.url,
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

function topologyOf(pairs: readonly Pair[], shards: number): Topology {
	const each = shards / pairs.length;
	const ranges = pairs.map(({ primary, replica }, n) => ({
		range: [n * each, (n + 1) * each - 1] as const,
		primary: primary.url,
		replica: replica.url,
	}));
	return {
		version: 1,
		shards: ranges.map((range) => ({ ...range, open: true })),
		lookups: ranges,
	};
}
