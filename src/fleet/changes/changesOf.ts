import { isActive } from "../../graph/read/visibilityPolicy.ts";
import { type Id, packId, parseStoredId, typeOf } from "../../id/ids.ts";
import type { Mapping, Model, ObjectType } from "../../model/types.ts";
import { isErased } from "../../ops/personal/eraseUser.ts";
import type {
	BinlogTable,
	BinlogTransaction,
	Cells,
	RowChange,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import { PRESENT } from "../../storage/rows.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Change, EdgeChange } from "./changeTypes.ts";
import type { SelectedField, Selection } from "./selection.ts";

/** A table whose rows are changes: of objects of a type, or of edges. */
export interface ChangedTable extends BinlogTable {
	readonly shard: number;
	/** Whether it is what a former host keeps of a shard: only a mover writes it. */
	readonly isParked: boolean;
	readonly of: ObjectType | Mapping;
}

/** A table that only the mover of shards writes: what it does in the same transaction is a copy. */
export interface FerryTable extends BinlogTable {
	readonly of: null;
}

export type FollowedTable = ChangedTable | FerryTable;

type Draft = {
	-readonly [K in keyof Change]: K extends "edges" ? EdgeChange[] : Change[K];
};

/**
 * What a transaction changed, in SDL terms, in the order of its rows: one change
 * for each object, with the edges of its lists. An object exists for nobody until
 * it has its natural keys, and when it is deleted, so that is when it is created
 * and deleted here. Rows that say nothing new are left out: those of an edge that
 * was renumbered, or whose row was purged.
 */
export function changesOf(
	{
		gtid,
		at,
		rows,
	}: Pick<BinlogTransaction<FollowedTable>, "gtid" | "at" | "rows">,
	model: Model,
	selection: Selection,
): readonly Change[] {
	if (isCopy(rows)) return [];
	const time = new Date(at).toISOString();
	const changes = new Map<Id, Draft>();
	const draft = (type: string, id: Id, shard: number): Draft => {
		const known = changes.get(id);
		if (known !== undefined) return known;
		const made: Draft = {
			type,
			id,
			op: "edges",
			shard,
			at: time,
			position: gtid,
		};
		changes.set(id, made);
		return made;
	};
	for (const row of rows as readonly RowChange<ChangedTable>[]) {
		const { shard, of } = row.table;
		if ("number" in of) {
			const change = objectChange(row, of, selection);
			if (change === null) continue;
			const object = draft(of.name, change.id, shard);
			if (change.op === "erase") object.op = "erase";
			else merge(object, change);
		} else {
			const change = edgeChange(row, of);
			if (change === null) continue;
			const type = model.objectsByNumber.get(typeOf(change.from));
			if (type === undefined) continue;
			const owner = draft(type.name, change.from, shard);
			owner.edges = [...(owner.edges ?? []), change.edge];
		}
	}
	return [...changes.values()] as readonly Change[];
}

/** Whether a mover of shards wrote it, and no client. */
function isCopy(rows: readonly RowChange<FollowedTable>[]): boolean {
	return rows.some(({ table }) => table.of === null || table.isParked);
}

/** The shards of which a mover wrote something here: another server has them. */
export function copiedShards({
	rows,
}: BinlogTransaction<FollowedTable>): ReadonlySet<number> {
	const shards = new Set<number>();
	if (!isCopy(rows)) return shards;
	for (const { table } of rows) {
		if (table.of !== null) shards.add(table.shard);
	}
	return shards;
}

type ObjectChange =
	| Required<Pick<Change, "id" | "op" | "before" | "after">>
	| { readonly id: Id; readonly op: "erase" };

function objectChange(
	{ table, before, after }: RowChange<ChangedTable>,
	type: ObjectType,
	{ fields }: Selection,
): ObjectChange | null {
	const local = Number(cellOf(table, (after ?? before) as Cells, "local_id"));
	const id = packId({ shard: table.shard, type: type.number, local });
	const selected = fields.get(type.name);
	if (selected === undefined) return null;
	const parsed = (cells: Cells | null) =>
		cells && parseJsonObject(cellOf(table, cells, "data"));
	const [was, is] = [parsed(before), parsed(after)];
	const old = was && isActive({ data: was }) ? was : null;
	const next = is && isActive({ data: is }) ? is : null;
	if (old === null && next === null) {
		const isErasure = was && is && !isErased(was) && isErased(is);
		return isErasure ? { id, op: "erase" } : null;
	}
	return {
		id,
		op: old === null ? "create" : next === null ? "delete" : "update",
		before: old && named(old, selected),
		after: next && named(next, selected),
	};
}

/** A transaction may write a row twice. */
function merge(
	draft: Draft,
	change: Exclude<ObjectChange, { readonly op: "erase" }>,
): void {
	const isFirst = draft.op === "edges";
	draft.before = isFirst ? change.before : (draft.before ?? null);
	draft.after = change.after;
	draft.op =
		draft.before === null
			? "create"
			: change.after === null
				? "delete"
				: "update";
}

function named(
	data: JsonObject,
	fields: ReadonlyMap<string, SelectedField>,
): JsonObject {
	return Object.fromEntries(
		[...fields].map(([field, selected]) => [
			field,
			data[selected.key] ?? selected.default,
		]),
	);
}

function edgeChange(
	{ table, before, after }: RowChange<ChangedTable>,
	{ field }: Mapping,
): { readonly from: Id; readonly edge: EdgeChange } | null {
	const edge = (cells: Cells | null) =>
		cells && {
			from: parseStoredId(cellOf(table, cells, "from_id")),
			to: parseStoredId(cellOf(table, cells, "to_id")),
			sequence: Number(cellOf(table, cells, "sequence")),
			isPresent: Number(cellOf(table, cells, "state")) === PRESENT,
			version: cellOf(table, cells, "version"),
		};
	const old = edge(before);
	const next = edge(after);
	const was = old?.isPresent ?? false;
	const is = next?.isPresent ?? false;
	const { from, to, sequence } = (next ?? old) as NonNullable<typeof next>;
	if (!was && !is) return null;
	// Only its number among its neighbors is another one.
	if (was && is && old?.version === next?.version) return null;
	const op = was && is ? "move" : is ? "add" : "remove";
	return { from, edge: { field, op, to, sequence } };
}

function cellOf(table: BinlogTable, cells: Cells, column: string): string {
	const at = table.columns.findIndex(({ name }) => name === column);
	return String(cells[at] ?? "");
}
