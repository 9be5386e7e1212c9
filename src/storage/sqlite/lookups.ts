import type { StatementTrace } from "../../diagnostics.ts";
import type { Id } from "../../id/ids.ts";
import type { LookupChange, LookupKey, LookupRow } from "../storage.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

const COLUMNS = "name, key, CAST(id AS TEXT) AS id, token";

const READ: Sql = {
	name: "lookups",
	text: `SELECT ${COLUMNS} FROM lookups
		WHERE (name, key) IN (SELECT value->>0, value->>1 FROM json_each(?))`,
};

const INSERT: Sql = {
	name: "insert lookup",
	text: `INSERT INTO lookups (name, key, id, token) VALUES (?, ?, ?, ?)
		ON CONFLICT (name, key) DO NOTHING`,
};

const REPLACE: Sql = {
	name: "replace lookup",
	text: `UPDATE lookups SET id = ?, token = ?
		WHERE name = ? AND key = ? AND id = ? AND token = ?`,
};

const DELETE: Sql = {
	name: "delete lookup",
	text: "DELETE FROM lookups WHERE name = ? AND key = ? AND id = ? AND token = ?",
};

const WALK: Sql = {
	name: "walk lookups",
	text: `SELECT ${COLUMNS} FROM lookups
		WHERE (name, key) > (?, ?) ORDER BY name, key LIMIT ?`,
};

interface StoredLookup {
	readonly name: string;
	readonly key: string;
	readonly id: string;
	readonly token: string;
}

function rowOf({ name, key, id, token }: StoredLookup): LookupRow {
	return { name, key, id: id as Id, token: token };
}

/** Reads keys of one mod shard. */
export function readLookups(
	connection: SqliteConnection,
	keys: readonly LookupKey[],
	trace?: StatementTrace,
): readonly (LookupRow | null)[] {
	const rows = connection.rows<StoredLookup>(
		READ,
		[JSON.stringify(keys.map(({ name, key }) => [name, key]))],
		trace,
	);
	const found = new Map(
		rows.map((row) => [JSON.stringify([row.name, row.key]), rowOf(row)]),
	);
	return keys.map(
		({ name, key }) => found.get(JSON.stringify([name, key])) ?? null,
	);
}

/**
 * Changes on one mod shard, in order, each by compare-and-set on its own row.
 * They share one transaction, and so one fsync.
 */
export function changeLookups(
	connection: SqliteConnection,
	changes: readonly LookupChange[],
	trace?: StatementTrace,
): readonly (LookupRow | null)[] {
	return connection.transaction(
		() =>
			changes.map((change) => {
				changeLookup(connection, change);
				return readLookups(connection, [change])[0] ?? null;
			}),
		trace,
	);
}

function changeLookup(
	connection: SqliteConnection,
	{ name, key, expect, next }: LookupChange,
): void {
	if (expect === null) {
		if (next === null) return;
		connection.run(INSERT, [name, key, BigInt(next.id), next.token]);
	} else if (next === null) {
		connection.run(DELETE, [name, key, BigInt(expect.id), expect.token]);
	} else {
		connection.run(REPLACE, [
			BigInt(next.id),
			next.token,
			name,
			key,
			BigInt(expect.id),
			expect.token,
		]);
	}
}

export function walkLookups(
	connection: SqliteConnection,
	after: LookupKey | null,
	limit: number,
): readonly LookupRow[] {
	return connection
		.rows<StoredLookup>(WALK, [after?.name ?? "", after?.key ?? "", limit])
		.map(rowOf);
}
