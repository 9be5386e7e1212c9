import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { edgeName, listName } from "../keys.ts";
import { isDescending } from "../order.ts";
import { namesOf } from "../statements/dialect.ts";
import {
	type Edge,
	type EdgeKey,
	type EdgeState,
	type ListKey,
	type ListRow,
	type Neighbors,
	type Position,
	PRESENT,
} from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host, MysqlTransaction } from "./driver/host.ts";
import type { Row } from "./driver/mysql2Connection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { chunks, type KeyOnShard, type Shard } from "./shards.ts";
import {
	anyOf,
	digitsOf,
	type Fragment,
	integers,
	quotedName,
	unionAll,
} from "./sqlFragment.ts";
import type { StatementBatch } from "./statementBatch.ts";

/** Most edges of one statement that writes them or finds them by their ends. */
const EDGES = 500;

const COLUMNS = "from_id, to_id, sequence, state, version";

/** Edges of one host in one statement. */
export async function readEdges(
	host: Host,
	keys: readonly KeyOnShard<EdgeKey>[],
	options: QueryOptions,
): Promise<readonly (Edge | null)[]> {
	const tables = edgesByTable(keys);
	const rows = await host.rows(unionAll(tables.name, tables.parts), options);
	const found = new Map(rows.map((row) => named(tables, row)));
	return keys.map(({ key }) => found.get(edgeName(key.mapping, key)) ?? null);
}

/**
 * Reads locked lists and edges of one host in a transaction, together: of each
 * result the client reads its columns first, which takes longer than a row.
 * The lists' rows are locked already, and at READ COMMITTED a statement sees what
 * was committed before it, so they are read without another lock. Lists go into
 * `found.lists` by `listName`, edges that exist into `found.edges` by `edgeName`.
 */
export function selectListsAndEdges(
	batch: StatementBatch,
	lists: readonly KeyOnShard<ListKey>[],
	edges: readonly KeyOnShard<EdgeKey>[],
	found: {
		readonly lists: Map<string, ListRow>;
		readonly edges: Map<string, Edge>;
	},
): void {
	const ofLists = [...chunks(lists, EDGES)];
	const ofEdges = [...chunks(edges, EDGES)];
	const count = Math.max(ofLists.length, ofEdges.length);
	for (let at = 0; at < count; at++) {
		const rowsOfLists = listsByMapping(ofLists[at] ?? []);
		const rowsOfEdges = edgesByTable(
			ofEdges[at] ?? [],
			rowsOfLists.mappings.length,
		);
		const name = [rowsOfLists.name, rowsOfEdges.name].filter(
			(one) => one !== "",
		);
		const { text } = unionAll("", [...rowsOfLists.parts, ...rowsOfEdges.parts]);
		batch.rows({ name: name.join(", "), text, values: [] }, (rows) => {
			for (const row of rows) {
				const mapping = rowsOfLists.mappings[Number(row[0])];
				if (mapping === undefined) {
					found.edges.set(...named(rowsOfEdges, row));
				} else {
					const [, from, , lastSequence, count, epoch] = row;
					found.lists.set(listName(mapping, from as Id), {
						from: from as Id,
						count: Number(count),
						lastSequence: Number(lastSequence),
						epoch: Number(epoch),
					});
				}
			}
		});
	}
}

/** Rows of `lists` in the columns of edges. */
function listsByMapping(keys: readonly KeyOnShard<ListKey>[]) {
	const groups = Map.groupBy(
		keys,
		({ key, shard }) => `${shard.database} ${key.mapping.name}`,
	);
	const firsts = [...groups.values()].map(
		([first]) => first as KeyOnShard<ListKey>,
	);
	return {
		name: keys.length === 0 ? "" : "lists",
		mappings: firsts.map(({ key }) => key.mapping),
		parts: [...groups.values()].map((some, part): Fragment => {
			const { key, shard } = firsts[part] as KeyOnShard<ListKey>;
			return {
				// The index is forced because a table scan would be cheaper for a small table.
				text: `SELECT ${part} AS part, from_id, from_id AS to_id,
						last_sequence AS sequence, count AS state, epoch AS version
					FROM ${tableIn(shard.database, "lists")} FORCE INDEX (PRIMARY)
					WHERE mapping = ${quotedName(key.mapping.name)}
						AND from_id IN (${some.map(({ key: { from } }) => digitsOf(from)).join(", ")})`,
				values: [],
			};
		}),
	};
}

function edgesByTable(
	keys: readonly KeyOnShard<EdgeKey>[],
	/** The number of the first part. */
	first = 0,
) {
	const tables = Map.groupBy(keys, ({ key, shard }) =>
		tableIn(shard.database, key.mapping.table),
	);
	const mappings = [...tables.values()].map(
		([first]) => (first as KeyOnShard<EdgeKey>).key.mapping,
	);
	return {
		name:
			keys.length === 0
				? ""
				: `edges ${namesOf(mappings.map(({ name }) => name))}`,
		mappings,
		first,
		parts: [...tables].map(
			([table, some], part): Fragment => ({
				text: `SELECT ${first + part} AS part, ${COLUMNS} FROM ${table}
					FORCE INDEX (edge) WHERE ${byEnds(some.map(({ key }) => key))}`,
				values: [],
			}),
		),
	};
}

/** Grouped by list: every server uses the index for `from = … AND to IN (…)`, but not for pairs. */
function byEnds(keys: readonly EdgeKey[]): string {
	return [...Map.groupBy(keys, ({ from }) => from)]
		.map(
			([from, some]) =>
				`(from_id = ${digitsOf(from)} AND to_id IN (${some.map(({ to }) => digitsOf(to)).join(", ")}))`,
		)
		.join(" OR ");
}

function named(
	{ mappings, first }: { readonly mappings: readonly Mapping[]; first: number },
	[part, ...row]: Row,
): readonly [string, Edge] {
	const edge = edgeOf(row);
	return [edgeName(mappings[Number(part) - first] as Mapping, edge), edge];
}

function edgeOf([from, to, sequence, state, version]: Row): Edge {
	return {
		from: from as Id,
		to: to as Id,
		sequence: Number(sequence),
		state: Number(state) as EdgeState,
		version: Number(version),
	};
}

/** Each edge with its present neighbors in the mapping's order, in one statement for all. */
export async function readNeighbors(
	statements: MysqlTransaction,
	shard: Shard,
	keys: readonly EdgeKey[],
	edges: ReadonlyMap<string, Edge>,
): Promise<readonly Neighbors[]> {
	const centers = keys.map(
		(key) => edges.get(edgeName(key.mapping, key)) ?? null,
	);
	const parts = keys.flatMap(({ mapping }, index) => {
		const edge = centers[index];
		return edge === null || edge === undefined
			? []
			: [
					neighbor(shard, mapping, edge, index, "above"),
					neighbor(shard, mapping, edge, index, "below"),
				];
	});
	const beside = new Map<string, Edge>();
	if (parts.length > 0) {
		const name = `neighbors ${namesOf(keys.map(({ mapping }) => mapping.name))}`;
		for (const [part, side, ...row] of await statements.rows(
			unionAll(name, parts),
		)) {
			beside.set(`${part} ${side}`, edgeOf(row));
		}
	}
	return keys.map(({ mapping }, index) => {
		const above = beside.get(`${index} 1`) ?? null;
		const below = beside.get(`${index} 0`) ?? null;
		return {
			edge: centers[index] ?? null,
			previous: isDescending(mapping) ? above : below,
			next: isDescending(mapping) ? below : above,
		};
	});
}

function neighbor(
	{ database }: Shard,
	{ table }: Mapping,
	{ from, sequence, to }: Edge,
	part: number,
	side: "above" | "below",
): Fragment {
	const [over, order] = side === "above" ? [">", "ASC"] : ["<", "DESC"];
	return {
		text: `SELECT ${part} AS part, ${side === "above" ? 1 : 0} AS side, ${COLUMNS}
			FROM ${tableIn(database, table)}
			WHERE from_id = ? AND state = ${PRESENT}
				AND sequence ${over}= ? AND (sequence ${over} ? OR to_id ${over} ?)
			ORDER BY sequence ${order}, to_id ${order} LIMIT 1`,
		values: [BigInt(from), sequence, sequence, BigInt(to)],
	};
}

export interface EdgeToWrite extends Edge {
	readonly mapping: Mapping;
	/** Whether the edge has a row, present or removed. */
	readonly exists: boolean;
}

/** Writes edges of locked lists. New ones get a plain INSERT: with ON DUPLICATE KEY UPDATE it would lock the gap beside it, where another list's edges go. */
export function writeEdges(
	batch: StatementBatch,
	shard: Shard,
	edges: readonly EdgeToWrite[],
): void {
	const groups = Map.groupBy(
		edges,
		({ mapping, exists }) => `${mapping.name} ${exists}`,
	);
	for (const group of groups.values()) {
		const { mapping, exists } = group[0] as EdgeToWrite;
		if (exists && group.length === 1) {
			updateEdge(batch, shard, group[0] as EdgeToWrite);
			continue;
		}
		for (const some of chunks(group, EDGES)) {
			batch.run({
				name: `set ${mapping.name}`,
				text: `INSERT INTO ${tableIn(shard.database, mapping.table)} (${COLUMNS})
					VALUES ${some.map(rowOf).join(", ")}${exists ? ON_DUPLICATE : ""}`,
				values: [],
			});
		}
	}
}

/** Deletes edges of locked lists, as they were read: by their whole primary key. */
export function deleteEdges(
	batch: StatementBatch,
	{ database }: Shard,
	edges: readonly (Edge & { readonly mapping: Mapping })[],
): void {
	for (const group of Map.groupBy(edges, ({ mapping }) => mapping).values()) {
		for (const some of chunks(group, EDGES)) {
			const [{ mapping }] = some as readonly [(typeof edges)[number]];
			const { text, values } = anyOf(
				some.map(({ from, to, sequence, state }) => ({
					text: "from_id = ? AND state = ? AND sequence = ? AND to_id = ?",
					values: [BigInt(from), state, sequence, BigInt(to)],
				})),
			);
			batch.run({
				name: `delete ${mapping.name}`,
				text: `DELETE FROM ${tableIn(database, mapping.table)} WHERE ${text}`,
				values,
			});
		}
	}
}

const ON_DUPLICATE = ` ON DUPLICATE KEY UPDATE sequence = VALUES(sequence),
	state = VALUES(state), version = VALUES(version)`;

function rowOf({ from, to, sequence, state, version }: Edge): string {
	return `(${digitsOf(from)}, ${digitsOf(to)}, ${integers([sequence, state, version])})`;
}

function updateEdge(
	batch: StatementBatch,
	{ database }: Shard,
	{ mapping, from, to, sequence, state, version }: EdgeToWrite,
): void {
	batch.run({
		name: `set ${mapping.name}`,
		text: `UPDATE ${tableIn(database, mapping.table)} FORCE INDEX (edge)
			SET sequence = ${integers([sequence])}, state = ${integers([state])},
				version = ${integers([version])}
			WHERE from_id = ${digitsOf(from)} AND to_id = ${digitsOf(to)}`,
		values: [],
	});
}

/** Present edges of a list from a position upward, lowest first. */
export async function presentEdgesFrom(
	statements: MysqlTransaction,
	{ database }: Shard,
	{ mapping, from }: ListKey,
	{ sequence, to }: Position,
	limit?: number,
): Promise<readonly Edge[]> {
	const rows = await statements.rows({
		name: `list ${mapping.name}`,
		text: `SELECT ${COLUMNS} FROM ${tableIn(database, mapping.table)}
			WHERE from_id = ? AND state = ${PRESENT}
				AND sequence >= ? AND (sequence > ? OR to_id >= ?)
			ORDER BY sequence, to_id${limit === undefined ? "" : ` LIMIT ${limit}`}`,
		values: [BigInt(from), sequence, sequence, BigInt(to)],
	});
	return rows.map(edgeOf);
}

/** Counts a list's present edges. The highest sequence includes removed edges. */
export async function countEdges(
	statements: MysqlTransaction,
	{ database }: Shard,
	mapping: Mapping,
	from: Id,
): Promise<{ readonly count: number; readonly last: number }> {
	const [[count, last] = []] = await statements.rows({
		name: `count ${mapping.name}`,
		text: `SELECT COALESCE(SUM(state = ${PRESENT}), 0), COALESCE(MAX(sequence), 0)
			FROM ${tableIn(database, mapping.table)} WHERE from_id = ?`,
		values: [BigInt(from)],
	});
	return { count: Number(count), last: Number(last) };
}
