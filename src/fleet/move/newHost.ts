import { CorkboardError } from "../../errors.ts";
import { OUTBOX } from "../../storage/statements/tables.ts";
import { HOST_DATABASE, OUR_DATABASES } from "../map/databases.ts";
import { namesHost } from "../map/promotionHosts.ts";
import { requireCurrent } from "../map/publish.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import type { MoveRun } from "./moveRun.ts";

/** Makes the database that every host has beside its shards, with the outbox, as the source has it. */
export async function makeHostDatabase({
	servers: { from, to },
}: Pick<MoveRun, "servers">): Promise<void> {
	const tables = await tablesOf(from.primary);
	if (tables.length === 0) return;
	const held = new Set(await tablesOf(to.primary));
	const missing = tables.filter((table) => !held.has(table));
	if (missing.length === 0) return;
	await to.primary.run(
		"create host database",
		`CREATE DATABASE IF NOT EXISTS \`${HOST_DATABASE}\` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
	);
	for (const table of missing) {
		const [, text] = await from.primary.row(
			"table",
			`SHOW CREATE TABLE \`${HOST_DATABASE}\`.\`${table}\``,
		);
		const body = /^CREATE TABLE `[^`]+`(.*)$/s.exec(String(text))?.[1];
		if (body === undefined) {
			throw new CorkboardError(
				"CONFLICT",
				`${from.primary.name} shows ${HOST_DATABASE}.${table} as no table.`,
			);
		}
		await to.primary.run(
			"create host table",
			`CREATE TABLE IF NOT EXISTS \`${HOST_DATABASE}\`.\`${table}\`${body}`,
		);
	}
}

/** Drops that again on hosts that the map does not name any more, if nothing of ours is left. */
export async function dropHostDatabases({
	options: { store },
	servers,
}: Pick<MoveRun, "options" | "servers">): Promise<void> {
	const { topology } = await requireCurrent(store);
	for (const { primary: server } of [servers.from, servers.to]) {
		if (namesHost(topology, server.name)) continue;
		const rows = await server.rows(
			"databases",
			`SELECT schema_name FROM information_schema.schemata WHERE schema_name REGEXP '${OUR_DATABASES}'`,
		);
		const isAlone = rows.length === 1 && String(rows[0]?.[0]) === HOST_DATABASE;
		if (!isAlone || !(await hasEmptyOutbox(server))) continue;
		await server.run(
			"drop host database",
			`DROP DATABASE IF EXISTS \`${HOST_DATABASE}\``,
		);
	}
}

async function hasEmptyOutbox(server: FleetServer): Promise<boolean> {
	if (!(await tablesOf(server)).includes(OUTBOX.name)) return true;
	const rows = await server.rows(
		"outbox",
		`SELECT 1 FROM \`${HOST_DATABASE}\`.\`${OUTBOX.name}\` LIMIT 1`,
	);
	return rows.length === 0;
}

async function tablesOf(server: FleetServer): Promise<readonly string[]> {
	const rows = await server.rows(
		"host tables",
		"SELECT table_name FROM information_schema.tables WHERE table_schema = ?",
		[HOST_DATABASE],
	);
	return rows.map(([table]) => String(table));
}
