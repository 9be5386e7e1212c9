import type { Trace } from "../diagnostics.ts";

/**
 * A cache that processes share. What it holds is viewer-independent, and any
 * key may be gone at any moment. Fills go by lease, never by time: a fill that
 * was held up on its way and arrives after a write would else bring the old
 * value back for its whole life (PROTOCOLS §3).
 *
 *     absent ──look──▶ leased to one ──fill──▶ held
 *       ▲                  │  (5 s)              │
 *       └──── clear ───────┴──── bury ───▶ tombstone (about 2 s)
 *
 * No method rejects, and none waits past its own deadline: a cache that is
 * slow or gone costs a bounded wait, and then nothing until it is tried again.
 */
export interface SharedCache extends AsyncDisposable {
	readonly layer: "memcached" | "redis";
	/** What is known of each key, in order: one batch for all. Whoever gets a lease is to read the value and fill it. */
	getOrLease(keys: readonly string[]): Promise<readonly GetOrLeaseResult[]>;
	/** Put values under leases. One that is no longer good is refused, in silence. */
	fill(fills: readonly Fill[]): Promise<void>;
	/** Before a commit: put tombstones, which cover for a writer that dies. Answers whether all were acknowledged. */
	putTombstones(keys: readonly string[]): Promise<boolean>;
	/** After a commit: delete, so that a hot key refills at once. Answers whether all were acknowledged; it is owed until they are. */
	delete(keys: readonly string[]): Promise<boolean>;
}

/**
 * - `hit`: the value.
 * - `lease`: nobody has it, and this caller may fill it.
 * - `busy`: somebody else is filling it, or it was just changed.
 * - `down`: the cache did not answer; read the database and fill nothing.
 */
export type GetOrLeaseResult =
	| { readonly kind: "hit"; readonly value: string }
	| { readonly kind: "lease"; readonly lease: FillLease }
	| { readonly kind: "busy" }
	| { readonly kind: "down" };

/** The right to fill one key, as the cache that gave it spells it. */
export interface FillLease {
	readonly key: string;
	readonly token: unknown;
}

export interface Fill {
	readonly lease: FillLease;
	readonly value: string;
}

/** Who finds a key busy waits this long, once, looks again, and then reads the database without filling. Milliseconds. */
const BUSY_WAIT_MS = 20;

/**
 * Values from the shared cache, or from `load`, which is asked once for all
 * that is missing and whose answers fill what was leased. `load` answers null
 * for what shall not be kept.
 */
export async function readThrough<V>(
	cache: SharedCache,
	keys: readonly string[],
	codec: {
		/** Null for text that is damaged: it is read again. */
		readonly parse: (text: string, index: number) => V | null;
		/** Null for a value that is not to be kept, such as an error. */
		readonly print: (value: V) => string | null;
	},
	load: (missing: readonly number[]) => Promise<readonly V[]>,
	trace: Trace | undefined,
): Promise<readonly V[]> {
	const values = new Array<V | null>(keys.length).fill(null);
	const leases = new Map<number, FillLease>();
	let missing = keys.map((_, index) => index);

	const look = async (indexes: readonly number[]): Promise<number[]> => {
		const busy: number[] = [];
		const looked = await cache.getOrLease(
			indexes.map((index) => keys[index] as string),
		);
		for (const [at, index] of indexes.entries()) {
			const answer = looked[at] as GetOrLeaseResult;
			if (answer.kind === "hit") {
				values[index] = codec.parse(answer.value, index);
			} else if (answer.kind === "lease") {
				leases.set(index, answer.lease);
			} else if (answer.kind === "busy") {
				busy.push(index);
			}
		}
		return busy;
	};

	const busy = await look(missing);
	if (busy.length > 0) {
		await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
		await look(busy);
	}
	missing = missing.filter((index) => values[index] === null);
	trace?.cache(cache.layer, keys.length - missing.length, missing.length);
	if (missing.length === 0) return values as V[];

	const loaded = await load(missing);
	const fills: Fill[] = [];
	for (const [at, index] of missing.entries()) {
		const value = loaded[at] as V;
		values[index] = value;
		const lease = leases.get(index);
		const text = lease === undefined ? null : codec.print(value);
		if (lease !== undefined && text !== null)
			fills.push({ lease, value: text });
	}
	// The answer does not wait for the fill: it has its own deadline, and harms nobody late.
	if (fills.length > 0) void cache.fill(fills);
	return values as V[];
}
