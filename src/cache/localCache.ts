import type { Trace } from "../diagnostics.ts";

/**
 * The layer in the process: a bounded map in front of whatever is slower.
 *
 * An entry lives ten seconds at most, counted from before it was fetched; a
 * write buries it at once. What keeps a late fill from bringing an old value
 * back is a version per slot of key hashes: `bury` raises it, and a value that
 * was being read meanwhile is given to those who wait for it but not kept, nor
 * joined by those who come later (PROTOCOLS §3 "In process").
 *
 * Entries expire so soon that insertion order is age order: what is evicted is
 * the oldest, and a hit moves nothing.
 */
export class LocalCache<V> {
	readonly #entries = new Map<string, Entry<V>>();
	readonly #running = new Map<string, Running<V>>();
	readonly #versions = new Uint32Array(SLOTS);
	readonly #weigh: (value: V) => number;
	readonly #maxWeight: number;
	readonly #now: () => number;
	#weight = 0;
	#bypassed = false;

	constructor(options: {
		/** About how many bytes a value holds. */
		readonly weigh: (value: V) => number;
		/** Bytes; 0 keeps nothing and still joins running reads. */
		readonly maxWeight: number;
		/** Milliseconds. */
		readonly now?: () => number;
	}) {
		this.#weigh = options.weigh;
		this.#maxWeight = options.maxWeight;
		this.#now = options.now ?? (() => performance.now());
	}

	get(key: string): V | undefined {
		const entry = this.#entries.get(key);
		if (entry === undefined) return undefined;
		return this.#now() - entry.born < MAX_AGE_MS ? entry.value : undefined;
	}

	/**
	 * The values of `keys`, in order: from here, from a read already under way,
	 * or from one `load` of all that is missing. Errors are passed on and not
	 * kept.
	 */
	async read<E extends Error>(
		keys: readonly string[],
		load: (missing: readonly number[]) => Promise<readonly (V | E)[]>,
		options: {
			/** Whether a kept value will do; if not, it is read again. */
			readonly enough?: (value: V, index: number) => boolean;
			readonly trace?: Trace | undefined;
		} = {},
	): Promise<(V | E)[]> {
		const { enough, trace } = options;
		const found = new Array<V | E | undefined>(keys.length);
		const missing: number[] = [];
		const joined: { index: number; running: Running<V> }[] = [];
		for (const [index, key] of keys.entries()) {
			const value = this.get(key);
			if (value !== undefined && (enough?.(value, index) ?? true)) {
				found[index] = value;
				continue;
			}
			const running = enough === undefined ? this.#running.get(key) : undefined;
			if (running?.version === this.#versions[slot(key)]) {
				joined.push({ index, running: running as Running<V> });
			} else {
				missing.push(index);
			}
		}
		trace?.cache("process", keys.length - missing.length, missing.length);
		if (missing.length > 0) {
			const loaded = await this.#load(keys, missing, load);
			for (const [at, index] of missing.entries()) found[index] = loaded[at];
		}
		for (const { index, running } of joined) {
			found[index] = (await running.batch)[running.at] as V | E;
		}
		return found as (V | E)[];
	}

	async #load<E extends Error>(
		keys: readonly string[],
		missing: readonly number[],
		load: (missing: readonly number[]) => Promise<readonly (V | E)[]>,
	): Promise<readonly (V | E)[]> {
		const born = this.#now();
		const batch = load(missing);
		const started = missing.map((index, at) => {
			const key = keys[index] as string;
			const running = {
				batch,
				at,
				version: this.#versions[slot(key)] as number,
			};
			this.#running.set(key, running);
			return { key, running };
		});
		try {
			const values = await batch;
			for (const { key, running } of started) {
				const value = values[running.at];
				if (
					value !== undefined &&
					!(value instanceof Error) &&
					running.version === this.#versions[slot(key)]
				) {
					this.#keep(key, value, born);
				}
			}
			return values;
		} finally {
			for (const { key, running } of started) {
				if (this.#running.get(key) === running) this.#running.delete(key);
			}
		}
	}

	/** Forget the key, and whatever is being read for it. Call it when a change is committed, and when it may have been. */
	invalidate(key: string): void {
		const at = slot(key);
		this.#versions[at] = ((this.#versions[at] as number) + 1) >>> 0;
		this.#drop(key);
	}

	/** Forget everything, and whatever is being read. */
	invalidateAll(): void {
		for (const [at, version] of this.#versions.entries()) {
			this.#versions[at] = (version + 1) >>> 0;
		}
		this.#entries.clear();
		this.#weight = 0;
	}

	/** Keep nothing and know nothing, until it is turned off again: while nobody tells of other processes' writes. */
	bypass(on: boolean): void {
		this.#bypassed = on;
		this.invalidateAll();
	}

	#keep(key: string, value: V, born: number): void {
		if (this.#bypassed) return;
		this.#drop(key);
		const weight = this.#weigh(value) + ENTRY_WEIGHT;
		this.#entries.set(key, { value, born, weight });
		this.#weight += weight;
		for (const oldest of this.#entries.keys()) {
			if (this.#weight <= this.#maxWeight) break;
			this.#drop(oldest);
		}
	}

	#drop(key: string): void {
		const entry = this.#entries.get(key);
		if (entry === undefined) return;
		this.#entries.delete(key);
		this.#weight -= entry.weight;
	}
}

interface Entry<V> {
	readonly value: V;
	readonly born: number;
	readonly weight: number;
}

interface Running<V> {
	readonly batch: Promise<readonly (V | Error)[]>;
	readonly at: number;
	readonly version: number;
}

/** The promise to clients: no answer is older than this in any case. */
export const MAX_AGE_MS = 10_000;
/** Two keys in one slot cost a refill now and then, never a wrong value. */
const SLOTS = 1 << 16;
/** Key, map entry and record of an entry, in bytes, about. */
const ENTRY_WEIGHT = 200;

/** FNV-1a. */
function slot(key: string): number {
	let hash = 0x811c9dc5;
	for (let at = 0; at < key.length; at++) {
		hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
	}
	return (hash >>> 0) % SLOTS;
}
