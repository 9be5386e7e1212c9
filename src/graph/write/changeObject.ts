import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping, ObjectType } from "../../model/types.ts";
import { PRESENT } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import {
	decideEdges,
	type EdgesToRead,
	type EdgeUpdate,
	edgesToRead,
	encodeEntry,
	type OutboxEntry,
} from "../outbox/delivery.ts";
import { readUncachedObjects } from "../store/readStored.ts";
import { type Store, typeNameOf } from "../store/store.ts";
import { byShard, commit, decided, followEdge, followEdges } from "./commit.ts";

/** How often a change is tried again when the object moved to other lists between its reading and its lock. */
const ATTEMPTS = 5;

/** Where on a list the object shall stand that is being changed. */
export interface Placing {
	readonly mapping: Mapping;
	readonly from: Id;
	readonly before?: Id;
	readonly after?: Id;
}

/**
 * Read-modify-write of one object under its lock, and of the lists that follow
 * its references: those on its own shard in the same transaction, others as
 * debts. `change` gives the new content without its version; null for none.
 */
export async function changeObject(
	store: Store,
	id: Id,
	change: (data: JsonObject) => JsonObject | null,
	options: {
		readonly placing?: Placing;
		/** What the change owes besides edges. */
		readonly owes?: (data: JsonObject, next: JsonObject) => OutboxEntry;
	} = {},
): Promise<void> {
	const type = typeNamed(store, id);
	const { shard } = unpackId(id);
	for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
		const before = (await readUncachedObjects(store, [id])).get(id) ?? null;
		if (before === null) throw notFound();
		const planned = change(before);
		if (planned === null) return;
		// Which lists to lock has to be said before the object is locked.
		const expected = edgesToRead(
			store,
			byShard(
				shard,
				edgesOf(type, id, before, raise(before, planned), options.placing),
			).here,
		);
		const { value } = await commit<"done" | "again">(store, {
			shard,
			lists: expected.lists,
			edges: expected.keys,
			neighbors: expected.around,
			objects: [id],
			decide(seen) {
				const data = seen.objects[0] ?? null;
				if (data === null) throw notFound();
				const changed = change(data);
				if (changed === null) return decided("done");
				const next = raise(data, changed);
				const { here, owed } = byShard(
					shard,
					edgesOf(type, id, data, next, options.placing),
				);
				const edges = edgesToRead(store, here);
				if (!isSame(edges, expected)) return decided("again");
				const effects = decideEdges(edges, seen);
				const debt = encodeEntry({
					...options.owes?.(data, next),
					edges: owed,
				});
				return {
					...effects,
					...decided<"done" | "again">("done", debt),
					objects: [{ id, data: next }],
				};
			},
		});
		if (value === "done") return;
	}
	throw new CorkboardError(
		"UNAVAILABLE",
		"Too many are changing this at once; try again.",
		{ details: { id } },
	);
}

function edgesOf(
	type: ObjectType,
	id: Id,
	data: JsonObject,
	next: JsonObject,
	placing: Placing | undefined,
): readonly EdgeUpdate[] {
	const edges = followEdges(type, id, data, next);
	if (placing === undefined) return edges;
	const { mapping, from, before, after } = placing;
	const isPlaced = (edge: EdgeUpdate) =>
		edge.mapping === mapping.name && edge.state === PRESENT;
	return [
		...edges.filter((edge) => !isPlaced(edge)),
		{
			...followEdge(mapping, from, id, PRESENT, next),
			...(before !== undefined && { before }),
			...(after !== undefined && { after }),
		},
	];
}

/** Whether what was locked and read is what is about to be changed. */
function isSame(one: EdgesToRead, other: EdgesToRead): boolean {
	const spell = ({ keys }: EdgesToRead) =>
		keys.map(({ mapping, from, to }) => `${mapping.name} ${from} ${to}`).join();
	return spell(one) === spell(other);
}

export function typeNamed(store: Store, id: Id): ObjectType {
	const type = store.model.objects.get(typeNameOf(store.model, id) ?? "");
	if (type === undefined) throw notFound();
	return type;
}

export function notFound(): CorkboardError {
	return new CorkboardError("NOT_FOUND", "There is no such object.");
}

function raise(data: JsonObject, next: JsonObject): JsonObject {
	return { ...next, version: ((data.version as number | undefined) ?? 0) + 1 };
}
