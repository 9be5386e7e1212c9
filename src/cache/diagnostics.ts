import { channelOf, Levels } from "../diagnostics.ts";
import type { CacheLayer } from "../trace.ts";

export const CACHE_CHANNELS = {
	/** One batch to one host of a shared cache. */
	cacheCall: channelOf<CacheCall>("corkboard.cacheCall"),
	/** Keys were read from a shared cache. */
	sharedRead: channelOf<SharedRead>("corkboard.sharedRead"),
	/** Keys were filled into a shared cache. */
	sharedFill: channelOf<SharedFill>("corkboard.sharedFill"),
	/** A host of a shared cache failed or recovered. */
	cacheHost: channelOf<CacheHost>("corkboard.cacheHost"),
	/** A host refused a call, and answers others. */
	cacheRefusal: channelOf<CacheRefusal>("corkboard.cacheRefusal"),
};

/** The caches in the process. */
export const LOCAL_CACHE_LEVELS = new Levels<readonly LocalCacheLevel[]>();

/** The hosts of shared caches. No answer takes longer than a call of the cache may, and none is an error. */
export const SHARED_CACHE_LEVELS = new Levels<
	Promise<readonly SharedCacheLevel[]>
>();

/** A host of a shared cache, as it describes itself. All that it holds is counted, also what other programs put there. */
export interface SharedCacheLevel {
	readonly layer: CacheLayer;
	readonly host: string;
	readonly entries: number;
	readonly bytes: number;
	/** What it may hold; null without a limit. */
	readonly maxBytes: number | null;
	/** Entries that left it for want of room, since it was started. */
	readonly evictions: number;
}

/** One of the caches in the process. Counts are since it was opened. */
export interface LocalCacheLevel {
	readonly cache: string;
	readonly hits: number;
	readonly misses: number;
	/** Values that were read and not kept, because they were changed meanwhile or the cache is bypassed. */
	readonly refused: number;
	readonly evictions: number;
	readonly entries: number;
	readonly bytes: number;
}

export interface CacheCall {
	readonly layer: CacheLayer;
	readonly host: string;
	/** `get` leases what is absent; `try` finds out whether the host takes writes. */
	readonly verb:
		| "get"
		| "set"
		| "delete"
		| "publish"
		| "ask"
		| "take"
		| "count"
		| "try"
		| "stats";
	readonly keys: number;
	readonly ms: number;
	/** False after an error or a timeout. Skipped calls are not published. */
	readonly ok: boolean;
}

/** Keys of one read, by what a shared cache answered. */
export interface SharedRead {
	readonly layer: CacheLayer;
	readonly hits: number;
	/** Absent or damaged, or less than is needed. */
	readonly misses: number;
	/** Leased by another reader, or being written. Asked again later, they count again. */
	readonly busy: number;
	/** Calls that skipped a host which did not answer. */
	readonly down: number;
}

interface SharedFill {
	readonly layer: CacheLayer;
	readonly keys: number;
	readonly result: "filled" | "refused" | "failed";
}

export interface CacheHost {
	readonly layer: CacheLayer;
	readonly host: string;
	/** `unread`: it answers, and is not read, because it refuses writes or does not show them. */
	readonly state: "down" | "unread" | "up";
	readonly error?: unknown;
}

interface CacheRefusal {
	readonly layer: CacheLayer;
	readonly host: string;
	readonly verb: CacheCall["verb"];
	readonly error: Error;
}

/** Reports what became of keys that were sent to a shared cache; `refused` is null if it did not answer. */
export function reportFills(
	layer: SharedFill["layer"],
	keys: number,
	refused: number | null,
): void {
	if (!CACHE_CHANNELS.sharedFill.hasSubscribers) return;
	const publish = (result: SharedFill["result"], some: number) => {
		if (some === 0) return;
		CACHE_CHANNELS.sharedFill.publish({ layer, keys: some, result });
	};
	if (refused === null) {
		publish("failed", keys);
		return;
	}
	publish("filled", keys - refused);
	publish("refused", refused);
}
