import type { SharedCache } from "../../cache/sharedCache.ts";
import type { CallOptions, WriteTrace } from "../../diagnostics.ts";
import type { CursorCodec } from "../../id/cursorCodec.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type {
	Edge,
	KeyResult,
	ListKey,
	ListRow,
	LookupChange,
	LookupKey,
	LookupRow,
	Storage,
} from "../../storage/storage.ts";
import type { Domain } from "../domain.ts";
import type { Node } from "../types.ts";

/**
 * What all requests of a process share: the shards, and the caches in front of
 * them. It knows no viewer: what it answers is what is stored, deleted and
 * hidden things included, so nothing above `graph/` may hold one.
 */
export interface Store {
	readonly model: Model;
	readonly domain: Domain;
	/** For what has to be read past all caches. Writes go through the write pipeline. */
	readonly storage: Storage;
	readonly cursors: CursorCodec;
	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<readonly KeyResult<Node | null>[]>;
	/** The beginning of each list, with at least `depth` edges or all there are. */
	readHeads(
		lists: readonly ListKey[],
		depth: number,
		call?: CallOptions,
	): Promise<readonly KeyResult<Head>[]>;
	readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<LookupRow | null>[]>;
	/** What is in the process already: the object, null for one known to be absent, undefined if it has to be read. */
	cachedObject(id: Id): Node | null | undefined;
	cachedHead(list: ListKey): Head | undefined;

	/**
	 * The steps by which the write pipeline keeps caches right around a transaction
	 * (docs/consistency.md "2. Writes and the outbox", "3. Caches"): tombstones in
	 * the shared caches before its COMMIT, `invalidate` after it. Whether the shared
	 * caches acknowledged.
	 */
	putTombstones(changed: ChangedKeys, trace?: WriteTrace): Promise<boolean>;
	/** Drop this process's own entries. */
	invalidateLocally(changed: ChangedKeys): void;
	/** Tell other processes to drop theirs. */
	publish(changed: ChangedKeys): void;
	/** As storage's, and keeps no old row in memory. */
	compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]>;
	/** Whether caches are shared with other processes, so that a write owes their clearing. */
	readonly sharesCaches: boolean;
	/** Delete from all caches. Answers whether the shared ones acknowledged. */
	invalidate(changed: ChangedKeys, trace?: WriteTrace): Promise<boolean>;
	/** Forget here what another process changed: keys as `Shared.publish` was given them. */
	applyInvalidations(keys: readonly string[]): void;
	/** Forget all that is kept in the process: what it was read from is no longer what it would be read from. */
	invalidateAll(): void;
	/** While other processes cannot be heard, nothing in this one is to be believed. */
	bypass(on: boolean): void;
}

/** The newest edges of a list, or the first of one that begins with the oldest. */
export interface Head {
	/** In the mapping's order. */
	readonly edges: readonly Edge[];
	/** Whether that is the whole list. */
	readonly complete: boolean;
	readonly list: ListRow;
}

export interface ChangedKeys {
	readonly objects?: readonly Id[];
	readonly lists?: readonly ListKey[];
}

/** What processes share besides the shards. */
export interface SharedCaches {
	readonly objects: SharedCache | null;
	readonly heads: SharedCache | null;
	/** Tell other processes which of their entries to forget. */
	readonly publish: (keys: readonly string[]) => void;
	/** Rises when a shard is moved or promoted: what was cached of it before is not looked at. */
	readonly generationOf: (shard: number) => number;
}

export function listKey(list: ListKey): string {
	return `${list.mapping.name} ${list.from}`;
}

export function typeNameOf(model: Model, id: Id): string | null {
	return model.objectsByNumber.get(unpackId(id).type)?.name ?? null;
}
