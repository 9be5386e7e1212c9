import type { Model } from "../../model/types.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Store } from "./store.ts";

/** Knows which hosts have lost writes in a failover. */
interface StopSource {
	readonly stoppedHosts: ReadonlySet<string>;
	followStops(onChange: (hosts: ReadonlySet<string>) => void): void;
}

/** Whether a failover of a shard's host, or of that of its lists, lost what caches may hold. */
export function stoppedShards(
	source: StopSource,
	storage: Storage,
	model: Model,
): (shard: number, mapping?: string) => boolean {
	return (shard, name = "") => {
		if (source.stoppedHosts.size === 0) return false;
		const mapping = model.mappings.get(name);
		// Feed lists may be on another host than their shard.
		const place = mapping ? storage.map.shardOfLists(mapping, shard) : shard;
		return [shard, place].some((one) =>
			source.stoppedHosts.has(storage.map.hostOf(one) ?? ""),
		);
	};
}

/** What a process has cached of hosts whose failover lost something may be what is lost. */
export function followStops(store: Store, source: StopSource): void {
	const { storage } = store;
	let before = source.stoppedHosts;
	source.followStops((stopped) => {
		const isChanged = (host: string | null) =>
			stopped.has(host ?? "") !== before.has(host ?? "");
		const shards = storage.map.shards.filter((n) =>
			isChanged(storage.map.hostOf(n)),
		);
		const modShards = Array.from(
			{ length: storage.map.modShards },
			(_, n) => n,
		);
		before = stopped;
		store.caches.invalidateShards({
			shards: new Set(shards),
			modShards: new Set(
				modShards.filter((n) => isChanged(storage.map.hostOfModShard(n))),
			),
		});
	});
}
