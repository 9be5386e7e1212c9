import { fnv1a } from "../util/fnv1a.ts";
import { reportFills, type SharedCacheLevel } from "./diagnostics.ts";
import { PendingDeletes } from "./pendingDeletes.ts";

/**
 * A cache that several processes share. It holds data that does not depend on
 * the viewer, and any key may be gone at any moment. A key is filled under a
 * lease, never by time alone: a fill that was delayed until after a write would
 * keep the stale value for its whole TTL (docs/consistency.md, "3. Caches").
 *
 *     absent ──getOrLease──▶ leased (5 s) ──fill──▶ value ──fill──▶ value
 *       ▲                        │                    │
 *       └──────── delete ────────┴── putTombstones ──▶ tombstone (about 2 s)
 *
 * A hit carries a lease too: the right to replace exactly that value, which is
 * lost with it.
 *
 * No method rejects, and none waits longer than its own deadline: a cache that
 * is slow or down costs one bounded wait, then none until it is tried again.
 */
export interface SharedCache extends AsyncDisposable {
	readonly layer: "memcached" | "redis";
	/** The host that holds a key, as `host:port`. */
	hostOf(key: string): string;
	/** The value of each key, in order, or a lease: its holder reads the database and fills the key. One batch for all keys. */
	getOrLease(keys: readonly string[]): Promise<readonly GetOrLeaseResult[]>;
	/** Sets values under their leases. A fill whose lease is no longer valid is dropped. */
	fill(fills: readonly Fill[]): Promise<void>;
	/** Before a commit: tombstones, which prevent fills even if the writer dies. Returns whether all were acknowledged. */
	putTombstones(keys: readonly string[]): Promise<boolean>;
	/**
	 * After a commit, so that a hot key refills at once. Returns whether all
	 * deletes were acknowledged. From the call on until they are, the keys are
	 * `down` for `getOrLease` of this process, and the deletes are retried; the
	 * outbox entry keeps them too.
	 */
	delete(keys: readonly string[]): Promise<boolean>;
	/** Whether no delete of these keys by this process is unacknowledged, after waiting for that at most so long. */
	untilDeleted(keys: readonly string[], ms: number): Promise<boolean>;
	/** How full its hosts are. Those that do not answer are left out. */
	levels(): Promise<readonly SharedCacheLevel[]>;
}

/**
 * - `hit`: the value, and the right to replace it with a better one that is read afterwards.
 * - `lease`: the key is absent, and this caller may fill it.
 * - `busy`: another caller holds the lease, or the key has a tombstone.
 * - `down`: the cache did not respond, or may hold an old value because it did
 *   not acknowledge a delete; read the database and fill nothing.
 */
export type GetOrLeaseResult =
	| {
			readonly kind: "hit";
			readonly value: string;
			readonly lease: FillLease;
	  }
	| { readonly kind: "lease"; readonly lease: FillLease }
	| { readonly kind: "busy" }
	| { readonly kind: "down" };

/** The right to fill one key. */
export interface FillLease {
	readonly key: string;
	/** Known only to the cache that gave the lease. */
	readonly token: unknown;
}

export interface Fill {
	readonly lease: FillLease;
	/** Null gives the lease back: nothing is cached, and the next reader may take it. */
	readonly value: string | null;
}

/**
 * One server of a shared cache, as its client library reaches it. No method
 * rejects: null, or false, says that the server did not answer or refused.
 */
export interface CacheServer extends Disposable {
	readonly host: string;
	/** How long a value or a lease may stay in the server. */
	readonly maxAgeMs: number;
	/** Without `down`, except for single keys that the server refused. */
	getOrLease(
		keys: readonly string[],
	): Promise<readonly GetOrLeaseResult[] | null>;
	/** Whether the server may be sent this lease now: it gave it, and counts as it did then. */
	holds(lease: FillLease): boolean;
	/** Sets each value if its lease is still valid; null for a value removes the lease. Returns how many were refused. */
	fill(fills: readonly Fill[]): Promise<number | null>;
	/** Sets tombstones, whatever is there. */
	putTombstones(keys: readonly string[]): Promise<boolean>;
	/** Deletes the keys, whatever is there. A probe may be sent to a server that was down. */
	delete(keys: readonly string[], isProbe: boolean): Promise<boolean>;
	level(): Promise<SharedCacheLevel | null>;
}

/**
 * The shared cache on its servers: everything that is the same for memcached and
 * Redis. Each key belongs to one server. The keys of a server that is down are
 * skipped, not moved to another server, whose copy would be stale when it is
 * read again.
 */
export function openSharedCache(options: {
	readonly layer: SharedCache["layer"];
	/** Each begins to connect with its first call, and calls `onUp` when a call succeeded after others had failed. */
	readonly servers: readonly ((onUp: () => void) => CacheServer)[];
	/** A key that the servers reject is never cached, so there is nothing to delete either. */
	readonly isValidKey?: (key: string) => boolean;
}): SharedCache {
	const { layer, isValidKey } = options;
	const hosts = options.servers.map((open): Host => {
		const server = open(() => deletes.retry());
		const deletes = new PendingDeletes({
			maxAgeMs: server.maxAgeMs,
			send: (keys, isProbe) => server.delete(keys, isProbe),
		});
		return { server, deletes };
	});
	const hostOf = (key: string) => hosts[hostIndex(key, hosts.length)] as Host;

	/** The indexes of the valid keys, by host. */
	const byHost = (
		keys: readonly string[],
	): readonly (readonly [Host, readonly number[]])[] => {
		const groups = new Map<Host, number[]>();
		for (let index = 0; index < keys.length; index++) {
			const key = keys[index] as string;
			if (isValidKey?.(key) === false) continue;
			const host = hostOf(key);
			const group = groups.get(host);
			if (group) group.push(index);
			else groups.set(host, [index]);
		}
		return [...groups];
	};

	/** Whether the result is true for the keys of every host. */
	const everyHost = async (
		keys: readonly string[],
		send: (host: Host, ofHost: readonly string[]) => Promise<boolean>,
	): Promise<boolean> => {
		const acknowledged = await Promise.all(
			byHost(keys).map(([host, indexes]) =>
				send(
					host,
					indexes.map((at) => keys[at] as string),
				),
			),
		);
		return acknowledged.every(Boolean);
	};

	return {
		layer,
		hostOf: (key) => hostOf(key).server.host,

		async getOrLease(keys) {
			const groups = byHost(keys);
			const [host, indexes] = groups[0] ?? [];
			// Mostly one host has all keys, and nothing has to be put together.
			if (host?.deletes.isEmpty && indexes?.length === keys.length) {
				return (await host.server.getOrLease(keys)) ?? keys.map(() => DOWN);
			}
			const results = new Array<GetOrLeaseResult>(keys.length).fill(DOWN);
			await Promise.all(
				groups.map(([host, indexes]) =>
					getOrLeaseOf(host, indexes, keys, results),
				),
			);
			return results;
		},

		async fill(fills) {
			await Promise.all(
				hosts.map(({ server }) => fillServer(layer, server, fills)),
			);
		},

		putTombstones: (keys) =>
			everyHost(keys, ({ server }, ofHost) => server.putTombstones(ofHost)),

		delete: (keys) =>
			everyHost(keys, ({ deletes }, ofHost) => deletes.delete(ofHost)),

		untilDeleted: (keys, ms) =>
			everyHost(keys, ({ deletes }, ofHost) => deletes.untilDone(ofHost, ms)),

		async levels() {
			const levels = await Promise.all(
				hosts.map(({ server }) => server.level()),
			);
			return levels.filter((level) => level !== null);
		},

		async [Symbol.asyncDispose]() {
			for (const { server, deletes } of hosts) {
				deletes[Symbol.dispose]();
				server[Symbol.dispose]();
			}
		},
	};
}

export const BUSY: GetOrLeaseResult = { kind: "busy" };
export const DOWN: GetOrLeaseResult = { kind: "down" };

interface Host {
	readonly server: CacheServer;
	readonly deletes: PendingDeletes;
}

/** memcached's limit is 1 MiB for value, key and item header together. */
const MAX_VALUE_BYTES = 1_000_000;
/** Bytes of values in one command: a larger one would delay the reads behind it. */
const BATCH_BYTES = 256 * 1024;

/** Puts the results of one host's keys into `results`; those whose delete is pending stay `down`. */
async function getOrLeaseOf(
	{ server, deletes }: Host,
	all: readonly number[],
	keys: readonly string[],
	results: GetOrLeaseResult[],
): Promise<void> {
	// Decided before the wait: a delete may start or end meanwhile.
	const indexes = deletes.isEmpty
		? all
		: all.filter((at) => !deletes.has(keys[at] as string));
	if (indexes.length === 0) return;
	const found = await server.getOrLease(
		indexes.map((at) => keys[at] as string),
	);
	if (found === null) return;
	for (let at = 0; at < indexes.length; at++) {
		results[indexes[at] as number] = found[at] as GetOrLeaseResult;
	}
}

/** Sends the fills whose leases the server holds, in batches, one after the other, until one is not answered. */
async function fillServer(
	layer: SharedCache["layer"],
	server: CacheServer,
	fills: readonly Fill[],
): Promise<void> {
	for (let at = 0; at < fills.length; ) {
		const batch: Fill[] = [];
		for (let bytes = 0; at < fills.length && bytes < BATCH_BYTES; at++) {
			const { lease, value } = fills[at] as Fill;
			if (!server.holds(lease)) continue;
			const size = value === null ? 0 : Buffer.byteLength(value);
			const isStorable = size <= MAX_VALUE_BYTES && value?.isWellFormed();
			// Otherwise the lease is removed, so that no reader waits for a value that is not cached.
			batch.push({ lease, value: isStorable ? value : null });
			if (isStorable) bytes += size;
		}
		if (batch.length === 0) return;
		const refused = await server.fill(batch);
		reportFills(layer, batch.length, refused);
		if (refused === null) return;
	}
}

/** Runs the items in batches of at most `size`, all at once, and joins the results. */
export function inBatches<Item, Result>(
	items: Item[],
	size: number,
	run: (batch: Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
	if (items.length <= size) return run(items);
	const batches: Promise<readonly Result[]>[] = [];
	for (let at = 0; at < items.length; at += size) {
		batches.push(run(items.slice(at, at + size)));
	}
	return Promise.all(batches).then((all) => all.flat());
}

/** The hash is mixed once more for the modulo. It must never change: it decides the host of a key. */
function hostIndex(key: string, hosts: number): number {
	if (hosts === 1) return 0;
	const hash = fnv1a(key);
	const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	return ((mixed ^ (mixed >>> 13)) >>> 0) % hosts;
}
