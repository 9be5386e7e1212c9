import { type Id, packId, unpackId } from "../../id/ids.ts";
import type { Model, ObjectType } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import type { ShardLocation } from "../driver.ts";
import type { ObjectToCreate } from "../rows.ts";
import { newObjectId, parseStoredObject } from "../storedObject.ts";
import type { StatementBatch } from "./batch.ts";
import { batchedSelect } from "./batch.ts";
import { type Dialect, insertsOf, type Select, type Write } from "./dialect.ts";

/** Most rows of one INSERT, and about how many characters of data: servers accept packets of 16 MB. */
const INSERT_ROWS = 500;
const INSERT_LENGTH = 1_000_000;

/** The stored texts of objects of one type. */
export function objectTexts<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	table: string,
	locals: readonly number[],
): Select<string | null> {
	const texts = new Map<number, string | null>();
	for (const local of locals) texts.set(local, null);
	const { text, values } = dialect.isOneOf("local_id", texts.keys());
	return {
		name: `objects ${table}`,
		columns: ["local_id", "data"],
		rest: `FROM ${dialect.table(location, table)}
			WHERE ${text}`,
		values,
		read(rows) {
			for (const row of rows) texts.set(Number(row[0]), row[1] as string);
			return locals.map((local) => texts.get(local) ?? null);
		},
	};
}

/** Locks objects of one shard in the order of their ids. Those that exist go into `found`. */
export function lockObjects<P extends ShardLocation>(
	dialect: Dialect<P>,
	model: Model,
	batch: StatementBatch<P>,
	location: P,
	ids: readonly Id[],
	found: Map<Id, JsonObject>,
): void {
	for (const [type, some] of byType(model, ids)) {
		const { text, values } = dialect.isOneOf(
			"local_id",
			some.map((id) => unpackId(id).local),
		);
		const locked: Select<readonly unknown[]> = {
			name: `lock ${type.table}`,
			columns: ["local_id", "data"],
			// The index is named because a table scan, cheaper for a small table, locks all rows it reads.
			rest: `FROM ${dialect.table(location, type.table)}
				${dialect.index("primary")} WHERE ${text} ORDER BY local_id ${dialect.forUpdate}`,
			values,
			read: (rows) => rows,
		};
		batch.ask(
			location,
			batchedSelect(locked, (rows) => {
				for (const [local, data] of rows) {
					const id = packId({
						shard: location.number,
						type: type.number,
						local: Number(local),
					});
					found.set(id, parseStoredObject(id, data as string));
				}
			}),
		);
	}
}

/** The ids go into `ids`, in the order of the objects. */
export function insertObjects<P extends ShardLocation>(
	dialect: Dialect<P>,
	model: Model,
	batch: StatementBatch<P>,
	location: P,
	objects: readonly ObjectToCreate[],
	now: number,
	ids: Id[],
): void {
	const groups = Map.groupBy(objects.keys(), (index) => {
		const { type, local } = objects[index] as ObjectToCreate;
		return `${type} ${local !== undefined}`;
	});
	for (const indexes of groups.values()) {
		const some = indexes.map((index) => objects[index] as ObjectToCreate);
		const [{ type: typeName, local }] = some as [ObjectToCreate];
		const type = typeNamed(model, typeName);
		const hasIds = local !== undefined;
		const texts = some.map(({ data }) => JSON.stringify(data));
		const columns = hasIds ? "local_id, data, ts" : "data, ts";
		const into = `${dialect.table(location, type.table)} (${columns})`;
		const name = `insert ${type.table}`;
		for (const [first, part] of byLength(texts)) {
			const rows = part.map((data, at) =>
				hasIds ? [some[first + at]?.local ?? null, data, now] : [data, now],
			);
			let next = first;
			for (const write of insertsOf(dialect, { name, into, rows })) {
				const from = next;
				next += write.values.length / (hasIds ? 3 : 2);
				const own = indexes.slice(from, next);
				batch.write(location, write, ({ firstId }) => {
					for (const [nth, index] of own.entries()) {
						const given = (objects[index] as ObjectToCreate).local;
						ids[index] = newObjectId(
							location.number,
							type,
							given ?? firstId + nth,
						);
					}
				});
			}
		}
	}
}

/** Updates objects that exist. */
export function updateObjects<P extends ShardLocation>(
	dialect: Dialect<P>,
	model: Model,
	location: P,
	objects: ReadonlyMap<Id, JsonObject>,
	now: number,
): readonly Write[] {
	return byType(model, [...objects.keys()]).flatMap(([type, ids]) => {
		const table = dialect.table(location, type.table);
		const name = `update ${type.table}`;
		const texts = ids.map((id) => JSON.stringify(objects.get(id)));
		return [...byLength(texts)].flatMap(([first, some]): readonly Write[] => {
			const rows = some.map(
				(data, at) => [unpackId(ids[first + at] as Id).local, data] as const,
			);
			return rows.length === 1 || dialect.maxRows === 1
				? rows.map(([local, data]) => ({
						name,
						text: `UPDATE ${table} SET data = ?, ts = ? WHERE local_id = ?`,
						values: [data, now, local],
					}))
				: insertsOf(dialect, {
						name,
						into: `${table} (local_id, data, ts)`,
						rows: rows.map((row) => [...row, now]),
						orElse: dialect.orSet(["local_id"], ["data", "ts"]),
					});
		});
	});
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
