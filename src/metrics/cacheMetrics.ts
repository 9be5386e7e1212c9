import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import {
	type CacheCall,
	type CacheHost,
	CHANNELS,
	type LocalCacheLevel,
	type UnreadOutboxes,
} from "../diagnostics.ts";
import { CALL_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";

/** Shared caches by host, the caches in the process, and what they are invalidated by. */
export function cacheMetrics(registry: Registry): Feeds {
	const registers = [registry];
	const calls = new Counter({
		name: "corkboard_cache_calls_total",
		help: "Batches sent to a host of a shared cache, by layer, host, verb, and result (ok, or failed: an error or no answer in time).",
		labelNames: ["layer", "host", "verb", "result"],
		registers,
	});
	const keys = new Counter({
		name: "corkboard_cache_keys_total",
		help: "Keys of batches sent to a host of a shared cache, by layer and verb. Of get and lease: how many were asked for; lease follows a get that missed.",
		labelNames: ["layer", "verb"],
		registers,
	});
	const seconds = new Histogram({
		name: "corkboard_cache_call_duration_seconds",
		help: "Time of a batch to a host of a shared cache, by layer and host.",
		labelNames: ["layer", "host"],
		buckets: CALL_SECONDS,
		registers,
	});
	const up = new Gauge({
		name: "corkboard_cache_up",
		help: "1 while a host of a shared cache answers this process, else 0. Absent before the first call.",
		aggregator: "min",
		labelNames: ["layer", "host"],
		registers,
	});
	const bypassed = new Gauge({
		name: "corkboard_cache_bypassed_shards",
		help: "Shards that this process reads past its own cache, because it cannot read their outboxes.",
		registers,
	});
	bypassed.set(0);
	const levels: readonly [keyof LocalCacheLevel, string, string, boolean][] = [
		[
			"hits",
			"corkboard_local_cache_hits_total",
			"Values found in a cache in the process.",
			true,
		],
		[
			"misses",
			"corkboard_local_cache_misses_total",
			"Values not found in a cache in the process, or not fresh.",
			true,
		],
		[
			"evictions",
			"corkboard_local_cache_evictions_total",
			"Values that left a cache in the process for want of room.",
			true,
		],
		[
			"entries",
			"corkboard_local_cache_entries",
			"Values in a cache in the process.",
			false,
		],
		[
			"bytes",
			"corkboard_local_cache_bytes",
			"Bytes of a cache in the process, about.",
			false,
		],
	];
	for (const [field, name, help, isCounter] of levels) {
		const options = { name, help, labelNames: ["cache"], registers };
		const ask = (add: (cache: string, value: number) => void) =>
			CHANNELS.levels.publish({
				localCache: (level: LocalCacheLevel) =>
					add(level.cache, level[field] as number),
			});
		if (isCounter) {
			new Counter({
				...options,
				collect() {
					this.reset();
					ask((cache, value) => this.inc({ cache }, value));
				},
			});
		} else {
			new Gauge({
				...options,
				collect() {
					this.reset();
					ask((cache, value) => this.inc({ cache }, value));
				},
			});
		}
	}
	const known = new Set<string>();
	return [
		[
			CHANNELS.cacheCall,
			(message) => {
				const call = message as CacheCall;
				const { layer, host, verb, ok } = call;
				calls.inc({ layer, host, verb, result: ok ? "ok" : "failed" });
				keys.inc({ layer, verb }, call.keys);
				seconds.observe({ layer, host }, call.ms / 1_000);
				const name = `${layer} ${host}`;
				if (known.has(name)) return;
				known.add(name);
				up.set({ layer, host }, ok ? 1 : 0);
			},
		],
		[
			CHANNELS.cacheHost,
			(message) => {
				const { layer, host, state } = message as CacheHost;
				known.add(`${layer} ${host}`);
				up.set({ layer, host }, state === "up" ? 1 : 0);
			},
		],
		[
			CHANNELS.unreadOutboxes,
			(message) => bypassed.set((message as UnreadOutboxes).shards.length),
		],
	];
}
