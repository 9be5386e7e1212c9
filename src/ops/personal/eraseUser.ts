import { setTimeout as sleep } from "node:timers/promises";
import { isActive } from "../../graph/read/visibilityPolicy.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { typeNameOf } from "../../graph/store/typeName.ts";
import {
	type ArchivePosition,
	archiveBatch,
} from "../../graph/write/archive.ts";
import { removeEdges } from "../../graph/write/archiveEdges.ts";
import { SETTLED_MS } from "../../graph/write/archiveJobs.ts";
import { createWrites } from "../../graph/write/createWrites.ts";
import type { Id } from "../../id/ids.ts";
import { RESERVED_LOOKUPS } from "../../model/reservedNames.ts";
import type { LookupRow } from "../../storage/rows.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject } from "../../util/json.ts";
import { changeState, IMPORT_LOOKUP } from "../lookups.ts";
import {
	belongsTo,
	type OwnType,
	otherReferences,
	ownTypes,
	partTypes,
} from "./ownTypes.ts";

/** Says by the id of a user that it was erased, for dumps and for backups that are restored. */
export const ERASED_LOOKUP = RESERVED_LOOKUPS.erased;

interface Erased {
	readonly user: Id;
	/** Objects whose content was deleted, with the user. */
	readonly objects: number;
	/** Edges of others that were removed, which no list of the user's led to; null: not counted. */
	readonly edges: number | null;
	/** Keys of imports that named any of them; null: not counted. */
	readonly keys: number | null;
}

interface EraseOptions {
	readonly signal: AbortSignal;
	/** Deletes what is kept of a user outside the graph. */
	readonly forget: (id: Id) => Promise<void>;
	readonly onStep?: (step: string) => void;
	/** Whether it only counts. */
	readonly isDryRun?: boolean;
	readonly now?: () => Date;
	/** Writes of the user that began before the deletion have ended by then. Milliseconds. */
	readonly settleMs?: number;
}

/** What an erasure means for a schema. */
export interface ErasurePlan {
	/** Names of the types whose objects are deleted with a user. */
	readonly types: readonly string[];
	/** References, as `Group.founder`, by which objects that stay may name the user: its id, which has no content any more. */
	readonly references: readonly string[];
}

export function planErasure(store: Store, user: Id): ErasurePlan {
	const userType = typeNameOf(store.model, user) ?? "";
	const own = ownedTypes(store, user);
	return {
		types: [...own, ...partTypes(store, own)].map(({ type }) => type.name),
		references: otherReferences(store, userType),
	};
}

/** A reference to the user is not enough: the object may be somebody else's, or of many. */
function ownedTypes(store: Store, user: Id): readonly OwnType[] {
	const userType = typeNameOf(store.model, user) ?? "";
	return ownTypes(store, userType).filter(({ isOwned }) => isOwned);
}

/**
 * Deletes a user for good, with all content of what belongs to the user: of the
 * rows nothing stays but that they are deleted, as others may refer to them. Each
 * step can be repeated, and what names the user is deleted last, so that a run that
 * ended early is finished by running it again.
 *
 * 1. The user is deleted: from then on nobody sees the user, or what belongs to it.
 * 2. Everything that belongs to the user is found by reading all rows of its types,
 *    also what was deleted before.
 * 3. Keys of imports go, then of each object its edges in both directions, then its
 *    content, with natural keys. The user is the last.
 * 4. Lists that others have of it without an inverse, such as home feeds, are read
 *    for it.
 */
export async function eraseUser(
	store: Store,
	user: Id,
	{
		signal,
		forget,
		onStep = () => {},
		isDryRun = false,
		now = () => new Date(),
		settleMs = SETTLED_MS,
	}: EraseOptions,
): Promise<Erased> {
	const writes = createWrites(store);
	if (!isDryRun) {
		await writes.remove(user);
		await forget(user);
		onStep("waits for writes that began before");
		await sleep(settleMs, undefined, { signal });
	}
	onStep("finds what belongs to the user");
	const own = await findOwn(store, user, signal);
	const ids = new Set([...own, user]);
	onStep(`${ids.size} objects`);
	if (isDryRun) return { user, objects: ids.size, edges: null, keys: null };
	const keys = await deleteImportKeys(store, ids, signal);
	const edges = await removeListed(store, ids, signal);
	let done = 0;
	for (const id of ids) {
		signal.throwIfAborted();
		// The whole after its parts, and the user, whom everything names, last.
		await writes.remove(id);
		let at: ArchivePosition | null = null;
		do {
			signal.throwIfAborted();
			at = (await archiveBatch(store, id, at)).next;
		} while (at !== null);
		if (id === user) await note(store, user, now());
		await writes.modify(id, scrubbed);
		if (++done % 100 === 0) onStep(`${done} of ${ids.size} objects`);
	}
	return { user, objects: ids.size, edges, keys };
}

/** Null: nothing is left to delete. */
function scrubbed(data: JsonObject): JsonObject | null {
	const { active: _, version, fence, tokens, ...content } = data;
	if (Object.keys(content).length === 0) return null;
	// What says which natural keys it held, by random tokens, releases them.
	const kept = { version, fence, tokens };
	return {
		active: false,
		...Object.fromEntries(
			Object.entries(kept).flatMap(([key, value]) =>
				value === undefined ? [] : [[key, value]],
			),
		),
	};
}

/** Parts first, then the rest; also what is deleted. */
async function findOwn(
	store: Store,
	user: Id,
	signal: AbortSignal,
): Promise<readonly Id[]> {
	const own = ownedTypes(store, user);
	const found = new Set<Id>();
	const { shards } = store.storage.map;
	const look = async (
		type: string,
		isOwn: (data: JsonObject) => boolean,
		into: Set<Id>,
	) => {
		for (const shard of shards) {
			for await (const rows of store.storage.walk("objects", shard, type)) {
				signal.throwIfAborted();
				for (const { id, data: text } of rows) {
					const data = parseJsonObject(text);
					if (data !== null && isOwn(data)) into.add(id);
				}
			}
		}
	};
	for (const type of own) {
		await look(type.type.name, (data) => belongsTo(type, data, user), found);
	}
	let all = [...found];
	const known = new Set(found);
	for (const { type, key } of partTypes(store, own)) {
		const parts = new Set<Id>();
		await look(type.name, (data) => known.has(data[key] as Id), parts);
		for (const id of parts) known.add(id);
		all = [...parts, ...all];
	}
	return all;
}

async function deleteImportKeys(
	store: Store,
	ids: ReadonlySet<Id>,
	signal: AbortSignal,
): Promise<number> {
	const { storage } = store;
	let deleted = 0;
	for (let shard = 0; shard < storage.map.modShards; shard++) {
		for await (const rows of storage.walk("lookups", shard, IMPORT_LOOKUP)) {
			signal.throwIfAborted();
			const ours = rows.filter(({ id }) => ids.has(id));
			if (ours.length === 0) continue;
			valuesOrThrow(
				await storage.compareAndSetLookups(
					ours.map(({ name, key, id, token }: LookupRow) => ({
						name,
						key,
						expect: { id, token },
						next: null,
					})),
				),
			);
			deleted += ours.length;
		}
	}
	return deleted;
}

/** Removes the objects from lists that no inverse leads back from: home feeds, lists by prefix. */
async function removeListed(
	store: Store,
	ids: ReadonlySet<Id>,
	signal: AbortSignal,
): Promise<number> {
	const { storage, model } = store;
	const mappings = [...model.mappings.values()].filter(
		({ inverse }) => inverse === null,
	);
	let removed = 0;
	for (const mapping of mappings) {
		for (const shard of storage.map.shards) {
			const place = storage.map.shardOfLists(mapping, shard);
			for await (const edges of storage.walk("edges", place, mapping)) {
				signal.throwIfAborted();
				const ours = edges.filter(({ to }) => ids.has(to));
				for (const [from, some] of Map.groupBy(ours, ({ from }) => from)) {
					removed += await removeEdges(
						store,
						mapping,
						from,
						some.map(({ to }) => to),
					);
				}
			}
		}
	}
	return removed;
}

async function note(store: Store, user: Id, at: Date): Promise<void> {
	const key = { name: ERASED_LOOKUP, key: user };
	await changeState(store.storage, key, null, at.toISOString());
}

interface ErasedUser {
	readonly user: Id;
	readonly at: string;
}

/** All users that were erased, in no order. */
export async function* erasedUsers(store: Store): AsyncGenerator<ErasedUser> {
	const { storage } = store;
	for (let shard = 0; shard < storage.map.modShards; shard++) {
		for await (const rows of storage.walk("lookups", shard, ERASED_LOOKUP)) {
			for (const { key, token } of rows) yield { user: key as Id, at: token };
		}
	}
}

/** Whether an object with this content was deleted, and has nothing any more. */
export function isErased(data: JsonObject): boolean {
	return scrubbed(data) === null && !isActive({ data });
}
