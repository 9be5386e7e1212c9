import { Redis } from "ioredis";
import type { Fill, SharedCache } from "../../src/cache/sharedCache.ts";
import { ask } from "../services/ask.ts";
import type { Layers } from "./fleet.ts";

/** Plausible but wrong ways to use a shared cache. The tests show that they fail. */
export const NAIVE = {
	/** Every reader that missed may fill. */
	fillsWithoutLease: (stored: Stored) => (cache: SharedCache) => ({
		...cache,
		fill: async (fills: readonly Fill[]) => {
			for (const { lease, value } of fills) {
				if (value === null) continue;
				await stored(cache.layer, "set", lease.key, value);
			}
		},
	}),
	/** A reader that missed may fill an absent key. */
	fillsWhatIsAbsent: (stored: Stored) => (cache: SharedCache) => ({
		...cache,
		fill: async (fills: readonly Fill[]) => {
			for (const { lease, value } of fills) {
				if (value === null) continue;
				await stored(cache.layer, "add", lease.key, value);
			}
		},
	}),
	deletesNothing: (cache: SharedCache) => ({
		...cache,
		delete: async () => true,
	}),
} as const;

/** A cache that this writer cannot reach, while others can: no key is deleted. */
export function unreachable(cache: SharedCache): SharedCache {
	return {
		...cache,
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

/** Stores a value without a lease. */
export type Stored = (
	layer: SharedCache["layer"],
	verb: "set" | "add",
	key: string,
	value: string,
) => Promise<void>;

/** Stores into the caches at these ports, with the value prefix and flags that src/cache uses. */
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
			const marked = `V0 ${value}`;
			if (verb === "set") await redis.set(key, marked);
			else await redis.set(key, marked, "NX");
		} finally {
			redis.disconnect();
		}
	};
}
