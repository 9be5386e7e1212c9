import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { Place } from "../driver.ts";
import { listName } from "../keys.ts";
import type { ListKey, ListRow } from "../rows.ts";
import type { Batch } from "./batch.ts";
import { type Dialect, insertsOf, type Select, type Write } from "./dialect.ts";

const COLUMNS = "from_id, mapping, count, last_sequence, epoch";
const KEY = ["from_id", "mapping"];

/** A list's row, and whose it is. */
export type MappedRow = ListRow & { readonly mapping: Mapping };

/**
 * Has the server refuse a transaction that puts nothing but an entry into the
 * outbox of the host where it would refuse one that changes the shard: because the
 * database takes no writes, or is not there any more.
 */
export function touchShard<P extends Place>(
	dialect: Dialect<P>,
	batch: Batch<P>,
	place: P,
): void {
	if (!dialect.outbox.isShared) return;
	batch.ask(place, {
		name: "touch shard",
		columns: ["1"],
		rest: `FROM ${dialect.table(place, "lists")} LIMIT 0 ${dialect.forUpdate}`,
		values: [],
		use() {},
	});
}

/**
 * Locks the lists' own rows in key order. Missing rows are inserted with zeros, so
 * that there is something to lock; the INSERT takes the lock of a row that exists,
 * and changes nothing in it.
 */
export function lockLists<P extends Place>(
	dialect: Dialect<P>,
	place: P,
	keys: readonly ListKey[],
): readonly Write[] {
	if (dialect.forUpdate === "") return [];
	return insertsOf(dialect, {
		name: "lock lists",
		into: `${dialect.table(place, "lists")} (${COLUMNS})`,
		made: inKeyOrder(keys).map(({ mapping, from }) => [
			BigInt(from),
			mapping.name,
			0,
			0,
			0,
		]),
		orElse: dialect.orKeep(KEY, "count"),
	});
}

/**
 * Rows of lists of one mapping that exist, in the columns of edges: so a
 * transaction reads both in one statement. The rows are locked already, and at
 * READ COMMITTED a statement sees what was committed before it, so they are read
 * without another lock. The index is named because a table scan would be cheaper
 * for a small table.
 */
export function listsOf<P extends Place>(
	dialect: Dialect<P>,
	place: P,
	{ name }: Mapping,
	froms: readonly Id[],
): Select<ListRow> {
	const { id, number, literal } = dialect;
	const { text, values } = dialect.isOneOf("from_id", froms);
	return {
		name: "lists",
		columns: [
			id("from_id"),
			`${id("from_id")} AS to_id`,
			`${number("last_sequence")} AS sequence`,
			`${number("count")} AS state`,
			`${number("epoch")} AS version`,
		],
		rest: `FROM ${dialect.table(place, "lists")} ${dialect.index("primary")}
			WHERE mapping = ${literal?.(name) ?? "?"} AND ${text}`,
		values: [...(literal === null ? [name] : []), ...values],
		read: (rows) =>
			rows.map(([from, , lastSequence, count, epoch]) => ({
				from: from as Id,
				count: Number(count),
				lastSequence: Number(lastSequence),
				epoch: Number(epoch),
			})),
	};
}

/** Writes rows that are locked. */
export function writeLists<P extends Place>(
	dialect: Dialect<P>,
	place: P,
	rows: readonly MappedRow[],
): readonly Write[] {
	return insertsOf(dialect, {
		name: "set list",
		into: `${dialect.table(place, "lists")} (${COLUMNS})`,
		made: rows.map(({ mapping, from, count, lastSequence, epoch }) => [
			BigInt(from),
			mapping.name,
			count,
			lastSequence,
			epoch,
		]),
		orElse: dialect.orSet(KEY, ["count", "last_sequence", "epoch"]),
	});
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
