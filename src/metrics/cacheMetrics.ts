import type { Registry } from "prom-client";
import {
	CACHE_CHANNELS,
	LOCAL_CACHE_LEVELS,
	type LocalCacheLevel,
	SHARED_CACHE_LEVELS,
	type SharedCacheLevel,
} from "../cache/diagnostics.ts";
import { listen } from "../diagnostics.ts";
import { PLAN_CACHE_LEVELS } from "../plan/diagnostics.ts";
import { CALL_SECONDS } from "./buckets.ts";
import { askingOnce, type Feeds } from "./feeds.ts";
import { Distributions, Values } from "./series.ts";

/** Shared caches by host, the caches in the process, and the plans. */
export function cacheMetrics(registry: Registry): Feeds {
	localCacheMetrics(registry);
	planCacheMetrics(registry);
	sharedCacheMetrics(registry);
	const calls = new Values(registry, "counter", {
		name: "corkboard_cache_calls_total",
		help: "Batches sent to a host of a shared cache, by layer, host, verb, and result (ok, or failed: an error or no answer in time).",
		labels: ["layer", "host", "verb", "result"],
	});
	const keys = new Values(registry, "counter", {
		name: "corkboard_cache_keys_total",
		help: "Keys of batches sent to a host of a shared cache, by layer and verb.",
		labels: ["layer", "verb"],
	});
	const seconds = new Distributions(registry, CALL_SECONDS, {
		name: "corkboard_cache_call_duration_seconds",
		help: "Time of a batch to a host of a shared cache, by layer and host.",
		labels: ["layer", "host"],
	});
	const up = new Values(registry, "gauge", {
		name: "corkboard_cache_up",
		help: "1 while a host of a shared cache answers this process, else 0. Absent before the first call.",
		aggregator: "min",
		labels: ["layer", "host"],
	});
	const reads = new Values(registry, "counter", {
		name: "corkboard_cache_reads_total",
		help: "Keys read from a shared cache, by layer and result: hit; miss, with the right to fill it; busy: another reader fills it or a write has begun, so this one waits 20 ms and asks again; down: read from the shards and not filled.",
		labels: ["layer", "result"],
	});
	const fills = new Values(registry, "counter", {
		name: "corkboard_cache_fills_total",
		help: "Keys sent to a shared cache after a miss, by layer and result: filled; refused: a write took the right away meanwhile, or the host had no room; failed.",
		labels: ["layer", "result"],
	});
	const known = new Set<string>();
	return [
		listen(CACHE_CHANNELS.cacheCall, (call) => {
			const { layer, host, verb, ok } = call;
			calls.at(layer, host, verb, ok ? "ok" : "failed").value++;
			keys.at(layer, verb).value += call.keys;
			seconds.at(layer, host).observe(call.ms / 1_000);
			const name = `${layer} ${host}`;
			if (known.has(name)) return;
			known.add(name);
			up.set(ok ? 1 : 0, layer, host);
		}),
		listen(CACHE_CHANNELS.cacheHost, ({ layer, host, state }) => {
			known.add(`${layer} ${host}`);
			up.set(state === "up" ? 1 : 0, layer, host);
		}),
		listen(CACHE_CHANNELS.sharedRead, ({ layer, hits, misses, busy, down }) => {
			if (hits > 0) reads.at(layer, "hit").value += hits;
			if (misses > 0) reads.at(layer, "miss").value += misses;
			if (busy > 0) reads.at(layer, "busy").value += busy;
			if (down > 0) reads.at(layer, "down").value += down;
		}),
		listen(CACHE_CHANNELS.sharedFill, ({ layer, result, keys }) => {
			fills.at(layer, result).value += keys;
		}),
	];
}

function localCacheMetrics(registry: Registry): void {
	const levels: readonly [
		Exclude<keyof LocalCacheLevel, "cache">,
		"counter" | "gauge",
		string,
		string,
	][] = [
		[
			"hits",
			"counter",
			"corkboard_local_cache_hits_total",
			"Values found in a cache in the process.",
		],
		[
			"misses",
			"counter",
			"corkboard_local_cache_misses_total",
			"Values not found in a cache in the process, or not fresh.",
		],
		[
			"refused",
			"counter",
			"corkboard_local_cache_fills_refused_total",
			"Values that were read and not kept in a cache in the process, because they were changed meanwhile or the cache is bypassed.",
		],
		[
			"evictions",
			"counter",
			"corkboard_local_cache_evictions_total",
			"Values that left a cache in the process for want of room.",
		],
		[
			"entries",
			"gauge",
			"corkboard_local_cache_entries",
			"Values in a cache in the process.",
		],
		[
			"bytes",
			"gauge",
			"corkboard_local_cache_bytes",
			"Bytes of a cache in the process, about.",
		],
	];
	for (const [field, type, name, help] of levels) {
		new Values(registry, type, {
			name,
			help,
			labels: ["cache"],
			levels: () =>
				LOCAL_CACHE_LEVELS.read()
					.flat()
					.map((level) => [level[field], level.cache]),
		});
	}
}

/** What the hosts of shared caches say of themselves: every process reads the same. */
function sharedCacheMetrics(registry: Registry): void {
	const levels = askingOnce(SHARED_CACHE_LEVELS);
	const host =
		"of a host of a shared cache, no matter who put them there. Absent";
	const all: readonly [
		Exclude<keyof SharedCacheLevel, "layer" | "host">,
		"counter" | "gauge",
		string,
		string,
	][] = [
		[
			"bytes",
			"gauge",
			"corkboard_shared_cache_bytes",
			`Bytes ${host} while it does not answer.`,
		],
		[
			"maxBytes",
			"gauge",
			"corkboard_shared_cache_limit_bytes",
			`The most bytes ${host} while it does not answer, and if it has no limit.`,
		],
		[
			"entries",
			"gauge",
			"corkboard_shared_cache_entries",
			`Entries ${host} while it does not answer.`,
		],
		[
			"evictions",
			"counter",
			"corkboard_shared_cache_evictions_total",
			`Entries that left for want of room, ${host} while it does not answer. It counts from its own start.`,
		],
	];
	for (const [field, type, name, help] of all) {
		new Values(registry, type, {
			name,
			help,
			aggregator: "max",
			labels: ["layer", "host"],
			levels: async () =>
				(await levels()).map((level) => [
					level[field],
					level.layer,
					level.host,
				]),
		});
	}
}

function planCacheMetrics(registry: Registry): void {
	new Values(registry, "counter", {
		name: "corkboard_plan_cache_requests_total",
		help: "Operations whose plan was found (hit) or compiled (miss). One whose whole answer was kept needs no plan.",
		labels: ["result"],
		levels: () =>
			PLAN_CACHE_LEVELS.read().flatMap(({ hits, misses }) => [
				[hits, "hit"],
				[misses, "miss"],
			]),
	});
	new Values(registry, "gauge", {
		name: "corkboard_plan_cache_plans",
		help: "Compiled plans that are kept, without those of persisted documents.",
		levels: () => PLAN_CACHE_LEVELS.read().map(({ plans }) => [plans]),
	});
	new Values(registry, "counter", {
		name: "corkboard_plan_compile_seconds_total",
		help: "Time in which plans were compiled.",
		levels: () =>
			PLAN_CACHE_LEVELS.read().map(({ compileMs }) => [compileMs / 1_000]),
	});
}
