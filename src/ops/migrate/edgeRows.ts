import { endsOfKey, type Parts, partsOfKey } from "./keys.ts";
import type { Row } from "./mapping.ts";
import { goneEdge, type RowLine, type TablePlan } from "./plan.ts";
import type { Source } from "./sources/source.ts";

/** An edge that a row makes, or made. */
export interface RowEdge {
	/** The columns of its ends. */
	readonly ends: Parts;
	/** The line that deletes it. */
	readonly gone: RowLine;
}

/** Null if the row does not say the ends of its edge. */
export function edgeOfRow(plan: TablePlan, row: Row): RowEdge | null {
	const gone = plan.goneLine(row);
	const ends = partsOfRow([...plan.fromColumns, ...plan.toColumns], row);
	return gone === null || ends === null ? null : { gone, ends };
}

/** The edge that has this key; null for another text. */
export function edgeOfKey(plan: TablePlan, key: string): RowEdge | null {
	const found = endsOfKey(plan.mapping?.to ?? "", key);
	if (found === null) return null;
	const [from, to] = found;
	const ends = [
		...partsOfKey(plan.fromColumns, from),
		...partsOfKey(plan.toColumns, to),
	];
	return { ends, gone: goneEdge(plan.name, from, to) };
}

/** Null if one of the columns is not there. */
export function partsOfRow(columns: readonly string[], row: Row): Parts | null {
	const parts: string[] = [];
	for (const column of columns) {
		const value = row[column] ?? null;
		if (value === null) return null;
		parts.push(String(value));
	}
	return parts;
}

/**
 * The line of each of these edges, by its key. Several rows may name one edge: it
 * exists if any of them makes it, at the time of the first one that can be read, as
 * in a full pass. So the table is asked for all of them.
 */
export async function currentEdges(
	plan: TablePlan,
	source: Source,
	edges: ReadonlyMap<string, RowEdge>,
): Promise<ReadonlyMap<string, RowLine>> {
	const lines = new Map<string, RowLine>();
	for (const [key, { gone }] of edges) lines.set(key, gone);
	const rows = await source.rowsOf(
		{
			...plan,
			key: [...plan.fromColumns, ...plan.toColumns],
			order: plan.key,
		},
		[...edges.values()].map(({ ends }) => ends),
	);
	for (const row of rows) {
		const line = plan.lineOf(row);
		if (line === null || line.isDeleted) continue;
		const known = lines.get(line.key);
		if (known === undefined || known.isDeleted || "problem" in known.line) {
			lines.set(line.key, line);
		}
	}
	return lines;
}
