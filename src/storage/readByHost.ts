import { CorkboardError } from "../errors.ts";
import type { CallOptions } from "../trace.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import type { KeyAt, ShardLocation } from "./driver.ts";
import type { KeyResult } from "./rows.ts";
import { StorageFailure, toStorageError } from "./storageFailure.ts";

/** How keys are read from their hosts. */
export interface ReadAtHosts<P extends ShardLocation, Key, A> {
	readonly locationOf: (key: Key) => P | undefined;
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
}

/**
 * Reads keys from their hosts, in calls of a bounded size side by side. The
 * failure of a call is the result of its own keys only.
 */
export async function readByHost<P extends ShardLocation, Key, A>(
	keys: readonly Key[],
	options: ReadAtHosts<P, Key, A>,
	call?: CallOptions,
): Promise<readonly KeyResult<A>[]> {
	const { locationOf, absent, maxKeys, read } = options;
	const results = new Array<KeyResult<A>>(keys.length);
	const batches = new Map<P["host"], HostKeys<Key, P>[]>();
	for (const [index, key] of keys.entries()) {
		const shard = locationOf(key);
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
	const all = [...batches.values()].flat();
	// All start before the first is awaited.
	const calls: MaybePromise<readonly A[]>[] = [];
	for (const { host, some } of all) {
		try {
			calls.push(read(host, some, call));
		} catch (thrown) {
			calls.push(Promise.reject(thrown));
		}
	}
	for (const [number, ended] of (await Promise.allSettled(calls)).entries()) {
		const { some, at } = all[number] as HostKeys<Key, P>;
		for (const [one, index] of at.entries()) {
			results[index] =
				ended.status === "fulfilled"
					? (ended.value[one] as A)
					: errorOf(ended.reason, (some[one] as KeyAt<Key, P>).shard);
		}
	}
	return results;
}

/** Throws what is no failure of a shard. */
function errorOf(thrown: unknown, { number }: ShardLocation): CorkboardError {
	if (thrown instanceof StorageFailure) return toStorageError(thrown, number);
	if (thrown instanceof CorkboardError) return thrown;
	throw thrown;
}

interface HostKeys<Key, P extends ShardLocation> {
	readonly host: P["host"];
	readonly some: KeyAt<Key, P>[];
	readonly at: number[];
}
