import { CacheEntry } from "../../cache/cacheEntry.ts";
import type {
	CachePartition,
	LocalCacheOptions,
} from "../../cache/cachePartition.ts";
import { LocalCache } from "../../cache/localCache.ts";
import { CorkboardError } from "../../errors.ts";
import { channelOfLookup } from "../../freshness/channels.ts";
import { keyOfName, lookupName } from "../../storage/keys.ts";
import { modShard } from "../../storage/modShard.ts";
import type { KeyResult, LookupKey, LookupRow } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";

export class CachedLookup extends CacheEntry {
	/** Null if nobody holds the key. */
	readonly row: LookupRow | null;

	constructor(row: LookupRow | null) {
		super(LOOKUP_BYTES);
		this.row = row;
	}
}

/** A row with its key, id and token. */
const LOOKUP_BYTES = 250;

/** Lookup rows, by `lookupName`: the cache in the process, in front of the mod shards. */
export class LookupCache {
	readonly local: LocalCache<CachedLookup>;
	readonly #storage: Storage;
	readonly #partition: CachePartition<CachedLookup>;

	constructor(
		options: { readonly storage: Storage } & LocalCacheOptions<CachedLookup>,
	) {
		const { storage, ...limits } = options;
		this.local = new LocalCache({ channelOf: channelOfLookup, ...limits });
		this.#storage = storage;
		this.#partition = this.local.partition("");
	}

	/** By `lookupName`. */
	invalidate(name: string): void {
		this.local.invalidate(this.#partition, name);
	}

	/** All keys of these. */
	invalidateModShards(modShards: ReadonlySet<number>): void {
		this.local.invalidateWhere((name) =>
			modShards.has(modShard(keyOfName(name), this.#storage.map.modShards)),
		);
	}

	read(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedLookup>[]> {
		return this.local.read<CorkboardError>(
			{ names: keys.map(lookupName), partitionOf: () => this.#partition },
			async (missing, shared) => {
				const rows = await this.#storage.read(
					"lookups",
					missing.map((index) => keys[index] as LookupKey),
					shared,
				);
				return rows.map((row) =>
					row instanceof CorkboardError ? row : new CachedLookup(row),
				);
			},
			{ call },
		);
	}
}
