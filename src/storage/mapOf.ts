import { unpackId } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import { openShards, weightOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import type { Driver, ShardLocation } from "./driver.ts";
import { isFeedShard, shardOfLists } from "./feedShards.ts";
import type { StorageMap } from "./storage.ts";

/** The map of a version of a topology, whose shards a driver has. */
export function mapOf<P extends ShardLocation>(
	topology: Topology,
	driver: Driver<P>,
): StorageMap {
	const { shards, modShards } = driver.locations;
	const all = [...shards.keys()];
	const feeds = new Set(all.filter(isFeedShard));
	const hosts = Map.groupBy(all, (shard) => shards.get(shard)?.host.name ?? "");
	const ofLists = (mapping: Mapping, shard: number) =>
		shardOfLists(mapping, shard, feeds);
	return {
		shards: all.filter((shard) => !isFeedShard(shard)),
		openShards: openShards(topology).toSorted((a, b) => a - b),
		modShards: modShards.size,
		outboxes: [...hosts].map(([host, some]) => ({
			host,
			shards: some as [number, ...number[]],
		})),
		hasSingleWriter: driver.hasSingleWriter,
		weightOf: (shard) => weightOf(topology, shard),
		shardOfLists: ofLists,
		hostOf: (shard) => shards.get(shard)?.host.name ?? null,
		hostOfModShard: (shard) => modShards.get(shard)?.host.name ?? null,
		isOnStandby: ({ mapping, from }) =>
			driver.isOnStandby(ofLists(mapping, unpackId(from).shard)),
		canTransactOnBoth(shard, beside, lists) {
			const [own, other] = [shards.get(shard), shards.get(beside)];
			return (
				own !== undefined &&
				own.host === other?.host &&
				driver.canTransactOnBoth(own, other, lists)
			);
		},
	};
}
