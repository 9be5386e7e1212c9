import type { StatementTrace } from "../../diagnostics.ts";
import type { JsonObject } from "../../util/json.ts";
import type { OutboxRow } from "../storage.ts";
import type { Sql, SqliteConnection } from "./driver/connection.ts";

const INSERT: Sql = {
	name: "insert outbox",
	text: "INSERT INTO outbox (debt, ts) VALUES (?, ?)",
};

/** By local id, which is the order of the commits: the clock may have stepped back between them. */
const OLDEST: Sql = {
	name: "owed",
	text: `SELECT local_id AS local, debt, ts FROM outbox
		WHERE ts <= ? ORDER BY local_id LIMIT ?`,
};

const DELETE: Sql = {
	name: "settle",
	text: "DELETE FROM outbox WHERE local_id IN (SELECT value FROM json_each(?))",
};

/** Answers the row's local id. */
export function insertDebt(
	connection: SqliteConnection,
	debt: JsonObject,
	now: number,
): number {
	return connection.run(INSERT, [JSON.stringify(debt), now]).insertedAs;
}

export interface DatedDebt extends OutboxRow {
	/** When it was written, in microseconds since 1970. */
	readonly ts: number;
}

export function oldestDebts(
	connection: SqliteConnection,
	shard: number,
	writtenBy: number,
	limit: number,
): readonly DatedDebt[] {
	return connection
		.rows<{
			readonly local: number;
			readonly debt: string;
			readonly ts: number;
		}>(OLDEST, [writtenBy, limit])
		.map(({ local, debt, ts }) => ({
			shard,
			local,
			entry: JSON.parse(debt),
			ts,
		}));
}

export function deleteDebts(
	connection: SqliteConnection,
	locals: readonly number[],
	trace?: StatementTrace,
): void {
	connection.run(DELETE, [JSON.stringify(locals)], trace);
}
