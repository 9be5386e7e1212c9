import {
	chunks,
	type Select,
	type Write,
} from "../../storage/statements/dialect.ts";
import type { LocalId } from "../jobId.ts";
import type { JobRow } from "../jobTransitions.ts";
import {
	clauseOf,
	joined,
	part,
	type QueueTables,
	selectOf,
} from "./dialect.ts";
import { localOf } from "./rows.ts";

/* Statements on the keys of pending jobs. */

/** A key, and the job that has it. */
interface HeldKey {
	readonly key: string;
	readonly local: LocalId;
}

/**
 * Keys that are held already stay with their job, and are locked. A transaction that
 * inserts keys has the lock of the queue: two that waited for one deleted key would
 * both get the gap that it leaves, and neither could insert (a deadlock, also with
 * READ COMMITTED).
 */
export function insertKeys(
	{ dialect, keys: table }: QueueTables,
	keys: readonly HeldKey[],
): readonly Write[] {
	const clause = clauseOf(dialect);
	const sorted = keys.toSorted((a, b) => (a.key < b.key ? -1 : 1));
	const orKeep = part(dialect.orKeep(["unique_key"], "unique_key"));
	const rowOf = ({ key, local }: HeldKey) =>
		clause`(${key}, ${dialect.id(local)})`;
	return chunks(sorted, dialect.maxRows).map((some) => ({
		name: "enqueue keys",
		...clause`INSERT INTO ${table} (unique_key, local_id)
			VALUES ${joined(some.map(rowOf))} ${orKeep}`,
	}));
}

export function holdersOf(
	{ dialect, keys: table }: QueueTables,
	keys: readonly string[],
): Select<HeldKey> {
	return selectOf(
		"keys",
		["unique_key", "local_id"],
		clauseOf(dialect)`FROM ${table} WHERE ${dialect.isIn("unique_key", keys)}`,
		(rows) =>
			rows.map(([key, local]) => ({ key: String(key), local: localOf(local) })),
	);
}

/** Those that nobody else has locked, which this locks. */
export function freeKeys(
	{ dialect, keys: table }: QueueTables,
	keys: readonly string[],
): Select<string> {
	return selectOf(
		"free keys",
		["unique_key"],
		clauseOf(dialect)`FROM ${table} WHERE ${dialect.isIn("unique_key", keys)}
			${part(dialect.skipLocked)}`,
		(rows) => rows.map(([key]) => String(key)),
	);
}

/** Deletes the keys that these jobs hold. */
export function deleteKeys(
	{ dialect, keys: table }: QueueTables,
	rows: readonly JobRow[],
): readonly Write[] {
	const held = rows.flatMap(({ key, local }) =>
		key === null ? [] : [{ key, local }],
	);
	if (held.length === 0) return [];
	const keys = held.map(({ key }) => key).toSorted();
	return [
		{
			name: "delete keys",
			...clauseOf(dialect)`DELETE FROM ${table}
				WHERE ${dialect.isIn("unique_key", keys)}
					AND ${dialect.hasId(held.map(({ local }) => local))}`,
		},
	];
}
