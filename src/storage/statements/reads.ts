import { type Id, rowIds, unpackId } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { KeyAt, ShardLocation } from "../driver.ts";
import { ownerOf } from "../portCall.ts";
import { PRESENT } from "../rows.ts";
import type { ReadKey, ReadKind, ReadResult } from "../storage.ts";
import type { Clause, Dialect, Select } from "./dialect.ts";
import { edgesBetween } from "./edges.ts";
import { objectTexts } from "./objects.ts";
import { lookupColumns, lookupOf } from "./rows.ts";

/** The kinds that every database reads by the same statements. */
export type CommonKind = Exclude<
	ReadKind,
	"lists" | "entries" | "outboxes" | "outboxSizes"
>;

/** The SELECT for keys of one shard. */
interface CommonRead<K extends CommonKind> {
	/** The table of a key, null for none: one SELECT has all keys of a table. Absent: each key has its own SELECT. */
	readonly tableOf?: (model: Model, key: ReadKey<K>) => string | null;
	readonly select: <P extends ShardLocation>(
		dialect: Dialect<P>,
		model: Model,
		location: P,
		/** Keys of one table; one key, without `tableOf`. */
		keys: readonly [ReadKey<K>, ...ReadKey<K>[]],
	) => Select<ReadResult<K>>;
}

export const READS: { readonly [K in CommonKind]: CommonRead<K> } = {
	objects: {
		tableOf: tableOfObject,
		select: (dialect, model, location, ids) =>
			objectTexts(
				dialect,
				location,
				tableOfObject(model, ids[0]) ?? "",
				ids.map((id) => unpackId(id).local),
			),
	},
	edges: {
		tableOf: (_, { mapping }) => mapping.table,
		select: (dialect, _, location, keys) =>
			edgesBetween(dialect, location, keys[0].mapping, keys),
	},
	renumberings: {
		select: (dialect, _, location, [{ mapping, from, since }]) => ({
			name: "renumberings",
			columns: [
				"epoch",
				"low_sequence",
				dialect.id("low_to"),
				"high_sequence",
				dialect.id("high_to"),
				"shift",
			],
			rest: `FROM ${dialect.table(location, "renumberings")}
				WHERE from_id = ? AND mapping = ? AND epoch > ?`,
			values: [BigInt(from), mapping.name, since],
			read: (rows) => [
				rows
					.map(([epoch, low, lowTo, high, highTo, by]) => ({
						epoch: Number(epoch),
						low: { sequence: Number(low), to: lowTo as Id },
						high: { sequence: Number(high), to: highTo as Id },
						by: Number(by),
					}))
					.sort((a, b) => a.epoch - b.epoch),
			],
		}),
	},
	counts: {
		select(dialect, _, location, [{ mapping, from }]) {
			const table = (name: string) => dialect.table(location, name);
			const { number } = dialect;
			const id = BigInt(from);
			return {
				name: `count ${mapping.name}`,
				columns: [
					number("COALESCE(list.count, 0)"),
					number("COALESCE(list.last_sequence, 0)"),
					number("COALESCE(list.epoch, 0)"),
					"counted.edges",
					number("counted.highest"),
					number("renumbered.newest"),
				],
				rest: `FROM (SELECT COUNT(*) AS edges, COALESCE(MAX(sequence), 0) AS highest
						FROM ${table(mapping.table)} ${dialect.index("primary")}
						WHERE from_id = ? AND state = ${PRESENT}) AS counted
					CROSS JOIN (SELECT COALESCE(MAX(epoch), 0) AS newest
						FROM ${table("renumberings")}
						WHERE from_id = ? AND mapping = ?) AS renumbered
					LEFT JOIN ${table("lists")} AS list
						ON list.from_id = ? AND list.mapping = ?`,
				values: [id, id, mapping.name, id, mapping.name],
				read([row = []]) {
					const [count = 0, lastSequence = 0, epoch = 0, ...others] =
						row.map(Number);
					const [edges = 0, highest = 0, newestEpoch = 0] = others;
					const list = { from, count, lastSequence, epoch };
					return [{ ...list, edges, highest, newestEpoch }];
				},
			};
		},
	},
	/**
	 * A range of the primary key: the rows of the objects that own lists of this
	 * mapping. An index by count would have to be written with each change of any count.
	 */
	longestLists: {
		select: (dialect, model, location, [{ mapping, limit }]) => ({
			name: `longest lists of ${mapping.name}`,
			columns: [dialect.id("from_id"), dialect.number("count")],
			rest: `FROM ${dialect.table(location, "lists")} AS list ${dialect.index("primary")}
				WHERE from_id BETWEEN ? AND ? AND mapping = ? AND list.count > 0
				ORDER BY list.count DESC, from_id LIMIT ${limit}`,
			values: [
				...rowIds(location.number, ownerOf(model, mapping)),
				mapping.name,
			],
			read: (rows) => [
				rows.map(([from, count]) => ({
					from: from as Id,
					count: Number(count),
				})),
			],
		}),
	},
	lookups: {
		tableOf: () => "lookups",
		select(dialect, _, location, keys) {
			const names = Map.groupBy(keys, ({ name }) => name);
			const clauses = [...names].map(([name, some]): Clause => {
				const { text, values } = dialect.isIn(
					dialect.name("key"),
					some.map(({ key }) => key),
				);
				return { text: `(name = ? AND ${text})`, values: [name, ...values] };
			});
			return {
				name: "lookups",
				columns: lookupColumns(dialect),
				rest: `FROM ${dialect.table(location, "lookups")}
					WHERE ${clauses.map(({ text }) => text).join(" OR ")}`,
				values: clauses.flatMap(({ values }) => values),
				read(rows) {
					const nameOf = (row: ReadKey<"lookups">) =>
						JSON.stringify([row.name, row.key]);
					const found = new Map(
						rows.map(lookupOf).map((row) => [nameOf(row), row]),
					);
					return keys.map((key) => found.get(nameOf(key)) ?? null);
				},
			};
		},
	},
};

function tableOfObject(model: Model, id: Id): string | null {
	return model.objectsByNumber.get(unpackId(id).type)?.table ?? null;
}

/** The SELECTs for keys of one host, and which keys each is for. */
export function selectsOf<K extends CommonKind, P extends ShardLocation>(
	kind: K,
	dialect: Dialect<P>,
	model: Model,
	keys: readonly KeyAt<ReadKey<K>, P>[],
): readonly {
	readonly select: Select<ReadResult<K>>;
	readonly at: readonly number[];
}[] {
	const { tableOf, select } = READS[kind] as CommonRead<K>;
	const parts: { readonly shard: P; readonly at: number[] }[] = [];
	const shards = new Map<P, Map<string, number[]>>();
	for (const [at, { shard, key }] of keys.entries()) {
		if (tableOf === undefined) {
			parts.push({ shard, at: [at] });
			continue;
		}
		const table = tableOf(model, key);
		if (table === null) continue;
		let tables = shards.get(shard);
		if (tables === undefined) {
			tables = new Map();
			shards.set(shard, tables);
		}
		const together = tables.get(table);
		if (together === undefined) {
			const part = { shard, at: [at] };
			tables.set(table, part.at);
			parts.push(part);
		} else together.push(at);
	}
	return parts.map(({ shard, at }) => {
		const some = at.map((each) => keys[each]?.key as ReadKey<K>);
		const [first, ...others] = some as [ReadKey<K>];
		return { select: select(dialect, model, shard, [first, ...others]), at };
	});
}
