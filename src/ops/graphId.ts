import { randomUUID } from "node:crypto";
import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";
import type { LookupKey, LookupRow } from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * Which graph this is, as a random UUID: two graphs give the same ids. Dumps name
 * it, and a graph that was restored from a dump has the id of the dumped one.
 */
export const GRAPH_ID: LookupKey = {
	name: RESERVED_LOOKUPS.graphId,
	key: "graph",
};

/** Null: the graph has no id yet. Rejects with a CorkboardError if that cannot be read. */
export async function readGraphId(
	storage: Pick<Storage, "read">,
): Promise<string | null> {
	const [row = null] = await storage.read("lookups", [GRAPH_ID]);
	if (row instanceof CorkboardError) throw row;
	return row?.token ?? null;
}

/** Gives the graph an id if it has none. Rejects with a CorkboardError if it cannot. */
export async function giveGraphId(
	storage: Pick<Storage, "read" | "compareAndSetLookups">,
): Promise<void> {
	if ((await readGraphId(storage)) !== null) return;
	const next = { id: "0" as Id, token: randomUUID() };
	// If another process was first, its id stays.
	const [row] = await storage.compareAndSetLookups([
		{ ...GRAPH_ID, expect: null, next },
	]);
	if (row instanceof CorkboardError) throw row;
}

/** The rows of a mod shard's lookups without that of the id, which an empty graph has too. */
export async function* walkOwnLookups(
	storage: Pick<Storage, "walk">,
	modShard: number,
): AsyncGenerator<readonly LookupRow[]> {
	for await (const rows of storage.walk("lookups", modShard)) {
		yield rows.filter(({ name }) => name !== GRAPH_ID.name);
	}
}
