import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../keys.ts";
import type { ListKey, ListRow } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Row } from "./driver/mysql2Connection.ts";
import { chunks, type Shard } from "./shards.ts";
import {
	anyOf,
	digitsOf,
	type Fragment,
	integers,
	quotedName,
} from "./sqlFragment.ts";
import type { StatementBatch } from "./statementBatch.ts";

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
 * Locks the lists' own rows in key order. Missing rows are inserted with zeros, so
 * that there is something to lock; the INSERT takes the lock of a row that exists,
 * and changes nothing in it.
 */
export function lockLists(
	batch: StatementBatch,
	{ database }: Shard,
	keys: readonly ListKey[],
): void {
	for (const some of chunks(inKeyOrder(keys), LISTS)) {
		const rows = some.map(
			({ mapping, from }) =>
				`(${digitsOf(from)}, ${quotedName(mapping.name)}, 0, 0, 0)`,
		);
		batch.run({
			name: "lock lists",
			text: `INSERT INTO ${tableIn(database, "lists")} (${COLUMNS}) VALUES ${rows.join(", ")}
				ON DUPLICATE KEY UPDATE count = count`,
			values: [],
		});
	}
}

/** Writes rows that are locked. */
export function writeLists(
	batch: StatementBatch,
	{ database }: Shard,
	rows: readonly (ListRow & { readonly mapping: Mapping })[],
): void {
	for (const some of chunks(rows, LISTS)) {
		const values = some.map(
			({ mapping, from, count, lastSequence, epoch }) =>
				`(${digitsOf(from)}, ${quotedName(mapping.name)}, ${integers([count, lastSequence, epoch])})`,
		);
		batch.run({
			name: "set list",
			text: `INSERT INTO ${tableIn(database, "lists")} (${COLUMNS}) VALUES ${values.join(", ")}
				ON DUPLICATE KEY UPDATE count = VALUES(count),
					last_sequence = VALUES(last_sequence), epoch = VALUES(epoch)`,
			values: [],
		});
	}
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
