import { liftFences } from "../server/fences.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import { parkedName } from "./findMove.ts";

/**
 * A former copy under another name: its tables are renamed into a database that no
 * process knows, so that a process with an old map gets "no such table", and
 * waits for a newer one. The database itself stays, empty.
 */

/** A table of some terabytes is dropped at the speed of its disk. Milliseconds. */
const DROP_MS = 3_600_000;

/** What the server takes to rename a table, however many connections ask it. Milliseconds, measured with MySQL 9.7. */
export const RENAME_MS = 2;

/** Renames the tables of the databases out of the way. What was done before is not done again. */
export async function park(
	server: FleetServer,
	databases: readonly string[],
): Promise<void> {
	for (const database of databases) await create(server, parkedName(database));
	await liftFences(server, databases);
	await rename(
		server,
		databases.map((each) => [each, parkedName(each)]),
	);
}

/** The way back. */
export async function unpark(
	server: FleetServer,
	databases: readonly string[],
): Promise<void> {
	await rename(
		server,
		databases.map((each) => [parkedName(each), each]),
	);
}

/** Drops what is parked, and the empty databases that it came from; table by table, with pauses after each. */
export async function dropParked(
	server: FleetServer,
	databases: readonly string[],
	/** Waits a little, after a drop that took so long. Milliseconds. */
	pause: (tookMs: number) => Promise<void>,
): Promise<void> {
	for (const database of databases) {
		const parked = parkedName(database);
		const tables = await tablesOf(server, [parked]);
		for (const { table } of tables) {
			const began = performance.now();
			await server.run(
				"drop parked table",
				`DROP TABLE IF EXISTS \`${parked}\`.\`${table}\``,
				[],
				DROP_MS,
			);
			await pause(performance.now() - began);
		}
		await server.run("drop parked", `DROP DATABASE IF EXISTS \`${parked}\``);
		await dropEmpty(server, database);
	}
}

/** The databases that the parked copies left and came back from. */
export async function dropEmptyParks(
	server: FleetServer,
	databases: readonly string[],
): Promise<void> {
	for (const database of databases)
		await dropEmpty(server, parkedName(database));
}

/** Never one with a table, not even another program's. */
async function dropEmpty(server: FleetServer, database: string): Promise<void> {
	if ((await tablesOf(server, [database])).length > 0) return;
	await server.run(
		"drop empty database",
		`DROP DATABASE IF EXISTS \`${database}\``,
	);
}

async function create(server: FleetServer, database: string): Promise<void> {
	await server.run(
		"create park",
		`CREATE DATABASE IF NOT EXISTS \`${database}\` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
	);
}

/** All tables in one statement, which the server does whole or not at all. */
async function rename(
	server: FleetServer,
	pairs: readonly (readonly [from: string, to: string])[],
): Promise<void> {
	const targets = new Map(pairs);
	const tables = await tablesOf(server, [...targets.keys()]);
	if (tables.length === 0) return;
	const names = tables.map(
		({ database, table }) =>
			`\`${database}\`.\`${table}\` TO \`${targets.get(database)}\`.\`${table}\``,
	);
	await server.run("rename tables", `RENAME TABLE ${names.join(", ")}`);
}

async function tablesOf(server: FleetServer, databases: readonly string[]) {
	const rows = await server.rows(
		"tables",
		"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN (?) ORDER BY 1, 2",
		[databases],
	);
	return rows.map(([database, table]) => ({
		database: String(database),
		table: String(table),
	}));
}
