import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../keys.ts";
import type { ListKey, ListRow } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { MysqlTransaction, QueryOptions } from "./driver/host.ts";
import type { Row } from "./driver/mysql2Connection.ts";
import { chunks, type Shard } from "./shards.ts";
import { anyOf, type Fragment, valuesOf } from "./sqlFragment.ts";

/** Lists of one statement. */
const LISTS = 500;

const COLUMNS = "from_id, mapping, count, last_sequence, epoch";

/** A condition on `lists` that uses its primary key. */
export function isOneOf(keys: readonly ListKey[]): Fragment {
	return anyOf(
		[...Map.groupBy(keys, ({ mapping }) => mapping.name)].map(
			([mapping, some]) => ({
				text: "mapping = ? AND from_id IN (?)",
				values: [mapping, some.map(({ from }) => BigInt(from))],
			}),
		),
	);
}

export function listOf([from, , count, lastSequence, epoch]: Row): ListRow {
	return {
		from: from as Id,
		count: Number(count),
		lastSequence: Number(lastSequence),
		epoch: Number(epoch),
	};
}

/**
 * Locks the lists' own rows in key order and returns them by `listName`. Missing
 * rows are inserted with zeros, so that there is something to lock; the INSERT
 * takes the lock also if another transaction has inserted the row meanwhile.
 */
export async function lockLists(
	statements: MysqlTransaction,
	shard: Shard,
	keys: readonly ListKey[],
): Promise<ReadonlyMap<string, ListRow>> {
	const found = new Map<string, ListRow>();
	for (const some of chunks(inKeyOrder(keys), LISTS)) {
		await lock(statements, shard, some, found);
		const missing = some.filter(
			({ mapping, from }) => !found.has(listName(mapping, from)),
		);
		if (missing.length === 0) continue;
		if ((await make(statements, shard, missing)) === missing.length) {
			for (const { mapping, from } of missing) {
				const row = { from, count: 0, lastSequence: 0, epoch: 0 };
				found.set(listName(mapping, from), row);
			}
		} else {
			await lock(statements, shard, missing, found);
		}
	}
	return found;
}

async function lock(
	statements: MysqlTransaction,
	{ database }: Shard,
	keys: readonly ListKey[],
	found: Map<string, ListRow>,
): Promise<void> {
	const { text, values } = isOneOf(keys);
	const rows = await statements.rows({
		name: "lists",
		// The index is forced because a table scan, cheaper for a small table, locks all rows it reads.
		text: `SELECT ${COLUMNS} FROM ${tableIn(database, "lists")} FORCE INDEX (PRIMARY)
			WHERE ${text} ORDER BY from_id, mapping FOR UPDATE`,
		values,
	});
	for (const row of rows) {
		const list = listOf(row);
		found.set(listName({ name: String(row[1]) }, list.from), list);
	}
}

/** Returns how many rows are new. */
async function make(
	statements: MysqlTransaction,
	{ database }: Shard,
	keys: readonly ListKey[],
): Promise<number> {
	const { text, values } = valuesOf(
		keys.map(({ mapping, from }) => [BigInt(from), mapping.name, 0, 0, 0]),
	);
	const { affectedRows } = await statements.run({
		name: "new lists",
		text: `INSERT INTO ${tableIn(database, "lists")} (${COLUMNS}) VALUES ${text}
			ON DUPLICATE KEY UPDATE count = count`,
		values,
	});
	return affectedRows;
}

/** Writes rows that are locked. */
export async function writeLists(
	statements: MysqlTransaction,
	{ database }: Shard,
	rows: readonly (ListRow & { readonly mapping: Mapping })[],
): Promise<void> {
	for (const some of chunks(rows, LISTS)) {
		const { text, values } = valuesOf(
			some.map(({ mapping, from, count, lastSequence, epoch }) => [
				BigInt(from),
				mapping.name,
				count,
				lastSequence,
				epoch,
			]),
		);
		await statements.run({
			name: "set list",
			text: `INSERT INTO ${tableIn(database, "lists")} (${COLUMNS}) VALUES ${text}
				ON DUPLICATE KEY UPDATE count = VALUES(count),
					last_sequence = VALUES(last_sequence), epoch = VALUES(epoch)`,
			values,
		});
	}
}

export async function walkLists(
	{ host, database }: Shard,
	mapping: Mapping,
	after: Id | null,
	limit: number,
	options: QueryOptions,
): Promise<readonly ListRow[]> {
	const rows = await host.rows(
		{
			name: "walk lists",
			text: `SELECT ${COLUMNS} FROM ${tableIn(database, "lists")}
				WHERE from_id > ? AND mapping = ? ORDER BY from_id LIMIT ${limit}`,
			values: [BigInt(after ?? -1), mapping.name],
		},
		options,
	);
	return rows.map(listOf);
}

/** Without duplicates. */
function inKeyOrder(keys: readonly ListKey[]): readonly ListKey[] {
	const unique = new Map(
		keys.map((key) => [listName(key.mapping, key.from), key]),
	);
	return [...unique.values()].sort((a, b) => {
		const difference = BigInt(a.from) - BigInt(b.from);
		if (difference !== 0n) return difference < 0n ? -1 : 1;
		return a.mapping.name < b.mapping.name ? -1 : 1;
	});
}
