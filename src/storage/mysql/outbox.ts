import type { JsonObject } from "../../util/json.ts";
import type { OutboxRow } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host, MysqlTransaction, QueryOptions } from "./driver/host.ts";
import { chunks, type Shard } from "./shards.ts";
import { unionAll, valuesOf } from "./union.ts";

const DELETES = 500;

/** Answers the rows' local ids, in the order of the debts. */
export async function insertDebts(
	statements: MysqlTransaction,
	{ database }: Shard,
	debts: readonly JsonObject[],
	now: number,
): Promise<readonly number[]> {
	if (debts.length === 0) return [];
	const { text, values } = valuesOf(
		debts.map((debt) => [JSON.stringify(debt), now]),
	);
	const { insertId } = await statements.run({
		name: "insert outbox",
		text: `INSERT INTO ${tableIn(database, "outbox")} (debt, ts) VALUES ${text}`,
		values,
	});
	return debts.map((_, at) => Number(insertId) + at);
}

export interface DatedDebt extends OutboxRow {
	/** When it was written, in microseconds since 1970. */
	readonly ts: number;
}

/** The oldest of each shard of one host. */
export async function oldestDebts(
	host: Host,
	shards: readonly Shard[],
	writtenBy: number,
	limit: number,
	asked: QueryOptions,
): Promise<readonly DatedDebt[]> {
	const rows = await host.rows(
		unionAll(
			"owed",
			shards.map(({ number, database }) => ({
				text: `SELECT ${number} AS shard, local_id, debt, ts
					FROM ${tableIn(database, "outbox")}
					WHERE ts <= ? ORDER BY local_id LIMIT ${limit}`,
				values: [writtenBy],
			})),
		),
		asked,
	);
	return rows.map(([shard, local, debt, ts]) => ({
		shard: Number(shard),
		local: Number(local),
		entry: JSON.parse(debt as string) as JsonObject,
		ts: Number(ts),
	}));
}

export async function deleteDebts(
	{ host, database }: Shard,
	locals: readonly number[],
	asked: QueryOptions,
): Promise<void> {
	for (const some of chunks(locals, DELETES)) {
		await host.run(
			{
				name: "settle",
				text: `DELETE FROM ${tableIn(database, "outbox")} WHERE local_id IN (?)`,
				values: [some],
			},
			asked,
		);
	}
}
