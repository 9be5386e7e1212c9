import { type Id, unpackId } from "../../id/ids.ts";
import type { Position } from "../../storage/rows.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject } from "../../util/json.ts";
import {
	decideEdges,
	derivedEdges,
	edgesToRead,
	splitByShard,
} from "../outbox/parts/edgeUpdates.ts";
import { unchanged } from "../outbox/unchanged.ts";
import type { EntryJob, WantedJob } from "../store/jobQueue.ts";
import { readDecisive } from "../store/readUncached.ts";
import type { Store } from "../store/store.ts";
import {
	chunksByShard,
	pipelineOf,
	readsOf,
	removeEdges,
	spell,
} from "./archiveEdges.ts";
import { archiveJobs, listsLeftBy, partReference } from "./archiveJobs.ts";
import { objectTypeOf, raiseVersion } from "./changeObject.ts";

/** Edges that one batch looks at. */
const BATCH = 200;
/** How often objects are tried again that moved to other lists between their reading and their lock. */
const ATTEMPTS = 5;

/** Where the archive of an object continues. */
export interface ArchivePosition {
	/** The mapping's name. */
	readonly list: string;
	/** The last edge of the list that was looked at; null before the first. */
	readonly after: Position | null;
}

interface ArchivedBatch {
	/** Null when nothing is left, or the object is not gone (any more). */
	readonly next: ArchivePosition | null;
	readonly removed: number;
}

/**
 * Archive the next edges of an object. Each call is a few transactions, each
 * right by itself: the process may die between any two, and a batch may be
 * repeated. Throws UNAVAILABLE if a shard does not answer.
 */
export async function archiveBatch(
	store: Store,
	id: Id,
	at: ArchivePosition | null,
	now: number = Date.now(),
): Promise<ArchivedBatch> {
	const lists = listsLeftBy(store, objectTypeOf(store, id));
	const first = lists[0];
	if (first === undefined || !(await isGone(store, id, now))) {
		return { next: null, removed: 0 };
	}
	const { list, after } = at ?? { list: first.name, after: null };
	const nth = lists.findIndex(({ name }) => name === list);
	const mapping = lists[nth];
	// A list that the model has no more.
	if (mapping === undefined) return { next: null, removed: 0 };
	const [scanned] = await readDecisive(store.storage, "lists", [
		{
			mapping,
			from: id,
			backward: false,
			limit: BATCH,
			...(after !== null && { after }),
		},
	]);
	const edges = scanned?.edges ?? [];
	const tos = edges.map(({ to }) => to);
	const key = partReference(store.domain, mapping);
	const removed =
		key === null
			? await removeEdges(store, mapping, id, tos)
			: await removeParts(store, { key, owner: id }, tos);
	const last = edges.at(-1);
	if (last !== undefined && edges.length === BATCH) {
		const { sequence, to } = last;
		return { next: { list, after: { sequence, to } }, removed };
	}
	const nextList = lists[nth + 1];
	return {
		next: nextList === undefined ? null : { list: nextList.name, after: null },
		removed,
	};
}

/** Those of the objects whose lists have any edge: only they leave something behind. */
export async function leavingEdges(
	store: Store,
	ids: readonly Id[],
): Promise<readonly Id[]> {
	const lists = ids.flatMap((from) =>
		listsLeftBy(store, objectTypeOf(store, from)).map((mapping) => ({
			mapping,
			from,
		})),
	);
	const scanned = await readDecisive(
		store.storage,
		"lists",
		lists.map((list) => ({
			...list,
			backward: false,
			limit: 1,
		})),
	);
	const leaving = new Set(
		lists.filter((_, at) => scanned[at]?.edges.length).map(({ from }) => from),
	);
	return ids.filter((id) => leaving.has(id));
}

/** Whether what the object leaves behind may be removed: an account that was opened again keeps it. */
export async function isGone(
	store: Store,
	id: Id,
	now: number = Date.now(),
): Promise<boolean> {
	return (await areGone(store, [id], now)).has(id);
}

/** Those of the objects that are gone. */
async function areGone(
	store: Store,
	ids: readonly Id[],
	now: number,
): Promise<ReadonlySet<Id>> {
	const texts = await readDecisive(store.storage, "objects", ids);
	const { visibility } = store.domain;
	const gone = ids.filter((id, at) => {
		const data = parseJsonObject(texts[at] ?? "");
		if (data === null) return false;
		const from = visibility.goneFrom(objectTypeOf(store, id).name, data);
		return from !== null && from <= now;
	});
	return new Set(gone);
}

/**
 * Deletes those of the objects whose owner is gone; returns how many. They are
 * from a list of which `unlistedOwner` gives the key: the job of the owner does
 * not find them.
 */
export async function archiveUnlisted(
	store: Store,
	key: string,
	ids: readonly Id[],
	now: number = Date.now(),
): Promise<number> {
	let removed = 0;
	for (let at = 0; at < ids.length; at += BATCH) {
		const some = ids.slice(at, at + BATCH);
		const texts = await readDecisive(store.storage, "objects", some);
		const owned = some.flatMap((id, nth) => {
			const data = parseJsonObject(texts[nth] ?? "");
			const owner = data?.active === false ? null : data?.[key];
			return typeof owner === "string" ? [{ id, owner: owner as Id }] : [];
		});
		const byOwner = Map.groupBy(owned, ({ owner }) => owner);
		for (const owner of await areGone(store, [...byOwner.keys()], now)) {
			const left = (byOwner.get(owner) ?? []).map(({ id }) => id);
			removed += await removeParts(store, { key, owner }, left);
		}
	}
	return removed;
}

/** Deletes parts of an object that is gone, with the edges of the lists that they are on because of their content. */
async function removeParts(
	store: Store,
	part: Part,
	ids: readonly Id[],
): Promise<number> {
	let removed = 0;
	for (const [shard, some] of chunksByShard(ids, (id) => unpackId(id).shard)) {
		removed += await removePartsOnShard(store, shard, part, some);
	}
	return removed;
}

interface Part {
	/** The key of the reference to what it is a part of. */
	readonly key: string;
	readonly owner: Id;
}

async function removePartsOnShard(
	store: Store,
	shard: number,
	{ key, owner }: Part,
	ids: readonly Id[],
): Promise<number> {
	/** A part that was moved elsewhere before its owner was gone stays; one that waits for its natural keys has no edges yet. */
	const isPart = (data: JsonObject | null): data is JsonObject =>
		data !== null &&
		data[key] === owner &&
		data.active !== false &&
		data.state === undefined;
	const edgesOf = (id: Id, data: JsonObject) =>
		splitByShard(
			store,
			shard,
			derivedEdges(store, objectTypeOf(store, id), id, data, deleted(data)),
		);
	let removed = 0;
	let left = ids;
	for (let attempt = 0; attempt < ATTEMPTS && left.length > 0; attempt++) {
		const texts = await readDecisive(store.storage, "objects", left);
		const found = left.flatMap((id, at) => {
			const data = parseJsonObject(texts[at] ?? "");
			if (!isPart(data)) return [];
			const { here } = edgesOf(id, data);
			return [{ id, here, expected: spell(edgesToRead(store, here)) }];
		});
		if (found.length === 0) return removed;
		const locked = edgesToRead(
			store,
			found.flatMap(({ here }) => here),
		);
		const newJob = (await store.jobs?.queue.prepare()) ?? null;
		const written = await pipelineOf(store).write<{ again: Id[]; done: Id[] }>({
			shard,
			lists: locked.lists,
			edges: locked.keys,
			objects: found.map(({ id }) => id),
			decide(reads) {
				const again: Id[] = [];
				const done: { id: Id; data: JsonObject }[] = [];
				const split = found.map(({ id, expected }, at) => {
					const data = reads.objects[at] ?? null;
					if (!isPart(data)) return null;
					const edges = edgesOf(id, data);
					if (spell(edgesToRead(store, edges.here)) !== expected) {
						again.push(id);
						return null;
					}
					done.push({ id, data: deleted(data) });
					return edges;
				});
				const here = edgesToRead(
					store,
					split.flatMap((edges) => edges?.here ?? []),
				);
				return {
					...decideEdges(here, readsOf(locked, here, reads)),
					result: { again, done: done.map(({ id }) => id) },
					objects: done,
					entry: {
						edges: split.flatMap((edges) => edges?.elsewhere ?? []),
						jobs: jobsFor(
							store,
							done.map(({ id }) => id),
							newJob,
						),
					},
				};
			},
		});
		removed += written.result.done.length;
		left = written.result.again;
	}
	const [id] = left;
	if (id !== undefined) {
		throw unchanged(
			id,
			`Objects that ${owner} left behind keep moving to other lists. Try again.`,
		);
	}
	return removed;
}

function deleted(data: JsonObject): JsonObject {
	return raiseVersion(data, { ...data, active: false });
}

function jobsFor(
	store: Store,
	ids: readonly Id[],
	newJob: ((job: WantedJob) => EntryJob) | null,
): readonly EntryJob[] {
	if (newJob === null) return [];
	const byType = Map.groupBy(ids, (id) => objectTypeOf(store, id));
	return [...byType].flatMap(([type, some]) =>
		archiveJobs(store, type, some, 0).map(newJob),
	);
}
