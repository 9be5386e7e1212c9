import type { Id } from "../../id/ids.ts";
import type { KeyAt, ShardLocation } from "../driver.ts";
import { listName } from "../keys.ts";
import { isDescending } from "../order.ts";
import {
	type Edge,
	type ListRow,
	type Position,
	PRESENT,
	type Scan,
	type ScanResult,
} from "../rows.ts";
import { anyOf, type Clause, type Dialect } from "./dialect.ts";

/** Instead of a scan's number: the row is a list's own, with its mapping. */
const LIST = -1;

/**
 * The columns of a statement that scans lists, with the lists' own rows, so that
 * edges and counts are consistent. Rows are edges, lists, or both.
 */
const COLUMNS = [
	"part",
	"to_id",
	"sequence",
	"version",
	"count",
	"last_sequence",
	"epoch",
	"from_id",
	"mapping",
] as const;

const COUNT = COLUMNS.indexOf("count");

/** The columns of one part; those that it does not have are null. */
export function scanColumns(
	has: Readonly<Partial<Record<(typeof COLUMNS)[number], string | number>>>,
): string {
	return COLUMNS.map((column) => {
		const value = has[column] ?? "NULL";
		return value === column ? column : `${value} AS ${column}`;
	}).join(", ");
}

/** A scan, and its number in the statement. */
export interface NumberedScan<P extends ShardLocation> {
	readonly part: number;
	readonly scan: Scan;
	readonly shard: P;
}

/** A part for each scan, and one for each shard with the lists that were scanned or of which only the count is wanted. */
export function partsOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	scans: readonly NumberedScan<P>[],
): readonly Clause[] {
	return [
		...scans
			.filter(({ scan }) => scan.limit > 0)
			.map((one) => edgesOf(dialect, one)),
		...[...Map.groupBy(scans, ({ shard }) => shard)].map(([shard, some]) =>
			listsOf(
				dialect,
				shard,
				some.map(({ scan }) => scan),
			),
		),
	];
}

function listsOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	shard: P,
	scans: readonly Scan[],
): Clause {
	const { id, number, literal } = dialect;
	const { text, values } = anyOf(
		[...Map.groupBy(scans, ({ mapping }) => mapping.name)].map(
			([name, some]) => {
				const are = dialect.isOneOf(
					"from_id",
					some.map(({ from }) => from),
				);
				return {
					text: `mapping = ${literal?.(name) ?? "?"} AND ${are.text}`,
					values: [...(literal === null ? [name] : []), ...are.values],
				};
			},
		),
	);
	return {
		text: `SELECT ${scanColumns({
			part: LIST,
			count: number("count"),
			last_sequence: number("last_sequence"),
			epoch: number("epoch"),
			from_id: id("from_id"),
			mapping: "mapping",
		})}
			FROM ${dialect.table(shard, "lists")} WHERE ${text}`,
		values,
	};
}

function edgesOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	{ part, scan, shard }: NumberedScan<P>,
): Clause {
	const { mapping, from, after, before, limit } = scan;
	const [high, low] = isDescending(mapping) ? [after, before] : [before, after];
	const bounds = [bound(high, "<"), bound(low, ">")];
	return {
		// The limit is a checked integer; some servers refuse it as a parameter.
		text: `SELECT ${scanColumns({
			part,
			to_id: dialect.id("to_id"),
			sequence: dialect.number("sequence"),
			version: dialect.number("version"),
		})}
			FROM ${dialect.table(shard, mapping.table)} ${dialect.index("primary")}
			WHERE from_id = ? AND state = ${PRESENT}${bounds.map(({ text }) => text).join("")}
			ORDER BY ${runsDown(scan) ? "sequence DESC, to_id DESC" : "sequence, to_id"} LIMIT ${limit}`,
		values: [BigInt(from), ...bounds.flatMap(({ values }) => values)],
	};
}

/** Spelled out, because optimizers do not use the key for a comparison of row values. */
function bound(at: Position | undefined, under: "<" | ">"): Clause {
	if (at === undefined) return { text: "", values: [] };
	return {
		text: ` AND sequence ${under}= ? AND (sequence ${under} ? OR to_id ${under} ?)`,
		values: [at.sequence, at.sequence, BigInt(at.to)],
	};
}

/** The results of scans, from all rows of their statement. */
export function resultsOf<P extends ShardLocation>(
	scans: readonly KeyAt<Scan, P>[],
	rows: readonly (readonly unknown[])[],
): readonly ScanResult[] {
	const edges = scans.map((): Edge[] => []);
	const lists = new Map<string, ListRow>();
	const listsOfScans: (ListRow | undefined)[] = [];
	for (const row of rows) {
		const part = Number(row[0]);
		if (part === LIST) {
			const [from, name] = row.slice(COUNT + 3);
			const list = listOf(from as Id, row);
			lists.set(listName({ name: String(name) }, list.from), list);
			continue;
		}
		const own = edges[part];
		const from = scans[part]?.key.from;
		if (own === undefined || from === undefined) continue;
		if (row[COUNT] !== null) listsOfScans[part] ??= listOf(from, row);
		const to = row[1] as Id | null;
		if (to === null) continue;
		own.push({
			from,
			to,
			sequence: Number(row[2]),
			state: PRESENT,
			version: Number(row[3]),
		});
	}
	return scans.map(({ key: scan }, index) => {
		const { mapping, from } = scan;
		return {
			edges: inOrder(edges[index] ?? [], runsDown(scan) ? higher : lower),
			list: listsOfScans[index] ??
				lists.get(listName(mapping, from)) ?? {
					from,
					count: 0,
					lastSequence: 0,
					epoch: 0,
				},
		};
	});
}

function listOf(from: Id, row: readonly unknown[]): ListRow {
	return {
		from,
		count: Number(row[COUNT]),
		lastSequence: Number(row[COUNT + 1]),
		epoch: Number(row[COUNT + 2]),
	};
}

export function runsDown({ mapping, backward }: Scan): boolean {
	return isDescending(mapping) !== backward;
}

/** UNION ALL promises no order, though it keeps that of its parts. */
function inOrder(
	edges: Edge[],
	compare: (a: Edge, b: Edge) => number,
): readonly Edge[] {
	for (let at = 1; at < edges.length; at++) {
		if (compare(edges[at - 1] as Edge, edges[at] as Edge) > 0) {
			return edges.sort(compare);
		}
	}
	return edges;
}

function lower(a: Edge, b: Edge): number {
	return (
		a.sequence - b.sequence ||
		// Canonical decimals: the longer one is greater.
		a.to.length - b.to.length ||
		(a.to < b.to ? -1 : 1)
	);
}

function higher(a: Edge, b: Edge): number {
	return lower(b, a);
}
