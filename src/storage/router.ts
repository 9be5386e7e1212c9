import { setImmediate as nextTurn } from "node:timers/promises";
import { unpackId } from "../id/ids.ts";
import type { Mapping, Model } from "../model/types.ts";
import type { Topology } from "../topology/types.ts";
import type { CallOptions } from "../trace.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import type { Driver, ShardLocation, ShardLocations } from "./driver.ts";
import { mapOf } from "./mapOf.ts";
import { modShard } from "./modShard.ts";
import { lastOf, oldestFirst } from "./order.ts";
import {
	checkScan,
	emptyCount,
	READ_VERBS,
	readOnlyError,
	startCall,
	unknownShard,
	WALK_VERBS,
} from "./portCall.ts";
import { type ReadAtHosts, readByHost } from "./readByHost.ts";
import type {
	KeyResult,
	ListKey,
	LookupChange,
	LookupRow,
	Outbox,
	OutboxKey,
} from "./rows.ts";
import type {
	OpenedStorage,
	ReadKey,
	ReadKind,
	ReadResult,
	Storage,
	StorageAdmin,
	StorageMap,
	WalkKind,
	WalkOf,
	WalkRow,
} from "./storage.ts";
import { StorageFailure, toStorageError } from "./storageFailure.ts";

/** Rows of one batch when iterating over a table. */
const WALK_ROWS = 1_000;

/** Where the keys of a kind are, and what is read for one that is on no shard. */
interface ReadRule<K extends ReadKind> {
	readonly locationOf: "list" | ((key: ReadKey<K>) => number) | "mod shard";
	readonly absent: (key: ReadKey<K>) => ReadResult<K>;
	readonly check?: (key: ReadKey<K>) => void;
}

const ofShard = ({ shard }: { readonly shard: number }) => shard;
const ofOutbox = ({ outbox }: { readonly outbox: Outbox }) => outbox.shards[0];

const RULES: { readonly [K in ReadKind]: ReadRule<K> } = {
	objects: {
		locationOf: (id) => unpackId(id).shard,
		absent: () => null,
	},
	lists: {
		locationOf: "list",
		absent: ({ from }) => ({
			edges: [],
			list: { from, count: 0, lastSequence: 0, epoch: 0 },
		}),
		check: checkScan,
	},
	edges: { locationOf: "list", absent: () => null },
	renumberings: {
		locationOf: "list",
		absent: () => [],
	},
	counts: { locationOf: "list", absent: emptyCount },
	longestLists: {
		locationOf: "list",
		absent: () => [],
	},
	lookups: {
		locationOf: "mod shard",
		absent: () => null,
	},
	entries: { locationOf: ofShard, absent: () => null },
	outboxes: {
		locationOf: ofOutbox,
		absent: () => ({ untaken: [], due: [], next: null }),
	},
	outboxSizes: {
		locationOf: ofOutbox,
		absent: () => ({ entries: 0, oldestAt: null }),
	},
};

/**
 * The storage of one version of a topology, for every database: it groups keys
 * by host, asks the driver, and puts results and errors back by key.
 */
export class Router<P extends ShardLocation> implements OpenedStorage {
	readonly map: StorageMap;
	readonly admin: StorageAdmin;
	readonly #driver: Driver<P>;
	readonly #model: Model;
	readonly #locations: ShardLocations<P>;
	#closing: Promise<void> | null = null;

	constructor(model: Model, topology: Topology, driver: Driver<P>) {
		this.#driver = driver;
		this.#model = model;
		this.#locations = driver.locations;
		this.admin = driver.admin;
		this.map = mapOf(topology, driver);
	}

	async read<K extends ReadKind>(
		kind: K,
		keys: readonly ReadKey<K>[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ReadResult<K>>[]> {
		startCall(READ_VERBS[kind], keys.length, call);
		return readByHost(keys, this.#routeOf(kind, keys), call);
	}

	/** Where keys of a kind are, and how they are read there: no function stands between a read and its hosts. */
	#routeOf<K extends ReadKind>(
		kind: K,
		keys: readonly ReadKey<K>[],
	): ReadAtHosts<P, ReadKey<K>, ReadResult<K>> {
		const rule = RULES[kind] as ReadRule<K>;
		const { locationOf, absent, check } = rule;
		for (const key of keys) {
			check?.(key);
			if (locationOf === "list") this.#checkMapping((key as ListKey).mapping);
		}
		const { maxKeys, read } = this.#driver.reads[kind];
		return {
			locationOf:
				locationOf === "list"
					? (key) =>
							this.#locationOfList(key as ListKey | ReadKey<"longestLists">)
					: locationOf === "mod shard"
						? (key) => this.#locationOfLookup(key as ReadKey<"lookups">)
						: (key) => this.#locations.shards.get(locationOf(key)),
			absent,
			maxKeys,
			read,
		};
	}

	readonly transact: Storage["transact"] = async (transaction, trace) => {
		const { lists, objects, edges, neighbors, creates } = transaction;
		const keys = [lists, objects, edges, neighbors, creates];
		startCall(
			"transact",
			keys.reduce((sum, some) => sum + (some?.length ?? 0), 0),
		);
		try {
			const shard = this.#writable(transaction.shard);
			const beside =
				transaction.beside === undefined
					? undefined
					: this.#writable(transaction.beside);
			if (beside !== undefined && beside.host !== shard.host) {
				// The topology changed meanwhile.
				throw new StorageFailure(
					"conflict",
					"The shards are on different hosts.",
					{ host: shard.host.name, statement: "transact" },
				);
			}
			return await this.#driver.transact(shard, beside, transaction, trace);
		} catch (thrown) {
			throw storageErrorOf(thrown, transaction.shard);
		}
	};

	readonly compareAndSetLookups: Storage["compareAndSetLookups"] = async (
		changes,
		trace,
	) => {
		startCall("compareAndSetLookups", changes.length);
		for (const location of this.#locations.modShards.values()) {
			this.#checkWritable(location);
		}
		return readByHost<P, LookupChange, KeyResult<LookupRow | null>>(changes, {
			locationOf: (change) => this.#locationOfLookup(change),
			absent: () => null,
			maxKeys: Number.POSITIVE_INFINITY,
			read: (host, some) =>
				this.#driver.compareAndSetLookups(host, some, trace),
		});
	};

	readonly pendingEntries: Storage["pendingEntries"] = async (query) => {
		const { after: positions = [], continues = false, ...due } = query;
		const { outboxes, hostOf } = this.map;
		const last = lastOf(positions, ({ shard }) => hostOf(shard));
		const looks = outboxes
			.filter(({ host }) => !continues || last.has(host))
			.map((outbox) => {
				const after = last.get(outbox.host);
				return { outbox, untaken: null, due: { ...due, after } };
			});
		startCall("pendingEntries", looks.length);
		const found = await readByHost(looks, this.#routeOf("outboxes", looks));
		return oldestFirst(
			found.flatMap((seen) => (seen instanceof Error ? [] : seen.due)),
		);
	};

	readonly takeEntries: Storage["takeEntries"] = async (
		entries,
		until,
		trace,
	) => {
		startCall("takeEntries", entries.length);
		const taken = await Promise.allSettled(
			this.#byHost(entries).map(async ([location, some]) =>
				this.#driver.takeEntries(location, some, until, trace),
			),
		);
		return taken.flatMap((result) =>
			result.status === "fulfilled" ? result.value : [],
		);
	};

	readonly recordFailedDeliveries: Storage["recordFailedDeliveries"] = async (
		failures,
		trace,
	) => {
		startCall("recordFailedDeliveries", failures.length);
		await this.#onHosts(failures, (location, some) =>
			this.#driver.recordFailedDeliveries(location, some, trace),
		);
	};

	readonly deleteOutboxEntries: Storage["deleteOutboxEntries"] = async (
		keys,
		trace,
	) => {
		startCall("deleteOutboxEntries", keys.length);
		await this.#onHosts(keys, (location, some) =>
			this.#driver.deleteOutboxEntries(location, some, trace),
		);
	};

	walk<K extends WalkKind>(
		kind: K,
		...of: WalkOf<K>
	): AsyncIterable<readonly WalkRow<K>[]> {
		const [number, table] = of;
		if (kind === "objects") this.#checkType(table as string);
		if (kind === "edges") this.#checkMapping(table as Mapping);
		const location =
			kind === "lookups"
				? this.#locations.modShards.get(number)
				: this.#locations.shards.get(number);
		if (location === undefined) {
			throw unknownShard(kind === "lookups" ? "mod shard" : "shard", number);
		}
		return walk<WalkRow<K>>(WALK_VERBS[kind], location, (last) =>
			this.#driver.walk(kind, location, of, last, WALK_ROWS),
		);
	}

	[Symbol.asyncDispose](): Promise<void> {
		this.#closing ??= Promise.resolve(this.#driver[Symbol.asyncDispose]());
		return this.#closing;
	}

	/** Rejects after all hosts have ended, as the first that rejected. */
	async #onHosts<Key extends OutboxKey>(
		keys: readonly Key[],
		change: (location: P, some: readonly Key[]) => MaybePromise<void>,
	): Promise<void> {
		const changed = await Promise.allSettled(
			this.#byHost(keys).map(([location, some]) =>
				onLocation(location.number, () => change(location, some)),
			),
		);
		for (const result of changed) {
			if (result.status === "rejected") throw result.reason;
		}
	}

	/** Outbox entries that are to be changed, with the location of the first on each host. */
	#byHost<Key extends OutboxKey>(
		keys: readonly Key[],
	): readonly (readonly [P, readonly Key[]])[] {
		const hosts = Map.groupBy(keys, ({ shard }) => this.#writable(shard).host);
		return [...hosts.values()].map((some) => {
			const [first] = some as [Key];
			return [this.#writable(first.shard), some];
		});
	}

	#locationOfList(key: ListKey | ReadKey<"longestLists">): P | undefined {
		const shard = "from" in key ? unpackId(key.from).shard : key.shard;
		return this.#locations.shards.get(
			this.map.shardOfLists(key.mapping, shard),
		);
	}

	#locationOfLookup({ key }: { readonly key: string }): P | undefined {
		return this.#locations.modShards.get(modShard(key, this.map.modShards));
	}

	#writable(number: number): P {
		const location = this.#locations.shards.get(number);
		if (location === undefined) throw unknownShard("shard", number);
		this.#checkWritable(location);
		return location;
	}

	#checkWritable({ host }: P): void {
		if (!this.#driver.readOnly) return;
		throw readOnlyError(host.name);
	}

	#checkMapping({ name }: Mapping): void {
		if (this.#model.mappings.has(name)) return;
		throw new TypeError(`The model has no mapping ${name}.`);
	}

	#checkType(name: string): void {
		if (this.#model.objects.has(name)) return;
		throw new TypeError(`The model has no type ${name}.`);
	}
}

/** Reads batch after batch until one is not full, and lets the event loop serve others after each. */
async function* walk<Row>(
	verb: string,
	location: ShardLocation,
	next: (last: Row | null) => MaybePromise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
	let last: Row | null = null;
	startCall(verb, 1);
	for (;;) {
		const from: Row | null = last;
		const rows: readonly Row[] = await onLocation(location.number, () =>
			next(from),
		);
		if (rows.length > 0) yield rows;
		if (rows.length < WALK_ROWS) return;
		last = rows.at(-1) ?? null;
		await nextTurn();
	}
}

async function onLocation<T>(
	number: number,
	body: () => MaybePromise<T>,
): Promise<T> {
	try {
		return await body();
	} catch (thrown) {
		throw storageErrorOf(thrown, number);
	}
}

/** The error of a call, for its callers: a failure of the database with the shard's number. */
function storageErrorOf(thrown: unknown, shard: number): unknown {
	return thrown instanceof StorageFailure
		? toStorageError(thrown, shard)
		: thrown;
}
