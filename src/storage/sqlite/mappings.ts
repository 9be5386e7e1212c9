import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { Trace } from "../../trace.ts";
import { edgeName } from "../keys.ts";
import { isDescending } from "../order.ts";
import {
	type Edge,
	type EdgeKey,
	type EdgeState,
	type Neighbors,
	PRESENT,
} from "../storage.ts";
import { quoted } from "./ddl.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";
import { readInGroups } from "./readInGroups.ts";

/** Statements on edges, by the mapping's name. Scans are in scan.ts. */
export type MappingStatements = ReadonlyMap<string, EdgeStatements>;

interface EdgeStatements {
	readonly read: Sql;
	readonly write: Sql;
	readonly remove: Sql;
	readonly above: Sql;
	readonly below: Sql;
	/** Present edges from a position upward. */
	readonly presentFrom: Sql;
	readonly setSequence: Sql;
	readonly recount: Sql;
}

/**
 * Ids do not fit a JavaScript number, so SQLite returns them as text. The
 * numbers do; but a damaged one that does not would make the whole statement
 * fail, so they are returned as REAL.
 */
const EDGE_COLUMNS = `CAST(from_id AS TEXT) AS "from", CAST(to_id AS TEXT) AS "to",
	CAST(sequence AS REAL) AS sequence, CAST(state AS REAL) AS state,
	CAST(version AS REAL) AS version`;

/** Ids are passed as JSON strings, for the same reason. */
const KEY_PAIRS = `SELECT CAST(value->>0 AS INTEGER), CAST(value->>1 AS INTEGER)
	FROM json_each(?)`;

/** Of the list of `?1` in the mapping `?2`. */
const NEWEST_EPOCH = `CAST((SELECT COALESCE(MAX(epoch), 0) FROM renumberings
	WHERE renumberings.from_id = ?1 AND renumberings.mapping = ?2) AS REAL)`;

export function mappingStatements(model: Model): MappingStatements {
	return new Map(
		[...model.mappings.values()].map(({ name, table: plain }) => {
			const table = quoted(plain);
			const neighbor = (over: "<" | ">", order: "ASC" | "DESC"): Sql => ({
				name: `neighbor ${name}`,
				text: `SELECT ${EDGE_COLUMNS} FROM ${table}
					WHERE from_id = ?1 AND state = ${PRESENT}
						AND sequence ${over}= ?2 AND (sequence ${over} ?2 OR to_id ${over} ?3)
					ORDER BY ${table}.sequence ${order}, to_id ${order} LIMIT 1`,
			});
			const statements: EdgeStatements = {
				read: {
					name: `edges ${name}`,
					text: `SELECT ${EDGE_COLUMNS} FROM ${table}
						WHERE (from_id, to_id) IN (${KEY_PAIRS})`,
				},
				write: {
					name: `set ${name}`,
					text: `INSERT INTO ${table} (from_id, to_id, sequence, state, version)
						VALUES (?, ?, ?, ?, ?)
						ON CONFLICT (from_id, to_id) DO UPDATE SET sequence = excluded.sequence,
							state = excluded.state, version = excluded.version`,
				},
				remove: {
					name: `delete ${name}`,
					text: `DELETE FROM ${table} WHERE from_id = ? AND to_id = ?`,
				},
				above: neighbor(">", "ASC"),
				below: neighbor("<", "DESC"),
				presentFrom: {
					name: `list ${name}`,
					text: `SELECT CAST(to_id AS TEXT) AS "to", sequence FROM ${table}
						WHERE from_id = ?1 AND state = ${PRESENT}
							AND sequence >= ?2 AND (sequence > ?2 OR to_id >= ?3)
						ORDER BY sequence, to_id LIMIT ?4`,
				},
				setSequence: {
					name: `renumber ${name}`,
					text: `UPDATE ${table} SET sequence = ? WHERE from_id = ? AND to_id = ?`,
				},
				recount: {
					name: `count ${name}`,
					text: `SELECT COUNT(*) FILTER (WHERE state = ${PRESENT}) AS count,
							CAST(COALESCE(MAX(sequence), 0) AS REAL) AS last,
							${NEWEST_EPOCH} AS newestEpoch
						FROM ${table} WHERE from_id = ?1`,
				},
			};
			return [name, statements];
		}),
	);
}

export function statementsOf(
	statements: MappingStatements,
	mapping: Mapping,
): EdgeStatements {
	const found = statements.get(mapping.name);
	if (found === undefined) {
		throw new TypeError(`The model has no mapping ${mapping.name}.`);
	}
	return found;
}

interface EdgeRow {
	readonly from: string;
	readonly to: string;
	readonly sequence: number;
	readonly state: number;
	readonly version: number;
}

/** A row's columns are an edge's properties; only the types differ. */
function edgeOf({ from, to, sequence, state, version }: EdgeRow): Edge {
	return {
		from: from as Id,
		to: to as Id,
		sequence,
		state: state as EdgeState,
		version,
	};
}

/** Edges of one shard. */
export function readEdges(
	connection: SqliteConnection,
	statements: MappingStatements,
	keys: readonly EdgeKey[],
	trace?: Trace,
): readonly (Edge | null)[] {
	return readInGroups(
		keys,
		({ mapping }) => mapping.name,
		(_, some) => {
			const { mapping } = some[0] as EdgeKey;
			const rows = connection.rows<EdgeRow>(
				statementsOf(statements, mapping).read,
				[JSON.stringify(some.map(({ from, to }) => [from, to]))],
				trace,
			);
			const found = new Map(
				rows.map((row) => {
					const edge = edgeOf(row);
					return [edgeName(mapping, edge), edge];
				}),
			);
			return some.map((key) => found.get(edgeName(mapping, key)) ?? null);
		},
	);
}

/** An edge with its present neighbors in the mapping's order. */
export function readNeighbors(
	connection: SqliteConnection,
	statements: MappingStatements,
	mapping: Mapping,
	edge: Edge | null,
): Neighbors {
	if (edge === null) return { edge, previous: null, next: null };
	const { above, below } = statementsOf(statements, mapping);
	const [before, after] = isDescending(mapping)
		? [above, below]
		: [below, above];
	const at = [BigInt(edge.from), edge.sequence, BigInt(edge.to)];
	const [previous] = connection.rows<EdgeRow>(before, at);
	const [next] = connection.rows<EdgeRow>(after, at);
	return {
		edge,
		previous: previous === undefined ? null : edgeOf(previous),
		next: next === undefined ? null : edgeOf(next),
	};
}

export function writeEdge(
	connection: SqliteConnection,
	statements: MappingStatements,
	mapping: Mapping,
	{ from, to, sequence, state, version }: Edge,
): void {
	connection.run(statementsOf(statements, mapping).write, [
		BigInt(from),
		BigInt(to),
		sequence,
		state,
		version,
	]);
}

export function deleteEdge(
	connection: SqliteConnection,
	statements: MappingStatements,
	mapping: Mapping,
	{ from, to }: Pick<Edge, "from" | "to">,
): void {
	connection.run(statementsOf(statements, mapping).remove, [
		BigInt(from),
		BigInt(to),
	]);
}
