import type { SpanAttributes, Trace } from "../trace.ts";
import { CACHE_CHANNELS } from "./diagnostics.ts";
import type {
	Fill,
	FillLease,
	GetOrLeaseResult,
	SharedCache,
} from "./sharedCache.ts";

/** A reader that finds a key busy waits this long once, tries again, and then reads the database without filling. Milliseconds. */
const BUSY_WAIT_MS = 20;

/** How the values of a cache are spelled. */
interface Codec<V> {
	/** Null for text that is damaged: the value is loaded instead. */
	readonly decode: (text: string, index: number) => V | null;
	/** Null for a value that is not cached; undefined for an error: its lease lasts, so that others do not ask at once. */
	readonly encode: (value: V, index: number) => string | null | undefined;
	/** Whether a cached value is enough; if not, it is loaded, and replaced. */
	readonly suffices?: (value: V) => boolean;
}

/**
 * Values from the shared cache, or from `load`, which is called once for all
 * missing keys. Its results fill the leased ones. `index` is that of the key.
 */
export async function readThrough<V>(
	cache: SharedCache,
	keys: readonly string[],
	codec: Codec<V>,
	load: (missing: readonly number[]) => Promise<readonly V[]>,
	trace: Trace | undefined,
): Promise<readonly V[]> {
	const values = new Array<V>(keys.length);
	const span = trace?.span?.start(`${cache.layer} get`, "client", {
		"db.system.name": cache.layer,
		"db.operation.name": "get",
		"corkboard.cache.keys": keys.length,
	});
	const got = await cache.getOrLease(keys);
	span?.end(null, answersIn(got));
	const found = takeHits(cache, got, null, codec, values);
	const { missing, busy } = found;
	let misses = missing.length;
	if (busy.length > 0) {
		// What is busy holds up nothing else, least of all those who wait for these fills.
		const waited = async () => {
			await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
			const results = await cache.getOrLease(
				busy.map((index) => keys[index] as string),
			);
			const again = takeHits(cache, results, busy, codec, values);
			// Those that are still busy have no lease.
			again.missing.push(...again.busy);
			misses += again.missing.length;
			if (again.missing.length > 0) {
				await fillIn(cache, again, codec, load(again.missing), values);
			}
		};
		await Promise.all([
			missing.length > 0
				? fillIn(cache, found, codec, load(missing), values)
				: null,
			waited(),
		]);
	} else if (missing.length > 0) {
		await fillIn(cache, found, codec, load(missing), values);
	}
	trace?.cache(cache.layer, keys.length - misses, misses);
	return values;
}

/** How many keys were answered how: `corkboard.cache.hits`, `.lease`, `.busy`, `.down`. */
function answersIn(results: readonly GetOrLeaseResult[]): SpanAttributes {
	const counts: Record<string, number> = { "corkboard.cache.hits": 0 };
	for (const { kind } of results) {
		const name = `corkboard.cache.${kind === "hit" ? "hits" : kind}`;
		counts[name] = (counts[name] ?? 0) + 1;
	}
	return counts;
}

/** What a shared cache did not have, by the indexes of the keys. */
interface NotFound {
	readonly missing: number[];
	/** The leases of the missing keys, in their order, as far as they were given. */
	readonly leases: (FillLease | undefined)[];
	readonly busy: number[];
}

/** Puts hits into `values`. The results are those of all keys, or of the keys at `indexes`. */
function takeHits<V>(
	{ layer }: SharedCache,
	results: readonly GetOrLeaseResult[],
	indexes: readonly number[] | null,
	{ decode, suffices }: Codec<V>,
	values: V[],
): NotFound {
	const missing: number[] = [];
	const leases: (FillLease | undefined)[] = [];
	const busy: number[] = [];
	let down = 0;
	for (let at = 0; at < results.length; at++) {
		const result = results[at] as GetOrLeaseResult;
		const index = indexes === null ? at : (indexes[at] as number);
		if (result.kind === "hit") {
			const value = decode(result.value, index);
			if (value !== null && (suffices === undefined || suffices(value))) {
				values[index] = value;
				continue;
			}
		} else if (result.kind === "busy") {
			busy.push(index);
			continue;
		}
		missing.push(index);
		if (result.kind === "down") down++;
		leases.push(result.kind === "down" ? undefined : result.lease);
	}
	if (CACHE_CHANNELS.sharedRead.hasSubscribers) {
		CACHE_CHANNELS.sharedRead.publish({
			layer,
			hits: results.length - missing.length - busy.length,
			misses: missing.length - down,
			busy: busy.length,
			down,
		});
	}
	return { missing, leases, busy };
}

/** Takes what is loaded of the missing keys, and fills what was leased. */
async function fillIn<V>(
	cache: SharedCache,
	{ missing, leases }: NotFound,
	{ encode }: Codec<V>,
	loading: Promise<readonly V[]>,
	values: V[],
): Promise<void> {
	const loaded = await loading;
	const fills: Fill[] = [];
	for (let at = 0; at < missing.length; at++) {
		const index = missing[at] as number;
		const value = loaded[at] as V;
		values[index] = value;
		const lease = leases[at];
		const text = lease === undefined ? undefined : encode(value, index);
		if (lease !== undefined && text !== undefined)
			fills.push({ lease, value: text });
	}
	// The response does not wait for the fill, which has its own deadline and is refused if it is late.
	if (fills.length > 0) void cache.fill(fills);
}
