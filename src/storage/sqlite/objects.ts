import { type Id, unpackId } from "../../id/ids.ts";
import type { Model, ObjectType } from "../../model/types.ts";
import type { Trace } from "../../trace.ts";
import type { JsonObject } from "../../util/json.ts";
import { newObjectId } from "../storedObject.ts";
import { quoted } from "./ddl.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";
import { readInGroups } from "./readInGroups.ts";

/** Statements on objects, by the type's number. */
export type ObjectStatements = ReadonlyMap<number, TypeStatements>;

export interface TypeStatements {
	readonly type: ObjectType;
	readonly read: Sql;
	readonly insert: Sql;
	readonly update: Sql;
}

export function objectStatements(model: Model): ObjectStatements {
	return new Map(
		[...model.objects.values()].map((type) => {
			const table = quoted(type.table);
			const statements: TypeStatements = {
				type,
				// With json_each, a list of any length is one prepared statement.
				read: {
					name: `objects ${type.table}`,
					text: `SELECT local_id, data FROM ${table}
						WHERE local_id IN (SELECT value FROM json_each(?))`,
				},
				insert: {
					name: `insert ${type.table}`,
					text: `INSERT INTO ${table} (data, ts) VALUES (?, ?)`,
				},
				update: {
					name: `update ${type.table}`,
					text: `UPDATE ${table} SET data = ?, ts = ? WHERE local_id = ?`,
				},
			};
			return [type.number, statements];
		}),
	);
}

interface ObjectRow {
	readonly local_id: number;
	readonly data: string;
}

/** Reads objects of one shard. */
export function readObjects(
	connection: SqliteConnection,
	statements: ObjectStatements,
	ids: readonly Id[],
	trace?: Trace,
): readonly (string | null)[] {
	const parts = ids.map(unpackId);
	return readInGroups(
		parts,
		({ type }) => type,
		(number, keys) => {
			const type = statements.get(number);
			if (type === undefined) return keys.map(() => null);
			const locals = keys.map(({ local }) => local);
			const rows = connection.rows<ObjectRow>(
				type.read,
				[JSON.stringify(locals)],
				trace,
			);
			const found = new Map(rows.map((row) => [row.local_id, row.data]));
			return locals.map((local) => found.get(local) ?? null);
		},
	);
}

export function insertObject(
	connection: SqliteConnection,
	{ type, insert }: TypeStatements,
	shard: number,
	data: JsonObject,
	now: number,
): Id {
	const local = connection.run(insert, [JSON.stringify(data), now]).insertedAs;
	return newObjectId(shard, type, local);
}

export function updateObject(
	connection: SqliteConnection,
	statements: ObjectStatements,
	id: Id,
	data: JsonObject,
	now: number,
): void {
	const { type, local } = unpackId(id);
	const { update } = statements.get(type) as TypeStatements;
	connection.run(update, [JSON.stringify(data), now, local]);
}
