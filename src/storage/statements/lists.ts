import { compareIds, type Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { ShardLocation } from "../driver.ts";
import { listName } from "../keys.ts";
import type { ListKey, ListRow } from "../rows.ts";
import type { StatementBatch } from "./batch.ts";
import {
	chunks,
	type Dialect,
	insertsOf,
	type MadeValue,
	type Select,
	type Write,
} from "./dialect.ts";
import { listColumns, listOf } from "./rows.ts";

const COLUMNS = "from_id, mapping, count, last_sequence, epoch";
const KEY = ["from_id", "mapping"];

/** A list's row, and whose it is. */
export type MappedRow = ListRow & { readonly mapping: Mapping };

/**
 * Has the server refuse a transaction that puts nothing but an entry into the
 * outbox of the host if it would refuse one that changes the shard: because the
 * database takes no writes, or is not there any more.
 */
export function touchShard<P extends ShardLocation>(
	dialect: Dialect<P>,
	batch: StatementBatch<P>,
	location: P,
): void {
	if (!dialect.outbox.isShared) return;
	batch.ask(location, {
		name: "touch shard",
		columns: ["1"],
		rest: `FROM ${dialect.table(location, "lists")} LIMIT 0 ${dialect.forUpdate}`,
		values: [],
		use() {},
	});
}

/**
 * Locks the lists' own rows, which are given in key order. Missing rows are inserted with zeros, so
 * that there is something to lock; the INSERT takes the lock of a row that exists,
 * and changes nothing in it.
 */
export function lockLists<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	keys: readonly ListKey[],
): readonly Write[] {
	if (dialect.forUpdate === "") return [];
	return insertsOf(dialect, {
		name: "lock lists",
		into: `${dialect.table(location, "lists")} (${COLUMNS})`,
		made: keys.map(({ mapping, from }) => [
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
export function listsOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
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
		rest: `FROM ${dialect.table(location, "lists")} ${dialect.index("primary")}
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

/** Locks and reads a row, if it exists. */
export function lockedList<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	{ mapping, from }: ListKey,
): Select<ListRow> {
	const { literal } = dialect;
	const key = [BigInt(from), mapping.name] as const;
	const [one, name] = key.map((value) => literal?.(value) ?? "?");
	return {
		name: "lock lists",
		columns: listColumns(dialect),
		rest: `FROM ${dialect.table(location, "lists")} WHERE from_id = ${one} AND mapping = ${name} ${dialect.forUpdate}`,
		values: literal === null ? key : [],
		read: (rows) => rows.map(listOf),
	};
}

/** Rows of one shard to write. */
export type ShardRows<P extends ShardLocation> = readonly [
	P,
	readonly MappedRow[],
];

/** Fewer are written by INSERTs: an UPDATE of one table takes longer than these. */
const LEAST_TOGETHER = 3;
/** More rows of one shard are faster by one INSERT of all. */
const MOST_OF_SHARD = 3;

/** Writes rows of any shards of a host that are locked and exist, those of many shards by one statement. */
export function setLists<P extends ShardLocation>(
	dialect: Dialect<P>,
	batch: StatementBatch<P>,
	shards: readonly ShardRows<P>[],
): void {
	const few = shards.filter(([, { length }]) => length <= MOST_OF_SHARD);
	const rows = few.flatMap(([location, some]) =>
		some.map((row) => ({ ...row, location })),
	);
	const areTogether = dialect.maxTables > 1 && rows.length >= LEAST_TOGETHER;
	for (const [location, some] of shards) {
		if (areTogether && some.length <= MOST_OF_SHARD) continue;
		batch.writeAll(location, writeLists(dialect, location, some));
	}
	if (!areTogether) return;
	for (const some of chunks(rows, dialect.maxTables)) {
		const [{ location }] = some as [(typeof rows)[number]];
		batch.write(location, updateOf(dialect, some));
	}
}

function updateOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	rows: readonly (MappedRow & { readonly location: P })[],
): Write {
	const spelled = (value: MadeValue) => dialect.literal?.(value);
	const tables: string[] = [];
	const sets: string[] = [];
	const keys: string[] = [];
	for (const [at, row] of rows.entries()) {
		const { location, mapping, from, count, lastSequence, epoch } = row;
		tables.push(`${dialect.table(location, "lists")} l${at}`);
		sets.push(
			`l${at}.count = ${spelled(count)}, l${at}.last_sequence = ${spelled(lastSequence)}, l${at}.epoch = ${spelled(epoch)}`,
		);
		keys.push(
			`l${at}.from_id = ${spelled(BigInt(from))} AND l${at}.mapping = ${spelled(mapping.name)}`,
		);
	}
	return {
		name: "set list",
		text: `UPDATE ${tables.join(", ")} SET ${sets.join(", ")} WHERE ${keys.join(" AND ")}`,
		values: [],
	};
}

/** Writes rows that are locked. */
export function writeLists<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	rows: readonly MappedRow[],
): readonly Write[] {
	return insertsOf(dialect, {
		name: "set list",
		into: `${dialect.table(location, "lists")} (${COLUMNS})`,
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

/** Without duplicates, in the order in which all transactions lock them. */
export function inKeyOrder(keys: readonly ListKey[]): readonly ListKey[] {
	if (keys.length <= 1) return keys;
	const unique = new Map(
		keys.map((key) => [listName(key.mapping, key.from), key]),
	);
	return [...unique.values()].sort(
		(a, b) =>
			compareIds(a.from, b.from) || (a.mapping.name < b.mapping.name ? -1 : 1),
	);
}
