import { CorkboardError } from "../errors.ts";
import type { CallOptions } from "../trace.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import type { KeyAt, Place } from "./driver.ts";
import type { KeyResult } from "./storage.ts";
import { StorageFailure, toStorageError } from "./storageFailure.ts";

/**
 * Reads keys from their hosts, in calls of a bounded size side by side. The
 * failure of a call is the result of its own keys only.
 */
export async function readByHost<P extends Place, Key, A>(
	keys: readonly Key[],
	options: {
		readonly placeOf: (key: Key) => P | undefined;
		/** The result of a key on no shard. */
		readonly absent: (key: Key) => A;
		/** Most keys of one call. */
		readonly maxKeys: number;
		/** The results of some keys of one host, in their order. */
		readonly read: (
			host: P["host"],
			some: readonly KeyAt<Key, P>[],
			call: CallOptions | undefined,
		) => MaybePromise<readonly A[]>;
	},
	call?: CallOptions,
): Promise<readonly KeyResult<A>[]> {
	const { placeOf, absent, maxKeys, read } = options;
	const results = new Array<KeyResult<A>>(keys.length);
	const batches = new Map<P["host"], Batch<Key, P>[]>();
	for (const [index, key] of keys.entries()) {
		const shard = placeOf(key);
		if (shard === undefined) {
			results[index] = absent(key);
			continue;
		}
		let own = batches.get(shard.host);
		if (own === undefined) {
			own = [];
			batches.set(shard.host, own);
		}
		let batch = own.at(-1);
		if (batch === undefined || batch.at.length >= maxKeys) {
			batch = { host: shard.host, some: [], at: [] };
			own.push(batch);
		}
		batch.some.push({ key, shard });
		batch.at.push(index);
	}
	await Promise.all(
		[...batches.values()].flat().map(async ({ host, some, at }) => {
			let found: readonly KeyResult<A>[];
			try {
				found = await read(host, some, call);
			} catch (thrown) {
				if (thrown instanceof StorageFailure) {
					found = some.map(({ shard }) => toStorageError(thrown, shard.number));
				} else if (thrown instanceof CorkboardError) {
					found = some.map(() => thrown);
				} else throw thrown;
			}
			for (const [one, index] of at.entries()) {
				results[index] = found[one] as KeyResult<A>;
			}
		}),
	);
	return results;
}

interface Batch<Key, P extends Place> {
	readonly host: P["host"];
	readonly some: KeyAt<Key, P>[];
	readonly at: number[];
}
