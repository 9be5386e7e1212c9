import type { Mapping } from "../../model/types.ts";
import type { ShardLocation } from "../driver.ts";
import { edgeName } from "../keys.ts";
import {
	type Edge,
	type EdgeKey,
	type ListKey,
	type Position,
	PRESENT,
} from "../rows.ts";
import {
	anyOf,
	chunks,
	type Dialect,
	insertsOf,
	type Select,
	type Write,
} from "./dialect.ts";
import { edgeColumns, edgeOf } from "./rows.ts";

const COLUMNS = "from_id, to_id, sequence, state, version";

/** An edge, and of which mapping. */
export type MappedEdge = Edge & { readonly mapping: Mapping };

/** Edges of one mapping by their ends. */
export function edgesBetween<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	mapping: Mapping,
	keys: readonly EdgeKey[],
): Select<Edge | null> {
	const { text, values } = dialect.hasEnds(keys);
	return {
		name: `edges ${mapping.name}`,
		columns: edgeColumns(dialect),
		rest: `FROM ${dialect.table(location, mapping.table)}
			${dialect.index("edge")} WHERE ${text}`,
		values,
		read(rows) {
			const found = new Map<string, Edge>();
			for (const row of rows) {
				const edge = edgeOf(row);
				found.set(edgeName(mapping, edge), edge);
			}
			return keys.map((key) => found.get(edgeName(mapping, key)) ?? null);
		},
	};
}

/** The nearest present edge above or below one, if there is one. */
export function neighborOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	mapping: Mapping,
	{ from, sequence, to }: Edge,
	side: "above" | "below",
): Select<Edge> {
	const [over, order] = side === "above" ? [">", "ASC"] : ["<", "DESC"];
	return {
		name: `neighbors ${mapping.name}`,
		columns: edgeColumns(dialect),
		rest: `FROM ${dialect.table(location, mapping.table)}
			WHERE from_id = ? AND state = ${PRESENT}
				AND sequence ${over}= ? AND (sequence ${over} ? OR to_id ${over} ?)
			ORDER BY sequence ${order}, to_id ${order} LIMIT 1`,
		values: [BigInt(from), sequence, sequence, BigInt(to)],
		read: (rows) => rows.map(edgeOf),
	};
}

/** Present edges of a list from a position upward, lowest first. */
export function presentEdgesFrom<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	{ mapping, from }: ListKey,
	{ sequence, to }: Position,
	limit: number | null,
): Select<Edge> {
	return {
		name: `list ${mapping.name}`,
		columns: edgeColumns(dialect),
		rest: `FROM ${dialect.table(location, mapping.table)}
			WHERE from_id = ? AND state = ${PRESENT}
				AND sequence >= ? AND (sequence > ? OR to_id >= ?)
			ORDER BY sequence, to_id${limit === null ? "" : ` LIMIT ${limit}`}`,
		values: [BigInt(from), sequence, sequence, BigInt(to)],
		read: (rows) => rows.map(edgeOf),
	};
}

/** Counts a list's present edges. The highest sequence includes removed edges. */
export function countEdges<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	{ mapping, from }: ListKey,
): Select<{ readonly count: number; readonly last: number }> {
	return {
		name: `count ${mapping.name}`,
		columns: [
			`COUNT(CASE WHEN state = ${PRESENT} THEN 1 END)`,
			dialect.number("COALESCE(MAX(sequence), 0)"),
		],
		rest: `FROM ${dialect.table(location, mapping.table)} WHERE from_id = ?`,
		values: [BigInt(from)],
		read: (rows) =>
			rows.map(([count, last]) => ({
				count: Number(count),
				last: Number(last),
			})),
	};
}

interface EdgeToWrite extends MappedEdge {
	/** Whether the edge has a row, present or removed. */
	readonly exists: boolean;
}

/** Writes edges of locked lists. New ones get a plain INSERT: with the clause for existing rows, MySQL would lock the gap beside it, where another list's edges go. */
export function writeEdges<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	edges: readonly EdgeToWrite[],
): readonly Write[] {
	const groups = Map.groupBy(
		edges,
		({ mapping, exists }) => `${mapping.name} ${exists}`,
	);
	return [...groups.values()].flatMap((group) => {
		const [{ mapping, exists }] = group as [EdgeToWrite];
		if (exists && (group.length === 1 || dialect.maxRows === 1)) {
			return group.map((edge) => updateEdge(dialect, location, edge));
		}
		const columns = ["sequence", "state", "version"];
		return insertsOf(dialect, {
			name: `set ${mapping.name}`,
			into: `${dialect.table(location, mapping.table)} (${COLUMNS})`,
			made: group.map(({ from, to, sequence, state, version }) => [
				BigInt(from),
				BigInt(to),
				sequence,
				state,
				version,
			]),
			orElse: exists ? dialect.orSet(["from_id", "to_id"], columns) : "",
		});
	});
}

function updateEdge<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	{ mapping, from, to, sequence, state, version }: EdgeToWrite,
): Write {
	const { literal } = dialect;
	const values = [sequence, state, version, BigInt(from), BigInt(to)];
	const [s, t, v, f, o] = values.map((value) => literal?.(value) ?? "?");
	return {
		name: `set ${mapping.name}`,
		text: `UPDATE ${dialect.table(location, mapping.table)} ${dialect.index("edge")}
			SET sequence = ${s}, state = ${t}, version = ${v}
			WHERE from_id = ${f} AND to_id = ${o}`,
		values: literal === null ? values : [],
	};
}

/** Deletes edges of locked lists, as they were read: by their whole primary key. */
export function deleteEdges<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	edges: readonly MappedEdge[],
): readonly Write[] {
	const mappings = Map.groupBy(edges, ({ mapping }) => mapping);
	return [...mappings].flatMap(([mapping, group]) =>
		chunks(group, dialect.maxRows).map((some) => {
			const { text, values } = anyOf(
				some.map(({ from, to, sequence, state }) => ({
					text: "from_id = ? AND state = ? AND sequence = ? AND to_id = ?",
					values: [BigInt(from), state, sequence, BigInt(to)],
				})),
			);
			return {
				name: `delete ${mapping.name}`,
				text: `DELETE FROM ${dialect.table(location, mapping.table)} WHERE ${text}`,
				values,
			};
		}),
	);
}
