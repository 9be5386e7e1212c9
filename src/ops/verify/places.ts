import { type Id, parseId, unpackId } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import { databaseOfShard } from "../../storage/feedShards.ts";
import { type Edge, PRESENT } from "../../storage/rows.ts";
import type { StorageMap } from "../../storage/storage.ts";

/** Where a row is, as an operator finds it: the shard's database and the table, and the row's key there. */
interface RowLocation {
	readonly table: string;
	readonly row: string;
}

/** The name of a shard's database, of which `db` holds the graph and `mod` the lookups. */
export function databaseName(kind: "db" | "mod", shard: number): string {
	return `${kind}${String(shard).padStart(5, "0")}`;
}

/** The table of the outbox that has a shard's entries. */
export function outboxOf(
	{ hasSingleWriter, hostOf }: Pick<StorageMap, "hasSingleWriter" | "hostOf">,
	shard: number,
): string {
	return hasSingleWriter
		? `${databaseOfShard(shard)}.outbox`
		: `corkboard.outbox of ${hostOf(shard)}`;
}

export function placeOfObject(model: Model, id: Id): RowLocation {
	const { shard, type, local } = unpackId(id);
	const table = model.objectsByNumber.get(type)?.table ?? `type ${type}`;
	return {
		table: `${databaseName("db", shard)}.${table}`,
		row: `local_id ${local}`,
	};
}

export function placeOfEdge(
	{ table }: Mapping,
	{ from, to }: Pick<Edge, "from" | "to">,
	shard = unpackId(from).shard,
): RowLocation {
	return {
		table: `${databaseOfShard(shard)}.${table}`,
		row: `from_id ${from}, to_id ${to}`,
	};
}

export function placeOfList(
	{ name }: Mapping,
	from: Id,
	shard = unpackId(from).shard,
): RowLocation {
	return {
		table: `${databaseOfShard(shard)}.lists`,
		row: `from_id ${from}, mapping ${name}`,
	};
}

/** `Board 123`, or `123, which is of no type,`. */
export function nameOfObject(model: Model, id: Id): string {
	return `${typeName(model, id) ?? "object"} ${id}`;
}

/** Null for an id of no type, and for what is stored as an id and is none. */
export function typeName(model: Model, id: Id): string | null {
	const parsed = parseId(id);
	if (parsed === "malformed" || parsed === "reserved") return null;
	return model.objectsByNumber.get(unpackId(parsed).type)?.name ?? null;
}

export function describeEdge(mapping: Mapping, edge: Edge): string {
	return `${mapping.name} ${edge.from} → ${edge.to}: ${describeState(edge)}`;
}

export function describeState({ state, version, sequence }: Edge): string {
	const is = state === PRESENT ? "present" : "removed";
	return `${is}, version ${version}, sequence ${sequence}`;
}
