import { clearOutbox, outboxShards } from "../ferry/movedOutbox.ts";
import { readMovedTables } from "../ferry/movedTables.ts";
import { HOST_DATABASE } from "../map/databases.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import { parkedName } from "./findMove.ts";

/** How long the binary log of a parked wave may take to be read. Milliseconds. */
const READ_MS = 600_000;

/**
 * Transactions that came to a former copy after it was left, as GTIDs: between the
 * lifting of its fence and its renaming lie some milliseconds, in which a process
 * that had been paused since before the switch could write there. They are only there,
 * so somebody has to look at them. The tables are parked already.
 */
export async function lateTransactions(
	server: FleetServer,
	databases: readonly string[],
	left: string,
): Promise<readonly string[]> {
	const names = new Map(databases.map((each) => [parkedName(each), each]));
	const { tables } = await readMovedTables(server, [...names.keys()]);
	const late = new Set<string>();
	const log = server.readBinlog({
		after: left,
		until: await server.executed(),
		tables: tables.map((table) => ({
			...table,
			database: names.get(table.database) ?? table.database,
		})),
		signal: AbortSignal.timeout(READ_MS),
		ignoresDdl: true,
	});
	for await (const transactions of log) {
		for (const { gtid, rows } of transactions) {
			if (rows.length > 0) late.add(gtid);
		}
	}
	return [...late];
}

/**
 * Brings the entries that the outbox of the former host still has to the one that
 * serves the shards now: of writes that came to it until all processes knew. Those
 * that came over under the fence, and wait there still, do not come again: else one
 * that cannot be delivered would be twice as many after each move.
 */
export async function carryOutbox(
	former: FleetServer,
	now: FleetServer,
	databases: readonly string[],
): Promise<void> {
	const shards = outboxShards(databases);
	if (shards.length === 0) return;
	const columns = "shard, entry, ts, attempts, next_attempt_at, last_error";
	const entriesOf = (server: FleetServer) =>
		server.rows(
			"entries to carry",
			`SELECT ${columns} FROM ${HOST_DATABASE}.outbox WHERE shard IN (?) ORDER BY local_id`,
			[shards],
		);
	const keyOf = ([shard, entry, ts]: readonly unknown[]) =>
		`${shard} ${ts} ${entry}`;
	const waiting = new Set((await entriesOf(now)).map(keyOf));
	for (const entry of await entriesOf(former)) {
		if (waiting.has(keyOf(entry))) continue;
		await now.run(
			"carry entry",
			`INSERT INTO ${HOST_DATABASE}.outbox (${columns}) VALUES (?, ?, ?, ?, ?, ?)`,
			entry.map((value) => (value === null ? null : String(value))),
		);
	}
	await clearOutbox(former, databases);
}
