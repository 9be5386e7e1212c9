import { CorkboardError } from "../errors.ts";
import { GRAPH_ID } from "../ops/graphId.ts";
import { LOOKUPS } from "../storage/statements/tables.ts";
import { type Database, placeOfLookup } from "./databases.ts";
import type { DumpFiles } from "./files/dumpFiles.ts";
import type { DumpHead } from "./manifest.ts";
import type { DumpSource } from "./source/dumpSource.ts";
import type { RestoreTarget } from "./target/restoreTarget.ts";

/** The id of the graph that is dumped; null: it has none, or the mod shards are not dumped. */
export async function dumpedGraphId(
	source: DumpSource,
	databases: readonly Database[],
): Promise<string | null> {
	if (!databases.some(({ kind }) => kind === "mod")) return null;
	const columns = Object.keys(LOOKUPS.columns);
	const rowOf = (cells: Readonly<Record<string, string>>) =>
		columns.map((column) => cells[column] ?? "");
	return await source.snapshot(
		placeOfLookup(databases, GRAPH_ID),
		async (snapshot) => {
			const { name } = GRAPH_ID;
			// Its only row is the next one of its name.
			const [row] = await snapshot.rows(LOOKUPS, rowOf({ name, key: "" }), 1);
			const cell = (column: string) => row?.[columns.indexOf(column)] ?? null;
			return cell("name") === name ? cell("token") : null;
		},
	);
}

/** Gives a graph that was restored as a whole the id of the one that was dumped. */
export async function takeGraphId(
	target: RestoreTarget,
	databases: readonly Database[],
	{ graph }: DumpHead,
): Promise<void> {
	if (graph === null) return;
	const place = placeOfLookup(databases, GRAPH_ID);
	const found = await target.lookup(place, GRAPH_ID);
	if (found === graph) return;
	if (await target.changeLookup(place, GRAPH_ID, found, graph)) return;
	throw new CorkboardError(
		"CONFLICT",
		"Somebody else has changed the id of this graph meanwhile. Let nothing else run, and restore with --resume.",
	);
}

/** Throws CONFLICT for a dump of another graph. One that names none, as older ones, is taken. */
export function requireSameGraph(
	files: Pick<DumpFiles, "name">,
	{ graph }: Pick<DumpHead, "graph">,
	/** Null: the graph here has no id. */
	here: string | null,
): void {
	if (graph === null || graph === here) return;
	throw new CorkboardError(
		"CONFLICT",
		`${files.name} holds a dump of another graph: its id is ${graph}, and the graph here has ${here ?? "none"}.`,
	);
}
