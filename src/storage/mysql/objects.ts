import { type Id, packId, unpackId } from "../../id/ids.ts";
import type { Model, ObjectType } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import { namesOf } from "../statements/dialect.ts";
import type { NewObject } from "../storage.ts";
import { newObjectId, parseStoredObject } from "../storedObject.ts";
import { tableIn } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { KeyOnShard, Shard } from "./shards.ts";
import { integers, unionAll, valuesOf } from "./sqlFragment.ts";
import type { StatementBatch } from "./statementBatch.ts";

/** Most rows of one INSERT, and about how many characters of data: the server accepts packets of 16 MB. */
const INSERT_ROWS = 500;
const INSERT_LENGTH = 1_000_000;

/** Objects of one host in one statement: an IN list for each table they are in. */
export async function readObjects(
	host: Host,
	model: Model,
	keys: readonly KeyOnShard<Id>[],
	options: QueryOptions,
): Promise<readonly (string | null)[]> {
	const tables: ReadTable[] = [];
	const shards = new Map<Shard, Map<number, ReadTable | null>>();
	const places: (ReadTable | null)[] = [];
	const locals: number[] = [];
	for (const { key, shard } of keys) {
		const { type, local } = unpackId(key);
		let types = shards.get(shard);
		if (types === undefined) {
			types = new Map();
			shards.set(shard, types);
		}
		let table = types.get(type);
		if (table === undefined) {
			const { table: name } = model.objectsByNumber.get(type) ?? {};
			table = name ? { shard, name, texts: new Map() } : null;
			types.set(type, table);
			if (table !== null) tables.push(table);
		}
		table?.texts.set(local, null);
		locals.push(local);
		places.push(table);
	}
	if (tables.length === 0) return keys.map(() => null);
	const found = await host.rows(
		unionAll(
			`objects ${namesOf(tables.map(({ name }) => name))}`,
			tables.map(({ shard, name, texts }, part) => ({
				text: `SELECT ${part} AS part, local_id, data FROM ${tableIn(shard.database, name)}
					WHERE local_id IN (${integers(texts.keys())})`,
				values: [],
			})),
		),
		options,
	);
	for (const [part, local, data] of found) {
		tables[Number(part)]?.texts.set(Number(local), data as string);
	}
	return locals.map((local, at) => places[at]?.texts.get(local) ?? null);
}

/** Objects to read from a table, by local id: their texts once they are read. */
interface ReadTable {
	readonly shard: Shard;
	readonly name: string;
	readonly texts: Map<number, string | null>;
}

/** Locks objects of one shard in the order of their ids. Those that exist go into `found`. */
export function lockObjects(
	batch: StatementBatch,
	model: Model,
	shard: Shard,
	ids: readonly Id[],
	found: Map<Id, JsonObject>,
): void {
	for (const [type, some] of byType(model, ids)) {
		batch.rows(
			{
				name: `lock ${type.table}`,
				// The index is forced because a table scan, cheaper for a small table, locks all rows it reads.
				text: `SELECT local_id, data FROM ${tableIn(shard.database, type.table)}
					FORCE INDEX (PRIMARY) WHERE local_id IN (?) ORDER BY local_id FOR UPDATE`,
				values: [some.map((id) => unpackId(id).local)],
			},
			(rows) => {
				for (const [local, data] of rows) {
					const id = packId({
						shard: shard.number,
						type: type.number,
						local: Number(local),
					});
					found.set(id, parseStoredObject(id, data as string));
				}
			},
		);
	}
}

/** The ids go into `ids`, in the order of the objects. */
export function insertObjects(
	batch: StatementBatch,
	model: Model,
	shard: Shard,
	objects: readonly NewObject[],
	now: number,
	ids: Id[],
): void {
	const types = Map.groupBy(objects.keys(), (index) =>
		typeNamed(model, (objects[index] as NewObject).type),
	);
	for (const [type, indexes] of types) {
		const texts = indexes.map((index) =>
			JSON.stringify((objects[index] as NewObject).data),
		);
		for (const [first, some] of byLength(texts)) {
			const { text, values } = valuesOf(some.map((data) => [data, now]));
			batch.run(
				{
					name: `insert ${type.table}`,
					text: `INSERT INTO ${tableIn(shard.database, type.table)} (data, ts) VALUES ${text}`,
					values,
				},
				({ insertId }) => {
					// InnoDB gives the rows of one INSERT consecutive ids when it knows their number beforehand.
					some.forEach((_, at) => {
						const index = indexes[first + at] as number;
						ids[index] = newObjectId(shard.number, type, Number(insertId) + at);
					});
				},
			);
		}
	}
}

/** Updates objects that exist. */
export function updateObjects(
	batch: StatementBatch,
	model: Model,
	shard: Shard,
	objects: ReadonlyMap<Id, JsonObject>,
	now: number,
): void {
	for (const [type, ids] of byType(model, [...objects.keys()])) {
		const texts = ids.map((id) => JSON.stringify(objects.get(id)));
		for (const [first, some] of byLength(texts)) {
			batch.run(
				updateStatement(
					shard,
					type,
					some.map((data, at) => ({
						local: unpackId(ids[first + at] as Id).local,
						data,
					})),
					now,
				),
			);
		}
	}
}

function updateStatement(
	shard: Shard,
	type: ObjectType,
	rows: readonly { readonly local: number; readonly data: string }[],
	now: number,
): Sql {
	const table = tableIn(shard.database, type.table);
	const name = `update ${type.table}`;
	const [only] = rows;
	if (rows.length === 1 && only !== undefined) {
		return {
			name,
			text: `UPDATE ${table} SET data = ?, ts = ? WHERE local_id = ?`,
			values: [only.data, now, only.local],
		};
	}
	const { text, values } = valuesOf(
		rows.map(({ local, data }) => [local, data, now]),
	);
	// VALUES() and not a row alias, which MariaDB does not have.
	return {
		name,
		text: `INSERT INTO ${table} (local_id, data, ts) VALUES ${text}
			ON DUPLICATE KEY UPDATE data = VALUES(data), ts = VALUES(ts)`,
		values,
	};
}

export function typeNamed(model: Model, name: string): ObjectType {
	const type = model.objects.get(name);
	if (type === undefined) {
		throw new TypeError(`The model has no type ${name}.`);
	}
	return type;
}

/** Ids by type, without duplicates, in the order in which every transaction locks them. */
function byType(
	model: Model,
	ids: readonly Id[],
): readonly (readonly [ObjectType, readonly Id[]])[] {
	const numbers = Map.groupBy(new Set(ids), (id) => unpackId(id).type);
	return [...numbers]
		.sort(([a], [b]) => a - b)
		.flatMap(([number, some]) => {
			const type = model.objectsByNumber.get(number);
			return type === undefined ? [] : [[type, some] as const];
		});
}

/** Texts for one statement at a time, with the index of the first. */
function* byLength(
	texts: readonly string[],
): Generator<readonly [number, readonly string[]]> {
	let first = 0;
	while (first < texts.length) {
		let next = first;
		let length = 0;
		do {
			length += texts[next]?.length ?? 0;
			next += 1;
		} while (
			next < texts.length &&
			next - first < INSERT_ROWS &&
			length + (texts[next]?.length ?? 0) <= INSERT_LENGTH
		);
		yield [first, texts.slice(first, next)];
		first = next;
	}
}
