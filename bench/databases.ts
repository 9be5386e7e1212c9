import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import pinsApp from "../pins/app.ts";
import { readApp } from "../src/app/readApp.ts";
import { leastSettings } from "../src/storage/mysql/driver/serverLimits.ts";
import {
	MOD_SHARD_TABLES,
	shardTables,
} from "../src/storage/statements/tables.ts";
import type { Topology } from "../src/topology/types.ts";
import { startMemcached } from "../test/services/memcached.ts";
import { startMysql } from "../test/services/mysql.ts";
import { startPostgres } from "../test/services/postgres.ts";
import { startRedis } from "../test/services/redis.ts";
import type { Server } from "../test/services/server.ts";
import { moveToOtherCores } from "./servers/cores.ts";

/** The same for every database: all data fits. */
const BUFFER_MB = 512;
const CONNECTIONS = 1_000;
const MYSQL_OPTIONS = [
	`--innodb-buffer-pool-size=${BUFFER_MB}M`,
	"--innodb-redo-log-capacity=512M",
	`--max-connections=${CONNECTIONS}`,
	"--local-infile=1",
];

/** The databases of both sides. Each side has a MySQL of its own. */
export interface Databases extends AsyncDisposable {
	/** Corkboard's shards and shared caches; null if only the embedded store is measured. */
	readonly fleet: Fleet | null;
	/** The peers' relational schema; null if no peer needs one. */
	readonly mysql: Server | null;
	readonly postgres: Server | null;
	/** For peers that delete keys in one. */
	readonly redis: Server | null;
}

export interface Fleet {
	readonly mysql: Server;
	/** All hosts of shards: `mysql` is the first of them. */
	readonly hosts: readonly Server[];
	readonly memcached: Server;
	readonly redis: Server;
	readonly topologyFile: string;
}

export async function startDatabases(options: {
	/** Shards of the fleet. */
	readonly shards: number;
	/** Hosts of the fleet. Default: one. */
	readonly hosts?: number;
	readonly fleet: boolean;
	readonly mysql: boolean;
	readonly postgres: boolean;
	readonly redis: boolean;
	readonly folder: string;
}): Promise<Databases> {
	await using stack = new AsyncDisposableStack();
	const own = async (starting: Promise<Server>) => {
		const server = stack.use(await starting);
		moveToOtherCores(server.pid);
		return server;
	};
	const hostCount = options.hosts ?? 1;
	const starting = [
		options.fleet
			? Promise.all(
					Array.from({ length: hostCount }, () =>
						own(startForShards(Math.ceil(options.shards / hostCount))),
					),
				)
			: null,
		options.fleet
			? own(startMemcached({ args: [`--memory-limit=${BUFFER_MB}`] }))
			: null,
		options.fleet ? own(startRedis()) : null,
		options.mysql ? own(startMysql({ args: MYSQL_OPTIONS })) : null,
		options.postgres
			? own(startPostgres({ args: ["-c", `shared_buffers=${BUFFER_MB}MB`] }))
			: null,
		options.redis ? own(startRedis()) : null,
	] as const;
	// Waited for even if one fails, so that the others are stopped.
	await Promise.allSettled(starting);
	const [hosts, memcached, redis, mysql, postgres, redisOfPeers] =
		await Promise.all(starting);
	let fleet: Fleet | null = null;
	const [first] = hosts ?? [];
	if (hosts && first && memcached !== null && redis !== null) {
		const topologyFile = join(options.folder, "topology.json");
		const topology = topologyOf(
			hosts.map(({ url }) => url),
			options.shards,
		);
		await writeFile(topologyFile, JSON.stringify(topology), { mode: 0o600 });
		fleet = { mysql: first, hosts, memcached, redis, topologyFile };
	}
	const owned = stack.move();
	return {
		fleet,
		mysql,
		postgres,
		redis: redisOfPeers,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** As docs/how-to/install.md says for so many shards. */
async function startForShards(shards: number): Promise<Server> {
	const { model } = readApp(pinsApp);
	const tables = shards * (shardTables(model).length + MOD_SHARD_TABLES.length);
	const { table_open_cache: open, ...settings } = leastSettings(tables, {
		instances: CACHE_INSTANCES,
		connections: CONNECTIONS,
	});
	const args = [
		...MYSQL_OPTIONS,
		`--table-open-cache-instances=${CACHE_INSTANCES}`,
		...Object.entries(settings).map(
			([name, value]) => `--${name.replaceAll("_", "-")}=${value}`,
		),
	];
	const server = await startMysql({ args });
	const connection = await createConnection({ uri: server.url });
	// At its start, a server lowers it to what this machine lets it open.
	await connection.query(`SET GLOBAL table_open_cache = ${open}`);
	await connection.end();
	return server;
}

const CACHE_INSTANCES = 4;

export function fleetOf({ fleet }: Pick<Databases, "fleet">): Fleet {
	if (fleet === null) throw new Error("No fleet was started.");
	return fleet;
}

/** Two ranges at least, as a fleet has several, on these hosts in turn. */
export function topologyOf(
	primaries: readonly string[],
	shards: number,
): Topology {
	const count = Math.max(2, primaries.length);
	const ranges = Array.from({ length: count }, (_, n) => ({
		range: [
			Math.floor((n * shards) / count),
			Math.floor(((n + 1) * shards) / count) - 1,
		] as const,
		primary: primaries[n % primaries.length] as string,
	}));
	return {
		version: 1,
		shards: ranges.map((range) => ({ ...range, open: true })),
		lookups: ranges,
	};
}
