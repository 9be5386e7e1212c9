import { Redis } from "ioredis";
import type { Fill, SharedCache } from "../../src/cache/sharedCache.ts";
import { ask } from "../services/ask.ts";
import type { Layers } from "./fleet.ts";

/** Ways to use a shared cache that look right and are not: what the tests show to fail. */
export const NAIVE = {
	/** Whoever missed may fill. */
	fillsWithoutLease: (stored: Stored) => (cache: SharedCache) => ({
		...cache,
		fill: async (fills: readonly Fill[]) => {
			for (const { lease, value } of fills) {
				await stored(cache.layer, "set", lease.key, value);
			}
		},
	}),
	/** Who missed may fill where nothing is: a tombstone keeps late ones off while it lives. */
	fillsWhatIsAbsent: (stored: Stored) => (cache: SharedCache) => ({
		...cache,
		fill: async (fills: readonly Fill[]) => {
			for (const { lease, value } of fills) {
				await stored(cache.layer, "add", lease.key, value);
			}
		},
	}),
	deletesBeforeCommitOnly: (cache: SharedCache) => ({
		...cache,
		bury: cache.delete,
		clear: async () => true,
	}),
	deletesAfterCommitOnly: (cache: SharedCache) => ({
		...cache,
		bury: async () => true,
	}),
} as const;

/** A cache that a writer cannot reach, while others can: nothing is buried, nothing cleared. */
export function unreachable(cache: SharedCache): SharedCache {
	return {
		...cache,
		putTombstones: async () => false,
		delete: async () => false,
	};
}

export function both(
	change: (cache: SharedCache) => SharedCache,
): (layers: Layers) => Layers {
	return ({ objects, heads }) => ({
		objects: change(objects),
		heads: change(heads),
	});
}

/** Puts a value past all leases. */
export type Stored = (
	layer: SharedCache["layer"],
	verb: "set" | "add",
	key: string,
	value: string,
) => Promise<void>;

/** By the ports of the two caches. The first part of a value and the flags are as src/cache spells them. */
export function storing(ports: {
	readonly memcached: number;
	readonly redis: number;
}): Stored {
	return async (layer, verb, key, value) => {
		if (layer === "memcached") {
			await ask(
				{ host: "127.0.0.1", port: ports.memcached },
				`${verb} ${key} 1 3600 ${Buffer.byteLength(value)}\r\n${value}`,
				/STORED/,
			);
			return;
		}
		const redis = new Redis(`redis://127.0.0.1:${ports.redis}`);
		try {
			if (verb === "set") await redis.set(key, `V${value}`);
			else await redis.set(key, `V${value}`, "NX");
		} finally {
			redis.disconnect();
		}
	};
}
