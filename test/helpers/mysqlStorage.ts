import { createConnection, type RowDataPacket } from "mysql2/promise";
import {
	type MysqlLimits,
	openMysqlStorage,
} from "../../src/storage/mysql/mysqlStorage.ts";
import type { OpenedStorage } from "../../src/storage/storage.ts";
import type { Topology } from "../../src/topology/types.ts";
import type { Server } from "../services/server.ts";
import type { OpenStorage } from "./storageModel.ts";
import { MODEL, topologyOn } from "./storageModel.ts";

/** Where nobody listens. */
const NOWHERE = "mysql://nobody:nothing@127.0.0.1:1";

const SHARDS = [0, 1, 2, 3];

export function openMysql(
	primary: string,
	options: {
		readonly limits?: Partial<MysqlLimits>;
		readonly readOnly?: boolean;
	} = {},
): Promise<OpenedStorage> {
	const topology = topologyOn(primary);
	return openMysqlStorage({ model: MODEL, topology, ...options });
}

/** The topology of the suite with some of its shards and mod shards on a host that does not answer. */
function topologyWithout(primary: string, dead: readonly number[]): Topology {
	const range = (shard: number) => ({
		range: [shard, shard] as const,
		primary: dead.includes(shard) ? NOWHERE : primary,
	});
	return {
		version: 1,
		shards: SHARDS.map((shard) => ({ ...range(shard), open: shard < 2 })),
		lookups: SHARDS.map(range),
	};
}

const TABLES = `table_name AS name FROM information_schema.tables
	WHERE (table_schema LIKE 'db0%' OR table_schema LIKE 'mod0%' OR table_schema = 'corkboard')`;

/** A server's databases made once, and emptied for each test as far as the one before filled them. */
export async function mysqlForSuite(server: Server): Promise<OpenStorage> {
	{
		await using storage = await openMysql(server.url);
		await storage.admin.createTables();
	}
	const [release] = await ask(server, "SELECT VERSION() AS version");
	if (!String(release?.version).includes("MariaDB")) {
		// It else shows for a day what it has once shown.
		await ask(server, "SET GLOBAL information_schema_stats_expiry = 0");
	}
	const tables = await ask(server, `SELECT table_schema AS shard, ${TABLES}`);
	const isFilled = tables.map(
		({ shard, name }) =>
			`SELECT '${shard}' AS shard, '${name}' AS name FROM DUAL WHERE EXISTS (SELECT 1 FROM ${shard}.${name})`,
	);
	/** Those with rows, and those that gave away ids of rows which are gone: emptying all takes longer than most tests. */
	const used = `${isFilled.join(" UNION ")} UNION SELECT table_schema, ${TABLES} AND auto_increment > 1`;
	return async ({ dead = [], full = [], ...limits } = {}) => {
		await ask(
			server,
			...(await ask(server, used)).map(
				({ shard, name }) => `TRUNCATE TABLE ${shard}.${name}`,
			),
			...full.map(
				(shard) =>
					`ALTER TABLE db0000${shard}.pins AUTO_INCREMENT = ${2 ** 36 - 1}`,
			),
		);
		const storage = await openMysqlStorage({
			model: MODEL,
			topology: topologyWithout(server.url, dead),
			limits,
		});
		return {
			storage,
			async change(shard, sql) {
				await ask(
					server,
					`USE db0000${shard}`,
					sql.replace(/\boutbox\b/, "corkboard.outbox"),
				);
			},
			[Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
		};
	};
}

/** Past the storage, as an operator would: the rows of the last statement. */
export async function ask(
	{ url }: Pick<Server, "url">,
	...statements: readonly string[]
): Promise<readonly RowDataPacket[]> {
	const connection = await createConnection({
		uri: url,
		connectTimeout: 60_000,
	});
	try {
		let rows: RowDataPacket[] = [];
		for (const sql of statements) {
			[rows] = await connection.query<RowDataPacket[]>({
				sql,
				timeout: 60_000,
			});
		}
		return rows;
	} finally {
		connection.destroy();
	}
}
