import { CorkboardError } from "../../errors.ts";
import { type Id, packId, parseStoredId } from "../../id/ids.ts";
import { RESERVED_LOOKUPS } from "../../model/reservedNames.ts";
import type { Mapping, Model, ObjectType } from "../../model/types.ts";
import type {
	BinlogTable,
	BinlogTransaction,
	Cells,
	RowChange,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import type { Edge, EdgeState, LookupRow } from "../../storage/rows.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject } from "../../util/json.ts";
import { HOST_DATABASE } from "../map/databases.ts";

/**
 * What a row was before the first lost transaction that changed it, and what it
 * was after the last one. Null: there was no such row.
 */
export interface Lost<Row> {
	readonly before: Row | null;
	readonly after: Row | null;
	/** The last transaction that changed it, and when. */
	readonly gtid: string;
	readonly at: number;
}

export interface LostObject extends Lost<JsonObject> {
	readonly id: Id;
	readonly type: ObjectType;
}

export interface LostEdge extends Lost<Edge> {
	readonly mapping: Mapping;
	readonly from: Id;
	readonly to: Id;
}

export type LookupValue = Pick<LookupRow, "id" | "token">;

export interface LostLookup extends Lost<LookupValue> {
	readonly name: string;
	readonly key: string;
	readonly modShard: number;
}

/** An outbox entry as it was inserted: what was delivered of it before the primary died is delivered again. */
export interface LostEntry {
	readonly shard: number;
	readonly local: number;
	readonly entry: JsonObject | null;
}

/** More rows than a failover loses, and than a process holds. */
const MOST_ROWS = 1_000_000;

/**
 * What the transactions of a binary log came to, row by row. Rows of lists
 * (counts) and of renumberings are not kept: they follow from edges. Neither are
 * those of tables that the model does not know.
 */
export class LostRows {
	readonly objects = new Map<Id, LostObject>();
	readonly edges = new Map<string, LostEdge>();
	readonly lookups = new Map<string, LostLookup>();
	readonly entries = new Map<string, LostEntry>();
	/** Shards, and mod shards, of which something was lost. */
	readonly shards = new Set<number>();
	readonly modShards = new Set<number>();
	/** Rows whose text cannot be read, as `db00003.pins 17`. */
	readonly unreadable: string[] = [];
	transactions = 0;
	/** When the first and the last were committed. Milliseconds since 1970. */
	from: number | null = null;
	until: number | null = null;
	readonly #types: ReadonlyMap<string, ObjectType>;
	readonly #mappings: ReadonlyMap<string, Mapping>;
	/** Names of lookups that lead to objects. */
	readonly #lookups: ReadonlySet<string>;
	#rows = 0;

	constructor(model: Model) {
		this.#types = new Map(
			[...model.objects.values()].map((type) => [type.table, type]),
		);
		this.#mappings = new Map(
			[...model.mappings.values()].map((mapping) => [mapping.table, mapping]),
		);
		const { idempotency, import: imported } = RESERVED_LOOKUPS;
		this.#lookups = new Set([...model.lookups.keys(), idempotency, imported]);
	}

	add({ gtid, at, rows, isComplete }: BinlogTransaction): void {
		if (isComplete) this.transactions++;
		this.from ??= at;
		this.until = at;
		this.#rows += rows.length;
		if (this.#rows > MOST_ROWS) {
			throw new CorkboardError(
				"CONFLICT",
				`More than ${MOST_ROWS} rows are missing, which is no failover but a replica that was far behind. Restore what is missed from the old primary by hand.`,
			);
		}
		for (const row of rows) this.#addRow(row, { gtid, at });
	}

	#addRow(row: RowChange, last: Pick<Lost<never>, "gtid" | "at">): void {
		const { database, name } = row.table;
		if (database === HOST_DATABASE) {
			if (name === "outbox") this.#addEntry(row);
			return;
		}
		const number = Number(database.slice(-5));
		if (database.startsWith("mod")) {
			if (name === "lookups") this.#addLookup(row, number, last);
			return;
		}
		const type = this.#types.get(name);
		const mapping = this.#mappings.get(name);
		if (type !== undefined) this.#addObject(row, type, number, last);
		else if (mapping !== undefined) this.#addEdge(row, mapping, number, last);
	}

	#addObject(
		{ table, before, after }: RowChange,
		type: ObjectType,
		shard: number,
		last: Pick<Lost<never>, "gtid" | "at">,
	): void {
		const local = Number(cellOf(table, before ?? after, "local_id"));
		const id = packId({ shard, type: type.number, local });
		const content = (cells: Cells | null) =>
			cells === null ? null : parseJsonObject(cellOf(table, cells, "data"));
		const next = content(after);
		const first = content(before);
		this.shards.add(shard);
		if ((after !== null && next === null) || (before !== null && !first)) {
			this.unreadable.push(`${table.database}.${table.name} ${local}`);
			this.objects.delete(id);
			return;
		}
		const known = this.objects.get(id);
		this.objects.set(id, {
			id,
			type,
			...last,
			before: known === undefined ? first : known.before,
			after: next,
		});
	}

	#addEdge(
		{ table, before, after }: RowChange,
		mapping: Mapping,
		shard: number,
		last: Pick<Lost<never>, "gtid" | "at">,
	): void {
		const edge = (cells: Cells | null): Edge | null =>
			cells && {
				from: parseStoredId(cellOf(table, cells, "from_id")),
				to: parseStoredId(cellOf(table, cells, "to_id")),
				sequence: Number(cellOf(table, cells, "sequence")),
				state: Number(cellOf(table, cells, "state")) as EdgeState,
				version: Number(cellOf(table, cells, "version")),
			};
		const next = edge(after);
		const first = edge(before);
		const { from, to } = (next ?? first) as Edge;
		const key = `${mapping.name} ${from} ${to}`;
		const known = this.edges.get(key);
		this.shards.add(shard);
		this.edges.set(key, {
			mapping,
			from,
			to,
			...last,
			before: known === undefined ? first : known.before,
			after: next,
		});
	}

	#addLookup(
		{ table, before, after }: RowChange,
		modShard: number,
		last: Pick<Lost<never>, "gtid" | "at">,
	): void {
		const value = (cells: Cells | null): LookupValue | null =>
			cells && {
				id: parseStoredId(cellOf(table, cells, "id")),
				token: cellOf(table, cells, "token"),
			};
		const name = cellOf(table, after ?? before, "name");
		// What processes and imports keep there of themselves is of the past.
		if (!this.#lookups.has(name)) return;
		const key = cellOf(table, after ?? before, "key");
		const known = this.lookups.get(`${name} ${key}`);
		this.modShards.add(modShard);
		this.lookups.set(`${name} ${key}`, {
			name,
			key,
			modShard,
			...last,
			before: known === undefined ? value(before) : known.before,
			after: value(after),
		});
	}

	/** Those that the new primary has too were not inserted in a lost transaction. */
	#addEntry({ table, before, after }: RowChange): void {
		if (before !== null || after === null) return;
		const shard = Number(cellOf(table, after, "shard"));
		const local = Number(cellOf(table, after, "local_id"));
		const entry = parseJsonObject(cellOf(table, after, "entry"));
		this.entries.set(`${shard} ${local}`, { shard, local, entry });
	}
}

function cellOf(
	table: BinlogTable,
	cells: Cells | null,
	column: string,
): string {
	const at = table.columns.findIndex(({ name }) => name === column);
	const cell = cells?.[at] ?? null;
	if (cell === null) {
		throw new CorkboardError(
			"CONFLICT",
			`${table.database}.${table.name} has no column ${column}: it is of another version of this program.`,
		);
	}
	return String(cell);
}
