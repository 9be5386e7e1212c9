import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { Place } from "../driver.ts";
import { listName } from "../keys.ts";
import type { ListKey, ListRow } from "../rows.ts";
import type { Batch } from "./batch.ts";
import {
	anyOf,
	type Dialect,
	insertsOf,
	type Select,
	type Write,
} from "./dialect.ts";

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
 * Locks rows of lists in key order that may be missing. Those are inserted with
 * zeros, so that there is something to lock; the INSERT takes the lock of a row
 * that exists, and changes nothing in it.
 */
export function lockLists<P extends Place>(
	dialect: Dialect<P>,
	place: P,
	keys: readonly ListKey[],
): readonly Write[] {
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

/** Rows of lists that exist, locked from now on. The index is named because a table scan, cheaper for a small table, locks all rows it reads. */
export function lockedLists<P extends Place>(
	dialect: Dialect<P>,
	place: P,
	keys: readonly ListKey[],
): Select<ListRow & { readonly name: string }> {
	const { id, number, literal } = dialect;
	const mappings = Map.groupBy(keys, ({ mapping }) => mapping.name);
	// Spelled out: not every server uses the index for pairs. Never a single row, which MySQL would lock before those of other shards.
	const { text, values } = anyOf(
		[...mappings].map(([name, some]) => {
			const froms = some.map(({ from }) => from);
			const isFrom = dialect.isOneOf("from_id", froms);
			return {
				text: `mapping IN (${literal?.(name) ?? "?"}, '') AND ${isFrom.text}`,
				values: [...(literal === null ? [name] : []), ...isFrom.values],
			};
		}),
	);
	return {
		name: "lists",
		columns: [
			id("from_id"),
			"mapping",
			...["count", "last_sequence", "epoch"].map(number),
		],
		rest: `FROM ${dialect.table(place, "lists")} ${dialect.index("primary")}
			WHERE ${text} ${dialect.forUpdate}`,
		values,
		read: (rows) =>
			rows.map(([id, mapping, count, lastSequence, epoch]) => ({
				name: listName({ name: mapping as string }, id as Id),
				from: id as Id,
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

function inKeyOrder(keys: readonly ListKey[]): readonly ListKey[] {
	return keys.toSorted((a, b) => {
		const difference = BigInt(a.from) - BigInt(b.from);
		if (difference !== 0n) return difference < 0n ? -1 : 1;
		return a.mapping.name < b.mapping.name ? -1 : 1;
	});
}
