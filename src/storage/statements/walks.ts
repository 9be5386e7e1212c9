import { MAX_LOCAL, packId, unpackId } from "../../id/ids.ts";
import type { Model, ObjectType } from "../../model/types.ts";
import type { ShardLocation } from "../driver.ts";
import type { WalkKind, WalkOf, WalkRow } from "../storage.ts";
import type { Dialect, Select } from "./dialect.ts";
import {
	edgeColumns,
	edgeOf,
	entryColumns,
	entryOf,
	listColumns,
	listOf,
	lookupColumns,
	lookupOf,
} from "./rows.ts";

/** The SELECT of the next rows of a table, in the order of a key: after `last`, or from the beginning. */
type Walk<K extends WalkKind> = <P extends ShardLocation>(
	dialect: Dialect<P>,
	model: Model,
	location: P,
	of: WalkOf<K>,
	last: WalkRow<K> | null,
	limit: number,
) => Select<WalkRow<K>>;

export const WALKS: { readonly [K in WalkKind]: Walk<K> } = {
	objects(dialect, model, location, [, name], last, limit) {
		const type = model.objects.get(name) as ObjectType;
		const { number: shard } = location;
		return {
			name: `walk ${type.table}`,
			columns: ["local_id", "data"],
			rest: `FROM ${dialect.table(location, type.table)}
				WHERE local_id > ? AND local_id <= ${MAX_LOCAL}
				ORDER BY local_id LIMIT ${limit}`,
			values: [last === null ? 0 : unpackId(last.id).local],
			read: (rows) =>
				rows.map(([local, data]) => ({
					id: packId({ shard, type: type.number, local: Number(local) }),
					data: data as string,
				})),
		};
	},
	// By both ends: an edge that moves meanwhile is still returned once.
	edges(dialect, _, location, [, mapping, start], last, limit) {
		const after = last ?? start;
		const { text, values } = dialect.isAfter(
			["from_id", "to_id"],
			[BigInt(after?.from ?? -1), BigInt(after?.to ?? -1)],
		);
		return {
			name: `walk ${mapping.name}`,
			columns: edgeColumns(dialect),
			rest: `FROM ${dialect.table(location, mapping.table)} ${dialect.index("edge")}
				WHERE ${text} ORDER BY from_id, to_id LIMIT ${limit}`,
			values,
			read: (rows) => rows.map(edgeOf),
		};
	},
	lists(dialect, _, location, [, mapping, start], last, limit) {
		return {
			name: "walk lists",
			columns: listColumns(dialect),
			rest: `FROM ${dialect.table(location, "lists")}
				WHERE from_id > ? AND mapping = ? ORDER BY from_id LIMIT ${limit}`,
			values: [BigInt(last?.from ?? start ?? -1), mapping.name],
			read: (rows) => rows.map(listOf),
		};
	},
	outbox(dialect, _, __, shards, last, limit) {
		const { table, shard, isOf } = dialect.outbox.of(shards);
		return {
			name: "walk outbox",
			columns: entryColumns(dialect, shard),
			rest: `FROM ${table} WHERE local_id > ? AND ${isOf.text}
				ORDER BY local_id LIMIT ${limit}`,
			values: [last?.local ?? 0, ...isOf.values],
			read: (rows) => rows.map(entryOf),
		};
	},
	lookups(dialect, _, location, [, name], last, limit) {
		const key = dialect.name("key");
		const { text, values } =
			name === undefined
				? dialect.isAfter(["name", key], [last?.name ?? "", last?.key ?? ""])
				: {
						text: `name = ? AND ${key} > ?`,
						values: [name, last?.key ?? ""],
					};
		return {
			name: "walk lookups",
			columns: lookupColumns(dialect),
			rest: `FROM ${dialect.table(location, "lookups")}
				WHERE ${text} ORDER BY name, ${key} LIMIT ${limit}`,
			values,
			read: (rows) => rows.map(lookupOf),
		};
	},
};
