import type { Model } from "../../model/types.ts";
import type { StatementTrace } from "../../trace.ts";
import type { KeyAt, Place } from "../driver.ts";
import type { LookupChange, LookupRow } from "../storage.ts";
import { readCommon } from "./dialect.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

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

/**
 * Changes on one mod shard, in order, each by compare-and-set on its own row.
 * They share one transaction, and so one fsync.
 */
export function changeLookups(
	model: Model,
	connection: SqliteConnection,
	changes: readonly KeyAt<LookupChange, Place>[],
	trace?: StatementTrace,
): readonly (LookupRow | null)[] {
	return connection.transaction(
		() =>
			changes.map((change) => {
				changeLookup(connection, change.key);
				return readCommon("lookups", model, connection, [change])[0] ?? null;
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
