import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping, ObjectType } from "../../model/types.ts";
import { edgeName } from "../../storage/keys.ts";
import { type OutboxRow, PRESENT } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import type { EdgeUpdate, OutboxEntry } from "../outbox/entry.ts";
import {
	decideEdges,
	derivedEdge,
	derivedEdges,
	type EdgesToRead,
	edgesToRead,
	splitByShard,
} from "../outbox/parts/edgeUpdates.ts";
import { unchanged } from "../outbox/unchanged.ts";
import { readUncachedObjects } from "../store/readUncached.ts";
import type { Store } from "../store/store.ts";
import { typeNameOf } from "../store/typeName.ts";
import { archiveJobs } from "./archiveJobs.ts";
import type { WritePipeline } from "./pipeline.ts";

/** How often a change is tried again when the object moved to other lists between its reading and its lock. */
const ATTEMPTS = 5;

/** Where the object has to stand on one of its lists. */
export interface TargetPosition {
	readonly mapping: Mapping;
	readonly from: Id;
	readonly before?: Id;
	readonly after?: Id;
}

/** The new content without its version; null to change nothing. Synchronous, and may be called again. */
export type Change = (data: JsonObject) => JsonObject | null;

/**
 * Read-modify-write of one object under its lock, and of the lists that follow
 * its references: those of its own shard in the same transaction, others by the
 * outbox entry.
 */
export async function changeObject(
	pipeline: WritePipeline,
	id: Id,
	change: Change,
	options: {
		readonly position?: TargetPosition;
		/** The content, if the caller has just read it. */
		readonly read?: JsonObject;
		/** What the outbox entry promises besides edges. */
		readonly entry?: (data: JsonObject, next: JsonObject) => OutboxEntry;
		/** Entries to deliver together with that of this change, once it is committed. */
		readonly alsoDeliver?: () => readonly OutboxRow[];
	} = {},
): Promise<void> {
	const { store } = pipeline;
	const type = objectTypeOf(store, id);
	const { shard } = unpackId(id);
	for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
		const before =
			attempt === 0 && options.read !== undefined
				? options.read
				: await readExisting(pipeline, id);
		const planned = change(before);
		if (planned === null) {
			await invalidateUnchanged(pipeline, id);
			return;
		}
		// Lists are locked before the object, so they have to be named before it is read under its lock.
		const expected = edgesToRead(
			store,
			splitByShard(
				store,
				shard,
				edgesOf(
					store,
					type,
					id,
					before,
					raiseVersion(before, planned),
					options,
				),
			).here,
		);
		const newJob =
			becomesGone(store, type, before, planned) === null
				? undefined
				: await store.jobs?.queue.prepare();
		const { result } = await pipeline.write<"done" | "again">(
			{
				shard,
				lists: expected.lists,
				edges: expected.keys,
				neighbors: expected.neighbors,
				objects: [id],
				decide(reads) {
					const data = reads.objects[0] ?? null;
					if (data === null) throw notFound();
					const changed = change(data);
					if (changed === null) return { result: "done" };
					const next = raiseVersion(data, changed);
					const { here, elsewhere } = splitByShard(
						store,
						shard,
						edgesOf(store, type, id, data, next, options),
					);
					const edges = edgesToRead(store, here);
					if (!isSame(edges, expected)) return { result: "again" };
					const goneFrom = becomesGone(store, type, data, next);
					if (
						goneFrom !== null &&
						newJob === undefined &&
						store.jobs !== null
					) {
						return { result: "again" };
					}
					return {
						...decideEdges(edges, reads),
						result: "done",
						objects: [{ id, data: next }],
						hides: store.domain.visibility.mayHide(type.name, data, next),
						entry: {
							...options.entry?.(data, next),
							edges: elsewhere,
							...(goneFrom !== null &&
								newJob && {
									jobs: archiveJobs(store, type, [id], goneFrom).map(newJob),
								}),
						},
					};
				},
			},
			(result) => (result === "done" ? (options.alsoDeliver?.() ?? []) : []),
		);
		if (result === "done") return;
	}
	throw unchanged(
		id,
		"Too many requests are changing this object at once. Try again.",
	);
}

/**
 * A write that finds nothing to change has read the object on its shard, maybe
 * after a change by another process that this process's caches do not know of.
 * What the request reads next must not be older, so the caches are dropped as by
 * any other write.
 */
export async function invalidateUnchanged(
	pipeline: WritePipeline,
	id: Id,
): Promise<void> {
	await pipeline.invalidate({ objects: [id] });
}

export async function readExisting(
	{ store, call }: WritePipeline,
	id: Id,
): Promise<JsonObject> {
	const data = (await readUncachedObjects(store, [id], call)).get(id) ?? null;
	if (data === null) throw notFound();
	return data;
}

function edgesOf(
	store: Store,
	type: ObjectType,
	id: Id,
	data: JsonObject,
	next: JsonObject,
	{ position }: { readonly position?: TargetPosition },
): readonly EdgeUpdate[] {
	const edges = derivedEdges(store, type, id, data, next);
	if (position === undefined) return edges;
	const { mapping, from, before, after } = position;
	const isPositioned = (edge: EdgeUpdate) =>
		edge.mapping === mapping.name && edge.state === PRESENT;
	return [
		...edges.filter((edge) => !isPositioned(edge)),
		{
			...derivedEdge({ mapping, from }, id, PRESENT, next),
			...(before !== undefined && { before }),
			...(after !== undefined && { after }),
		},
	];
}

/** From when on what the object leaves behind may be archived, if this change is why; else null. */
function becomesGone(
	{ domain: { visibility } }: Store,
	{ name }: ObjectType,
	data: JsonObject,
	next: JsonObject,
): number | null {
	const from = visibility.goneFrom(name, next);
	return from === visibility.goneFrom(name, data) ? null : from;
}

/** Whether the edges that were locked and read are those about to be changed. */
function isSame(one: EdgesToRead, other: EdgesToRead): boolean {
	const spell = ({ keys }: EdgesToRead) =>
		keys.map((key) => edgeName(key.mapping, key)).join();
	return spell(one) === spell(other);
}

export function objectTypeOf(store: Store, id: Id): ObjectType {
	const type = store.model.objects.get(typeNameOf(store.model, id) ?? "");
	if (type === undefined) throw notFound();
	return type;
}

export function notFound(): CorkboardError {
	return new CorkboardError("NOT_FOUND", "Object not found.");
}

export function raiseVersion(data: JsonObject, next: JsonObject): JsonObject {
	return { ...next, version: ((data.version as number | undefined) ?? 0) + 1 };
}
