import type {
	CachePartition,
	LocalCacheOptions,
} from "../../cache/cachePartition.ts";
import { LocalCache, type Moment } from "../../cache/localCache.ts";
import { readThrough } from "../../cache/readThrough.ts";
import { asCorkboardError, CorkboardError } from "../../errors.ts";
import { channelOfWord } from "../../freshness/channels.ts";
import {
	type SharedCaches,
	sharedObjectKey,
} from "../../freshness/sharedCaches.ts";
import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import { parseStoredObject } from "../../storage/storedObject.ts";
import type { CallOptions } from "../../trace.ts";
import type { JsonObject } from "../../util/json.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { Visibility } from "../domain.ts";
import { CachedObject, type ReadObject } from "./cachedObject.ts";
import { unpackJson } from "./packedJson.ts";
import { typeNameOf } from "./typeName.ts";

/**
 * Objects by id: the cache in the process, in front of memcached, in front of
 * the shards. That an object does not exist is cached nowhere, so the write that
 * creates it has nothing to invalidate, in no cache and in no other process
 * (docs/consistency.md "3. Caches", "New objects").
 */
export class ObjectCache {
	readonly local: LocalCache<CachedObject>;
	readonly #storage: Storage;
	readonly #shared: SharedCaches | undefined;
	readonly #isOverdue: () => boolean;
	readonly #partition: CachePartition<CachedObject>;
	readonly #toRead: (id: Id, data: JsonObject) => ReadObject;

	constructor(
		options: {
			readonly model: Model;
			readonly visibility: Pick<Visibility, "factsOf">;
			readonly storage: Storage;
			readonly shared: SharedCaches | undefined;
		} & LocalCacheOptions<CachedObject>,
	) {
		const { model, visibility, storage, shared, ...limits } = options;
		this.#storage = storage;
		this.#shared = shared;
		this.#isOverdue = limits.isOverdue ?? (() => false);
		this.local = new LocalCache({
			isKept: ({ exists }) => exists,
			unpack: (id, from, start, end) => {
				const read = this.#toRead(id as Id, unpackJson(from, start, end));
				return CachedObject.unpacked(read, end - start);
			},
			channelOf: channelOfWord,
			...limits,
		});
		this.#partition = this.local.partition("");
		this.#toRead = (id, data) => {
			const node = { id, type: typeNameOf(model, id) as string, data };
			return { node, facts: visibility.factsOf(node) };
		};
	}

	cached(id: Id, moment?: Moment): CachedObject | undefined {
		return this.local.get(this.#partition, id, moment);
	}

	invalidate(id: Id): void {
		this.local.invalidate(this.#partition, id);
	}

	read(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedObject>[]> {
		return this.local.read<CorkboardError>(
			{ names: ids, partitionOf: () => this.#partition },
			(missing, shared) =>
				this.#readMissing(
					missing.length === ids.length
						? ids
						: missing.map((index) => ids[index] as Id),
					shared,
				),
			{ call },
		);
	}

	/** From the shared cache, and what it does not have from the shards. */
	async #readMissing(
		ids: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<CachedObject>[]> {
		const shared = this.#shared;
		if (shared?.objects == null || this.#isOverdue()) {
			const texts = await this.#storage.read("objects", ids, call);
			return texts.map((text, at) =>
				text instanceof CorkboardError
					? text
					: this.#toCached(ids[at] as Id, text),
			);
		}
		/** What was loaded, for the shared cache. */
		const loaded = new Map<number, string | null>();
		return readThrough<KeyResult<CachedObject>>(
			shared.objects,
			ids.map((id) => sharedObjectKey(shared, id)),
			{
				decode: (text, index) => {
					const object = this.#toCached(ids[index] as Id, text);
					return object instanceof CorkboardError ? null : object;
				},
				encode: (value, index) =>
					value instanceof CorkboardError ? undefined : loaded.get(index),
			},
			async (missing) => {
				const texts = await this.#storage.read(
					"objects",
					missing.map((index) => ids[index] as Id),
					call,
				);
				return texts.map((text, at) => {
					if (text instanceof CorkboardError) return text;
					const index = missing[at] as number;
					loaded.set(index, text);
					return this.#toCached(ids[index] as Id, text);
				});
			},
			call?.trace,
		);
	}

	#toCached(id: Id, text: string | null): KeyResult<CachedObject> {
		if (text === null) return CachedObject.absent();
		try {
			const read = this.#toRead(id, parseStoredObject(id, text));
			return CachedObject.stored(read, text);
		} catch (thrown) {
			return asCorkboardError(thrown);
		}
	}
}
