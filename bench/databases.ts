import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Topology } from "../src/topology/types.ts";
import { startMemcached } from "../test/services/memcached.ts";
import { startMysql } from "../test/services/mysql.ts";
import { startPostgres } from "../test/services/postgres.ts";
import { startRedis } from "../test/services/redis.ts";
import type { Server } from "../test/services/server.ts";
import { moveToOtherCores } from "./servers/cores.ts";

/** The same for every database: all data fits. */
const BUFFER_MB = 512;
const MYSQL_OPTIONS = [
	`--innodb-buffer-pool-size=${BUFFER_MB}M`,
	"--innodb-redo-log-capacity=512M",
	"--max-connections=1000",
	"--local-infile=1",
];

/** The databases of both sides. Each side has a MySQL of its own. */
export interface Databases extends AsyncDisposable {
	/** Corkboard's shards. */
	readonly fleet: Server;
	readonly memcached: Server;
	readonly redis: Server;
	/** The peers' relational schema; null if no peer needs one. */
	readonly mysql: Server | null;
	readonly postgres: Server | null;
	readonly topologyFile: string;
}

export async function startDatabases(options: {
	readonly shards: number;
	readonly mysql: boolean;
	readonly postgres: boolean;
	readonly folder: string;
}): Promise<Databases> {
	await using stack = new AsyncDisposableStack();
	const own = async (starting: Promise<Server>) => {
		const server = stack.use(await starting);
		moveToOtherCores(server.pid);
		return server;
	};
	const starting = [
		own(startMysql({ args: MYSQL_OPTIONS })),
		own(startMemcached({ args: [`--memory-limit=${BUFFER_MB}`] })),
		own(startRedis()),
		options.mysql ? own(startMysql({ args: MYSQL_OPTIONS })) : null,
		options.postgres
			? own(startPostgres({ args: ["-c", `shared_buffers=${BUFFER_MB}MB`] }))
			: null,
	] as const;
	// Waited for also where one fails, so that the others are stopped.
	await Promise.allSettled(starting);
	const [fleet, memcached, redis, mysql, postgres] =
		await Promise.all(starting);
	const topologyFile = join(options.folder, "topology.json");
	await writeFile(
		topologyFile,
		JSON.stringify(topologyOf(fleet.url, options.shards)),
		{ mode: 0o600 },
	);
	const owned = stack.move();
	return {
		fleet,
		memcached,
		redis,
		mysql,
		postgres,
		topologyFile,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** Two ranges, as a fleet has several, on one host. */
export function topologyOf(primary: string, shards: number): Topology {
	const half = shards / 2;
	const ranges = [
		{ range: [0, half - 1] as const, primary },
		{ range: [half, shards - 1] as const, primary },
	];
	return {
		version: 1,
		shards: ranges.map((range) => ({ ...range, open: true })),
		lookups: ranges,
	};
}
