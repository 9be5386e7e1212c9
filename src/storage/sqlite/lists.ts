import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../keys.ts";
import type { ListKey, ListRow } from "../storage.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

/** Numbers as REAL: SQLite gives a damaged one beyond 2^53 as what it is, where as INTEGER the whole statement would fail. */
const LIST_COLUMNS = `CAST(from_id AS TEXT) AS "from", CAST(count AS REAL) AS count,
	CAST(last_sequence AS REAL) AS lastSequence, CAST(epoch AS REAL) AS epoch`;

const READ_LISTS: Sql = {
	name: "lists",
	text: `SELECT ${LIST_COLUMNS}, mapping FROM lists
		WHERE (from_id, mapping) IN (SELECT CAST(value->>0 AS INTEGER), value->>1
			FROM json_each(?))`,
};

const WRITE_LIST: Sql = {
	name: "set list",
	text: `INSERT INTO lists (from_id, mapping, count, last_sequence, epoch)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (from_id, mapping) DO UPDATE SET count = excluded.count,
			last_sequence = excluded.last_sequence, epoch = excluded.epoch`,
};

interface StoredListRow {
	readonly from: string;
	readonly mapping: string;
	readonly count: number;
	readonly lastSequence: number;
	readonly epoch: number;
}

/** The lists' own rows; zeros for a list without a row. */
export function readLists(
	connection: SqliteConnection,
	keys: readonly ListKey[],
): readonly ListRow[] {
	if (keys.length === 0) return [];
	const pairs = keys.map(({ mapping, from }) => [from, mapping.name]);
	const rows = connection.rows<StoredListRow>(READ_LISTS, [
		JSON.stringify(pairs),
	]);
	const found = new Map(
		rows.map((row) => [listName({ name: row.mapping }, row.from), row]),
	);
	return keys.map(({ mapping, from }) =>
		listRow(from, found.get(listName(mapping, from))),
	);
}

function listRow(from: Id, row: Omit<ListRow, "from"> | undefined): ListRow {
	return {
		from,
		count: row?.count ?? 0,
		lastSequence: row?.lastSequence ?? 0,
		epoch: row?.epoch ?? 0,
	};
}

export function writeList(
	connection: SqliteConnection,
	mapping: Mapping,
	{ from, count, lastSequence, epoch }: ListRow,
): void {
	connection.run(WRITE_LIST, [
		BigInt(from),
		mapping.name,
		count,
		lastSequence,
		epoch,
	]);
}
