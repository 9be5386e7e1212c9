import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Edges that are there, as the storage says it. */
const PRESENT = 0;

/** Run on each of the folder's files in turn until it did something. */
export function damage(
	folder: string,
	files: "db" | "mod",
	work: (database: DatabaseSync) => boolean,
): void {
	for (const file of globSync(`${files}*.sqlite`, { cwd: folder }).sort()) {
		const database = new DatabaseSync(join(folder, file), {
			readBigInts: true,
		});
		try {
			if (work(database)) return;
		} finally {
			database.close();
		}
	}
	throw new Error(`expected something to damage in ${folder} but found none`);
}

/** Two neighbours of a list take each other's place. */
export function swapEdges(database: DatabaseSync, table: string): boolean {
	const [one, other] = longestList(database, table);
	if (one === undefined || other === undefined) return false;
	const place = database.prepare(
		`UPDATE ${table} SET sequence = ? WHERE from_id = ? AND to_id = ?`,
	);
	place.run(other.sequence, one.from_id, one.to_id);
	place.run(one.sequence, other.from_id, other.to_id);
	return true;
}

/** The newest edge of a list goes, with its share of the count or without. */
export function dropEdge(
	database: DatabaseSync,
	table: string,
	mapping: string | null,
): boolean {
	const [edge] = longestList(database, table);
	if (edge === undefined) return false;
	const { from_id, to_id } = edge;
	database
		.prepare(`DELETE FROM ${table} WHERE from_id = ? AND to_id = ?`)
		.run(from_id, to_id);
	return mapping === null || addToCount(database, mapping, from_id, -1);
}

/** A list's count says one more than there are. */
export function raiseCount(database: DatabaseSync, mapping: string): boolean {
	const list = database
		.prepare("SELECT from_id FROM lists WHERE mapping = ? AND count > 0")
		.get(mapping) as { readonly from_id: bigint } | undefined;
	return list !== undefined && addToCount(database, mapping, list.from_id, 1);
}

function addToCount(
	database: DatabaseSync,
	mapping: string,
	from: bigint,
	add: number,
): boolean {
	const { changes } = database
		.prepare(
			"UPDATE lists SET count = count + ? WHERE mapping = ? AND from_id = ?",
		)
		.run(add, mapping, from);
	return changes === 1n;
}

interface Edge {
	readonly from_id: bigint;
	readonly to_id: bigint;
	readonly sequence: bigint;
}

/** Newest first; empty if no list has two. */
function longestList(
	database: DatabaseSync,
	table: string,
): readonly (Edge | undefined)[] {
	return database
		.prepare(
			`SELECT from_id, to_id, sequence FROM ${table} WHERE state = ${PRESENT}
				AND from_id = (SELECT from_id FROM ${table} WHERE state = ${PRESENT}
					GROUP BY from_id HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC LIMIT 1)
				ORDER BY sequence DESC`,
		)
		.all() as unknown as Edge[];
}
