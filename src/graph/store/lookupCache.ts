import { LocalCache } from "../../cache/localCache.ts";
import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import { lookupName } from "../../storage/keys.ts";
import type {
	KeyResult,
	LookupKey,
	LookupRow,
	Storage,
} from "../../storage/storage.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";

/** Lookup rows, by `lookupName`: the cache in the process, in front of the mod shards. */
export interface LookupCache {
	readonly local: LocalCache<{ readonly row: LookupRow | null }>;
	read(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<LookupRow | null>[]>;
}

export function createLookupCache(options: {
	readonly storage: Storage;
	/** Bytes. */
	readonly maxWeight: number;
	/** Milliseconds. */
	readonly now?: () => number;
	readonly isOverdue?: () => boolean;
}): LookupCache {
	const { storage, ...limits } = options;
	const local = new LocalCache<{ readonly row: LookupRow | null }>({
		weigh: () => 200,
		...limits,
	});
	return {
		local,
		read(keys, call) {
			const results = local.read<CorkboardError>(
				keys.map(lookupName),
				async (missing) => {
					const rows = await storage.readLookups(
						missing.map((index) => keys[index] as LookupKey),
						call,
					);
					return rows.map((row) =>
						row instanceof CorkboardError ? row : { row },
					);
				},
				{ trace: call?.trace },
			);
			return andThen(results, (rows) =>
				rows.map((result) =>
					result instanceof CorkboardError ? result : result.row,
				),
			);
		},
	};
}
