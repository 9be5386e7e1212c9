import { CorkboardError } from "../errors.ts";
import type { EdgeUpdate } from "../graph/outbox/entry.ts";
import { applyEdges, derivedEdge } from "../graph/outbox/parts/edgeUpdates.ts";
import { reservationsOf } from "../graph/outbox/parts/naturalKeys.ts";
import { isReserved, reserveKeys } from "../graph/outbox/parts/reservations.ts";
import { derivedLists } from "../graph/store/derivedLists.ts";
import {
	readDecisive,
	readUncachedObjects,
} from "../graph/store/readUncached.ts";
import type { Store } from "../graph/store/store.ts";
import { WritePipeline } from "../graph/write/pipeline.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import { ERASED_LOOKUP } from "../ops/personal/eraseUser.ts";
import { edgeName } from "../storage/keys.ts";
import { type Edge, PRESENT, REMOVED } from "../storage/rows.ts";
import { DECISIVE } from "../trace.ts";
import type { JsonObject } from "../util/json.ts";
import type { DumpedEdge, DumpedObject, DumpedPart } from "./dumpedGraph.ts";

/** Objects of one transaction, and edges and ids that are read together. */
const OBJECTS = 100;
const TOGETHER = 500;

interface RestorePartOptions {
	readonly store: Store;
	readonly isDryRun: boolean;
	readonly signal: AbortSignal;
	readonly onStep?: (what: string) => void;
}

export interface RestorePartReport {
	/** Objects that were dumped: what belongs to the one that was asked for, and itself. */
	readonly dumped: number;
	/** Objects that come back, by type. */
	readonly back: Readonly<Record<string, number>>;
	/** Objects that live, and stay as they are. */
	readonly living: number;
	/** Edges that come back, by mapping; those that follow the content of objects are not counted. */
	readonly edges: Readonly<Record<string, number>>;
	readonly left: {
		/** Edges that somebody removed before the object was deleted. */
		readonly removed: number;
		/** Edges whose other end is gone. */
		readonly gone: number;
	};
	/** Natural keys that somebody else has by now: `username ada`. */
	readonly taken: readonly string[];
}

/** An object that comes back. */
interface Returning extends DumpedObject {
	/** Null: there is no row. */
	readonly current: JsonObject | null;
	/** What is stored. */
	readonly next: JsonObject;
	/** When it was deleted, in microseconds; 0: nobody knows any more. */
	readonly deletedAt: number;
}

/**
 * Brings back what is gone of a part of a dump, into the living graph: an object
 * that is deleted, or has no row, with the edges of its lists. What lives stays as
 * it is. Each step decides on what it finds, so it may be interrupted and run again.
 */
export async function restorePart(
	{ store, isDryRun, signal, onStep }: RestorePartOptions,
	{ objects, edges, derived }: DumpedPart,
): Promise<RestorePartReport> {
	onStep?.("what lives");
	const { returning, living, stays } = await findReturning(
		store,
		objects,
		derived,
	);
	const back: Record<string, number> = {};
	for (const { type } of returning)
		back[type.name] = (back[type.name] ?? 0) + 1;
	const taken = await takeKeys(store, returning, isDryRun);
	const plan = await planEdges(store, {
		objects: objects.filter(({ id }) => !stays.has(id)),
		returning,
		edges,
	});
	if (!isDryRun) {
		// Before the objects: nobody sees an edge of an object that is gone, and a run
		// that ends between the two is repeated, as the objects are gone still.
		onStep?.("edges");
		const positions = new Map(
			derived.map((edge) => [edgeName(edge.mapping, edge), edge.sequence]),
		);
		const [whole] = objects;
		const following = (some: readonly Returning[]) =>
			some.flatMap((each) => followingEdges(store, each, positions));
		// Those that follow content are the last, and of those the ones of the whole: while
		// they are removed, they say when the object was deleted, and so which edges and
		// parts were removed before that.
		for (const updates of [
			plan.updates,
			following(returning.filter(({ id }) => id !== whole?.id)),
			following(returning.filter(({ id }) => id === whole?.id)),
		]) {
			for (const some of chunked(updates, TOGETHER)) {
				signal.throwIfAborted();
				await applyEdges(new WritePipeline(store), some);
			}
		}
		onStep?.("objects");
		for (const some of inTransactions(returning)) {
			signal.throwIfAborted();
			await writeObjects(store, some);
		}
	}
	return {
		dumped: objects.length,
		back,
		living,
		edges: plan.back,
		left: plan.left,
		taken,
	};
}

/**
 * What comes back. What stays deleted: objects of users who were erased, and those
 * that were deleted before the whole was, which is the first object.
 */
async function findReturning(
	store: Store,
	objects: readonly DumpedObject[],
	derived: readonly DumpedEdge[],
): Promise<{
	readonly returning: readonly Returning[];
	readonly living: number;
	readonly stays: ReadonlySet<Id>;
}> {
	const current = new Map<Id, JsonObject | null>();
	for (const some of chunked(objects, TOGETHER)) {
		const ids = some.map(({ id }) => id);
		for (const [id, data] of await readUncachedObjects(store, ids, DECISIVE)) {
			current.set(id, data);
		}
	}
	const [whole] = objects;
	if (whole !== undefined) {
		requireSame(store, whole, current.get(whole.id) ?? null);
	}
	const now = new Map<Id, Edge[]>();
	for (const some of chunked(derived, TOGETHER)) {
		for (const edge of await readDecisive(store.storage, "edges", some)) {
			if (edge !== null) now.set(edge.to, [...(now.get(edge.to) ?? []), edge]);
		}
	}
	const erased = await findErased(store, objects);
	const gone = objects.flatMap((object): Returning[] => {
		const { id, type, data } = object;
		const found = current.get(id) ?? null;
		if (found !== null && !isGone(store, type.name, found)) return [];
		const edges = now.get(id) ?? [];
		const removed = edges.filter(({ state }) => state === REMOVED);
		const versions = [
			versionOf(data),
			versionOf(found),
			...edges.map(({ version }) => version),
		];
		return [
			{
				...object,
				current: found,
				next: contentOf(object, found, Math.max(...versions) + 1),
				deletedAt: deletionOf(edges, removed),
			},
		];
	});
	// What was deleted of a whole that lives was deleted by somebody.
	const since =
		gone.find(({ id }) => id === whole?.id)?.deletedAt ??
		Number.POSITIVE_INFINITY;
	const stays = new Set<Id>();
	for (const { id, deletedAt } of gone) {
		const wasBefore = deletedAt > 0 && deletedAt < since;
		if (wasBefore || erased.has(id)) stays.add(id);
	}
	return {
		returning: gone.filter(({ id }) => !stays.has(id)),
		living: objects.length - gone.length,
		stays,
	};
}

/** Two graphs give the same ids. Throws CONFLICT if the object here was created at another time than the dumped one. */
function requireSame(
	{ domain }: Store,
	{ id, type, data }: DumpedObject,
	current: JsonObject | null,
): void {
	const key = type.stored.find(
		({ field }) => field === domain.createdAtField,
	)?.key;
	if (key === undefined || current === null) return;
	const [there, here] = [data[key] ?? null, current[key] ?? null];
	if (there === null || here === null || there === here) return;
	throw new CorkboardError(
		"CONFLICT",
		`The dump has another ${type.name} ${id}: it was created at ${there}, and the one here at ${here}. Is it a dump of this graph?`,
	);
}

/** When an object was deleted; 0 if nothing says so, infinity if a run that was ended early has put its edges back, after all others. */
function deletionOf(edges: readonly Edge[], removed: readonly Edge[]): number {
	if (removed.length > 0) {
		return Math.min(...removed.map(({ sequence }) => sequence));
	}
	return edges.length > 0 ? Number.POSITIVE_INFINITY : 0;
}

/** Those that are, or belong to, a user who was erased. */
async function findErased(
	store: Store,
	objects: readonly DumpedObject[],
): Promise<ReadonlySet<Id>> {
	const ownerOf = ({ type, data }: DumpedObject) => {
		const { owner } = store.domain.visibility.keysOf(type.name);
		return owner === null ? undefined : data[owner];
	};
	const keys = new Set(
		objects.flatMap((object) => [object.id, String(ownerOf(object) ?? "")]),
	);
	keys.delete("");
	const erased = new Set<string>();
	for (const some of chunked([...keys], TOGETHER)) {
		const rows = await readDecisive(
			store.storage,
			"lookups",
			some.map((key) => ({ name: ERASED_LOOKUP, key })),
		);
		for (const [at, row] of rows.entries()) {
			if (row !== null) erased.add(some[at] as string);
		}
	}
	return new Set(
		objects
			.filter(
				(object) =>
					erased.has(object.id) || erased.has(String(ownerOf(object) ?? "")),
			)
			.map(({ id }) => id),
	);
}

/** Whether it is deleted for good: a closed account that can be opened again lives. */
function isGone(store: Store, type: string, data: JsonObject): boolean {
	const from = store.domain.visibility.goneFrom(type, data);
	return data.state === undefined && from !== null && from <= Date.now();
}

/** The content that was dumped, but with the names that the object still holds: others may have had its former ones since. */
function contentOf(
	{ type, data }: DumpedObject,
	current: JsonObject | null,
	version: number,
): JsonObject {
	if (current === null) return { ...data, version };
	const { tokens: _, fence: __, ...content } = data;
	const held = [
		"tokens",
		"fence",
		...type.lookups.flatMap(({ parts }) => parts.map(({ key }) => key)),
	];
	return {
		...content,
		...Object.fromEntries(
			held.flatMap((key) =>
				current[key] === undefined ? [] : [[key, current[key]]],
			),
		),
		version,
	};
}

/** All of one shard, in one transaction. What became active meanwhile stays as it is. */
async function writeObjects(
	store: Store,
	some: readonly Returning[],
): Promise<void> {
	const [{ id: first }] = some as readonly [Returning];
	const absent = some.filter(({ current }) => current === null);
	await new WritePipeline(store).transact({
		shard: unpackId(first).shard,
		objects: some.map(({ id }) => id),
		creates: absent.map(({ id, type, next }) => ({
			type: type.name,
			data: next,
			local: unpackId(id).local,
		})),
		decide: ({ objects }) => ({
			result: undefined,
			objects: some.flatMap(({ id, type, current, next }, at) => {
				const now = objects[at] ?? null;
				if (current === null || now === null) return [];
				if (!isGone(store, type.name, now)) return [];
				return [
					{
						id,
						data: {
							...next,
							version: Math.max(versionOf(next), versionOf(now) + 1),
						},
					},
				];
			}),
		}),
	});
}

/** Reserves the natural keys of objects that are back. Returns those that somebody else has. */
async function takeKeys(
	store: Store,
	returning: readonly Returning[],
	isDryRun: boolean,
): Promise<readonly string[]> {
	const taken: string[] = [];
	for (const some of chunked(returning, TOGETHER)) {
		const wanted = some.flatMap(({ id, next }) =>
			reservationsOf(store, id, next),
		);
		if (wanted.length === 0) continue;
		const rows = isDryRun
			? await readDecisive(store.storage, "lookups", wanted)
			: await reserveKeys(new WritePipeline(store), wanted);
		for (const [at, reservation] of wanted.entries()) {
			const row = rows[at] ?? null;
			if (row === null || isReserved(row, reservation)) continue;
			if (row instanceof CorkboardError) throw row;
			taken.push(`${reservation.name} ${reservation.key}`);
		}
	}
	return taken;
}

/** The edges of the lists that follow an object's content, where they were. */
function followingEdges(
	store: Store,
	{ id, type, next }: Returning,
	positions: ReadonlyMap<string, number>,
): readonly EdgeUpdate[] {
	return derivedLists(store, type, next).map((list) => {
		const edge = derivedEdge(list, id, PRESENT, next);
		const position = positions.get(edgeName(list.mapping, { ...edge }));
		return { ...edge, sequence: edge.sequence ?? position ?? null };
	});
}

async function planEdges(
	store: Store,
	{
		objects,
		returning,
		edges,
	}: {
		readonly objects: readonly DumpedObject[];
		readonly returning: readonly Returning[];
		readonly edges: readonly DumpedEdge[];
	},
) {
	const deletedAt = new Map(
		returning.map((each) => [each.id, each.deletedAt] as const),
	);
	const known = new Set(objects.map(({ id }) => id));
	const updates: EdgeUpdate[] = [];
	const back: Record<string, number> = {};
	const left = { removed: 0, gone: 0 };
	const seen = new Set<string>();
	for (const some of chunked(edges, TOGETHER)) {
		const ends = [...new Set(some.map(({ to }) => to))];
		const others = await readUncachedObjects(
			store,
			ends.filter((id) => !known.has(id)),
			DECISIVE,
		);
		const reversed = some.map((edge) => otherSide(store, edge));
		const present = reversed.filter((each) => each !== null);
		const [mine, theirs] = await Promise.all([
			readDecisive(store.storage, "edges", some),
			readDecisive(store.storage, "edges", present),
		]);
		const other = new Map(
			present.map((edge, at) => [edgeName(edge.mapping, edge), theirs[at]]),
		);
		for (const [at, edge] of some.entries()) {
			const inverse = reversed[at] ?? null;
			const found = mine[at] ?? null;
			const across =
				inverse === null
					? null
					: (other.get(edgeName(inverse.mapping, inverse)) ?? null);
			// Between two objects that both come back it is met twice.
			const name = edgeName(edge.mapping, edge);
			if (seen.has(name) || found?.state === PRESENT) continue;
			seen.add(name);
			if (inverse !== null) seen.add(edgeName(inverse.mapping, inverse));
			const end = others.get(edge.to);
			const typeName = store.model.objectsByNumber.get(
				unpackId(edge.to).type,
			)?.name;
			const isThere =
				known.has(edge.to) ||
				(end !== undefined &&
					end !== null &&
					typeName !== undefined &&
					!isGone(store, typeName, end));
			if (!isThere) {
				left.gone++;
				continue;
			}
			const since = deletedAt.get(edge.from);
			const removedAt = found?.state === REMOVED ? found.sequence : null;
			// Whatever an object that lives has lost was removed by somebody.
			const isOwnWish =
				removedAt !== null && (since === undefined || removedAt < since);
			if (isOwnWish || (since === undefined && found === null)) {
				left.removed++;
				continue;
			}
			const version =
				Math.max(edge.version, found?.version ?? 0, across?.version ?? 0) + 1;
			back[edge.mapping.name] = (back[edge.mapping.name] ?? 0) + 1;
			const { sequence } = edge;
			const shared = { state: PRESENT, version, sequence } as const;
			updates.push({
				...shared,
				mapping: edge.mapping.name,
				from: edge.from,
				to: edge.to,
			});
			if (inverse !== null) {
				updates.push({
					...shared,
					mapping: inverse.mapping.name,
					from: inverse.from,
					to: inverse.to,
				});
			}
		}
	}
	return { updates, back, left };
}

/** The same edge in the inverse mapping; null if it has none. */
function otherSide(store: Store, { mapping, from, to }: DumpedEdge) {
	const { inverse } = mapping;
	if (inverse === null || inverse.kind === "reference") return null;
	const other = store.model.mappings.get(inverse.mapping) as Mapping;
	return { mapping: other, from: to, to: from };
}

function versionOf(data: JsonObject | null): number {
	return typeof data?.version === "number" ? data.version : 0;
}

function inTransactions(
	objects: readonly Returning[],
): readonly (readonly Returning[])[] {
	const byShard = Map.groupBy(objects, ({ id }) => unpackId(id).shard);
	return [...byShard.values()].flatMap((all) => [...chunked(all, OBJECTS)]);
}

function* chunked<T>(all: readonly T[], size: number): Generator<readonly T[]> {
	for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
