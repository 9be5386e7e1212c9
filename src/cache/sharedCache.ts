import { fnv1a } from "../util/fnv1a.ts";
import {
	CACHE_CHANNELS,
	reportFills,
	type SharedCacheLevel,
} from "./diagnostics.ts";
import { type Gate, OPEN_GATE } from "./gate.ts";
import { PendingDeletes } from "./pendingDeletes.ts";
import {
	type KeyServer,
	type Placing,
	placingOf,
	type ServerList,
	type ServerRef,
} from "./serverList.ts";
import { WriteProof, type WriteTrial } from "./writeProof.ts";

/**
 * A cache that several processes share. It holds data that does not depend on
 * the viewer, and any key may be gone at any moment. A key is filled under a
 * lease, never by time alone: a fill that was delayed until after a write would
 * keep the stale value for its whole TTL (docs/consistency.md, "3. Caches").
 *
 *     absent ──getOrLease──▶ leased (5 s) ──fill──▶ value ──fill──▶ value
 *       ▲                        │                    │
 *       └──────── delete ────────┴────────────────────┘
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
	/**
	 * After a commit: values, and leases to fill what was read before it. Returns
	 * whether all deletes were acknowledged. From the call on until they are, the keys are
	 * `down` for `getOrLease` of this process, and the deletes are retried; the
	 * outbox entry keeps them too.
	 */
	delete(keys: readonly string[]): Promise<boolean>;
	/** Waits at most so long until all deletes of these keys by this process are acknowledged. Returns whether they are. */
	untilDeleted(keys: readonly string[], ms: number): Promise<boolean>;
	/** How full its hosts are. Those that do not answer are left out. */
	levels(): Promise<readonly SharedCacheLevel[]>;
}

/** One whose servers may become others. */
export interface PlacedCache extends SharedCache {
	/** Switches to these. Servers that stay keep what they have. */
	use(lists: readonly ServerList[]): void;
}

/**
 * - `hit`: the value, and the right to replace it with a better one that is read afterwards.
 * - `lease`: the key is absent, and this caller may fill it.
 * - `busy`: another caller holds the lease.
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
	/** Deletes the keys, whatever is there. A probe may be sent to a server that was down. */
	delete(keys: readonly string[], isProbe: boolean): Promise<boolean>;
	level(): Promise<SharedCacheLevel | null>;
	/** Writes a key of its own, reads it, deletes it and reads it again. What is read after the call, over the same connection, is behind it. */
	tryWrite(): Promise<WriteTrial>;
}

export interface SharedCacheOptions {
	readonly layer: SharedCache["layer"];
	readonly lists: readonly ServerList[];
	/** It begins to connect with its first call, and calls `onUp` when a call succeeded after others had failed. */
	readonly open: (server: ServerRef, onUp: () => void) => CacheServer;
	readonly gateOf?: ((server: ServerRef) => Gate) | undefined;
	/** Milliseconds (default: `performance.now`). */
	readonly now?: (() => number) | undefined;
	/** By what a key is placed (default: all of it). */
	readonly hashOf?: (key: string) => number;
	/** A key that the servers reject is never cached, so there is nothing to delete either. */
	readonly isValidKey?: (key: string) => boolean;
}

/**
 * The shared cache on its servers: everything that is the same for memcached and
 * Redis. Each key belongs to one server. The keys of a server that is down are
 * skipped, not moved to another server, whose copy would be stale when it is
 * read again. So are the keys that are about to move, while others of the fleet
 * may still have them at the former server.
 */
export function openSharedCache(options: SharedCacheOptions): PlacedCache {
	const { layer } = options;
	const { hosts, use, byHost, hostOf } = placedHosts(options);

	/** Whether the result is true for the keys of every host, at each place. */
	const everyHost = async (
		keys: readonly string[],
		send: (group: Group) => Promise<boolean>,
	): Promise<boolean> => {
		const acknowledged = await Promise.all(byHost(keys).map(send));
		return acknowledged.every(Boolean);
	};

	/** The fills that wait to be sent. */
	let filling: Gathered<Fill, void> | null = null;

	use(options.lists);
	return {
		layer,
		use,

		hostOf,

		async getOrLease(keys) {
			const groups = byHost(keys, true);
			const [first] = groups;
			// Mostly one host has all keys, and nothing has to be put together.
			if (first?.deletes.isEmpty && first.indexes.length === keys.length) {
				return (await first.reads.read(first.names)) ?? keys.map(() => DOWN);
			}
			const results = new Array<GetOrLeaseResult>(keys.length).fill(DOWN);
			await Promise.all(groups.map((group) => getOrLeaseOf(group, results)));
			return results;
		},

		fill(fills) {
			filling ??= gather<Fill, void>(
				(send) => setTimeout(send, FILLS_WAIT_MS),
				async (all) => {
					filling = null;
					await Promise.all(
						Array.from(hosts.values(), ({ server, gate }) =>
							gate.mayRead() ? fillServer(layer, server, all) : null,
						),
					);
				},
			);
			for (const fill of fills) filling.items.push(fill);
			return filling.result;
		},

		delete: (keys) =>
			everyHost(
				keys,
				async ({ deletes, gate, names }) =>
					(await deletes.delete(names)) && gate.isAgreed(),
			),

		untilDeleted: (keys, ms) =>
			everyHost(keys, async ({ deletes, gate, names }) => {
				const done = await Promise.all([
					deletes.untilDone(names, ms),
					gate.untilAgreed(ms),
				]);
				return done.every(Boolean);
			}),

		async levels() {
			const levels = await Promise.all(
				Array.from(hosts.values(), ({ server }) => server.level()),
			);
			return levels.filter((level) => level !== null);
		},

		async [Symbol.asyncDispose]() {
			for (const host of hosts.values()) close(host);
		},
	};
}

export const BUSY: GetOrLeaseResult = { kind: "busy" };
export const DOWN: GetOrLeaseResult = { kind: "down" };

interface Host {
	readonly server: CacheServer;
	readonly deletes: PendingDeletes;
	readonly gate: Gate;
	readonly reads: HostReads;
}

/** What is asked of one host. */
interface Group extends Host {
	/** Those of the keys in the whole call. */
	readonly indexes: number[];
	readonly names: string[];
}

/** The hosts, and which of them has a key. */
function placedHosts(options: SharedCacheOptions) {
	const { isValidKey, hashOf = fnv1a } = options;
	const hosts = new Map<string, Host>();
	let placings: readonly Placing[] = [];
	/** The only host, while there is no other. */
	let single: Host | null = null;

	function use(lists: readonly ServerList[]): void {
		const servers = new Map(
			lists.flatMap((list) => list.servers.map((each) => [each.id, each])),
		);
		for (const [id, host] of hosts) {
			if (servers.has(id)) continue;
			hosts.delete(id);
			close(host);
		}
		for (const [id, ref] of servers) {
			if (!hosts.has(id)) hosts.set(id, openHost(ref, options));
		}
		placings = lists.map(placingOf);
		const [only] = hosts.values();
		const isFixed = lists.length === 1 && lists[0]?.changed === null;
		single = isFixed && hosts.size === 1 ? (only ?? null) : null;
	}

	/** Where a key is deleted, or read: while it moves that is two places, or none. */
	function placesOf(key: string, isRead: boolean): readonly KeyServer[] {
		const hash = hashOf(key);
		const [now, next = now] = placings.map((placing) => placing(hash));
		const places = [now, next].filter((place) => place != null);
		if (now?.id !== next?.id || now?.since !== next?.since) {
			return isRead ? [] : places;
		}
		return places.slice(0, 1);
	}

	/** The valid keys by host, with the names that they have there. */
	function byHost(keys: readonly string[], isRead = false): readonly Group[] {
		const groups = new Map<Host, Group>();
		const add = (host: Host, since: number, index: number, key: string) => {
			let group = groups.get(host);
			if (group === undefined) {
				group = { ...host, indexes: [], names: [] };
				groups.set(host, group);
			}
			group.indexes.push(index);
			group.names.push(nameIn(host, since, key));
		};
		for (let index = 0; index < keys.length; index++) {
			const key = keys[index] as string;
			if (isValidKey?.(key) === false) continue;
			if (single !== null) add(single, 0, index, key);
			else {
				for (const { id, since } of placesOf(key, isRead)) {
					add(hosts.get(id) as Host, since, index, key);
				}
			}
		}
		return [...groups.values()];
	}

	function hostOf(key: string): string {
		const place = single === null ? placesOf(key, false)[0] : undefined;
		return (single ?? hosts.get(place?.id ?? ""))?.server.host ?? "";
	}

	return { hosts, use, byHost, hostOf };
}

function openHost(
	ref: ServerRef,
	{ layer, open, gateOf, now = () => performance.now() }: SharedCacheOptions,
): Host {
	const server = open(ref, () => deletes.retry());
	const deletes = new PendingDeletes({
		maxAgeMs: server.maxAgeMs,
		send: (keys, isProbe) => server.delete(keys, isProbe),
	});
	const { host } = server;
	const proof = new WriteProof({
		now,
		tryWrite: () => server.tryWrite(),
		onChange: (refusal) =>
			CACHE_CHANNELS.cacheHost.publish(
				refusal === null
					? { layer, host, state: "up" }
					: { layer, host, state: "unread", error: refusal },
			),
	});
	const gate = gateOf?.(ref) ?? OPEN_GATE;
	return { server, deletes, gate, reads: new HostReads(server, gate, proof) };
}

function close({ deletes, server }: Host): void {
	deletes[Symbol.dispose]();
	server[Symbol.dispose]();
}

/** The key as the host has it: what was there before the key came, or before others agreed on the host, has another name. */
function nameIn({ gate: { term } }: Host, since: number, key: string): string {
	if (since === 0 && term === 0) return key;
	const at = key.indexOf(".");
	const own = `${since === 0 ? "" : `m${since}`}${term === 0 ? "" : `t${term}`}`;
	return `${key.slice(0, at)}${own}${key.slice(at)}`;
}

/**
 * The reads of one host. What all requests ask in one turn of the event loop is one
 * call: a call costs this process more than the keys in it.
 */
class HostReads {
	readonly #server: CacheServer;
	readonly #gate: Gate;
	readonly #proof: WriteProof;
	#turn: Gathered<string, readonly GetOrLeaseResult[] | null> | null = null;

	constructor(server: CacheServer, gate: Gate, proof: WriteProof) {
		this.#server = server;
		this.#gate = gate;
		this.#proof = proof;
	}

	async read(
		names: readonly string[],
	): Promise<readonly GetOrLeaseResult[] | null> {
		// After the sockets that are ready.
		this.#turn ??= gather(setImmediate, this.#readAll);
		const { items, result } = this.#turn;
		const from = items.length;
		for (const name of names) items.push(name);
		const found = await result;
		return found === null || found.length === names.length
			? found
			: found.slice(from, from + names.length);
	}

	/** Null also if the host does not take writes, or the others came to agree on another host meanwhile. */
	readonly #readAll = async (
		names: readonly string[],
	): Promise<readonly GetOrLeaseResult[] | null> => {
		this.#turn = null;
		if (!this.#gate.mayRead()) return null;
		// A trial is sent before the read.
		const isProven = this.#proof.ask();
		if (isProven === false) return null;
		const found = await this.#server.getOrLease(names);
		if (isProven !== true && !(await isProven)) return null;
		return this.#gate.mayRead() ? found : null;
	};
}

/** What is gathered until it is sent, and what becomes of it. */
interface Gathered<Item, Result> {
	readonly items: Item[];
	readonly result: Promise<Result>;
}

/** Gathers items from now until `later` calls what it is given. */
function gather<Item, Result>(
	later: (send: () => void) => unknown,
	send: (items: readonly Item[]) => Promise<Result>,
): Gathered<Item, Result> {
	const items: Item[] = [];
	const result = new Promise<Result>((resolve) => {
		later(() => resolve(send(items)));
	});
	return { items, result };
}

/**
 * A fill waits so long for others: no request waits for it here, and to send it costs
 * this process as much as to send a hundred. Readers of other processes that find its
 * lease ask again after 20 ms. Milliseconds.
 */
const FILLS_WAIT_MS = 5;

/** The result of a trial whose write was not shown. */
export const READ_ELSEWHERE =
	"It does not show what was just written there: reads go to another server than writes, as through a proxy that reads from replicas. Connect to the master itself.";

/** memcached's limit is 1 MiB for value, key and item header together. */
const MAX_VALUE_BYTES = 1_000_000;
/** Bytes of values in one command: a larger one would delay the reads behind it. */
const BATCH_BYTES = 256 * 1024;

/** Puts the results of one host's keys into `results`; those whose delete is pending stay `down`. */
async function getOrLeaseOf(
	group: Group,
	results: GetOrLeaseResult[],
): Promise<void> {
	const { deletes, indexes, names, reads } = group;
	// Decided before the wait: a delete may start or end meanwhile.
	const asked = [...names.keys()].filter(
		(at) => deletes.isEmpty || !deletes.has(names[at] as string),
	);
	if (asked.length === 0) return;
	const found = await reads.read(asked.map((at) => names[at] as string));
	for (const [nth, result] of found?.entries() ?? []) {
		results[indexes[asked[nth] as number] as number] = result;
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
