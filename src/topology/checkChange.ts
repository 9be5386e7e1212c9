import { cacheChangeFaults } from "./caches.ts";
import { badTopology, printShards } from "./check.ts";
import { redactHostUrl } from "./hostUrl.ts";
import { modShards, rangeIn, shardsOf } from "./ranges.ts";
import type { FeedRange, Topology } from "./types.ts";

/**
 * Whether a running fleet may switch to a newer topology (docs/consistency.md, "6. Topology").
 * Throws BAD_TOPOLOGY with every reason against it.
 */
export function checkTopologyChange(old: Topology, next: Topology): void {
	const faults: string[] = [];
	if (next.version < old.version) {
		faults.push(
			`version: expected ${old.version} or later but got: ${next.version}`,
		);
	}
	if (
		next.version === old.version &&
		JSON.stringify(next) !== JSON.stringify(old)
	) {
		faults.push(
			`version: expected a version after ${old.version} for another map but got: the same version`,
		);
	}
	const kept = new Set(shardsOf(next.shards));
	const vanished = shardsOf(old.shards).filter((each) => !kept.has(each));
	if (vanished.length > 0) {
		faults.push(
			`shards: expected all shards that were there but got: none of ${printShards(vanished)}`,
		);
	}
	faults.push(
		...queueFaults(old, next),
		...generationFaults("shards", old.shards, next.shards),
		...feedFaults(old, next),
		...generationFaults("feeds", old.feeds ?? [], next.feeds ?? []),
		...cacheChangeFaults(old, next),
	);
	if (modShards(next) !== modShards(old)) {
		faults.push(
			`lookups: expected ${modShards(old)} mod shards, as when the fleet was made, but got: ${modShards(next)}`,
		);
	}
	const poolShards = shardsOf(old.pools ?? []).length;
	const nextPoolShards = shardsOf(next.pools ?? []).length;
	if (poolShards > 0 && nextPoolShards !== poolShards) {
		faults.push(
			`pools: expected ${poolShards} pool shards, as when they were made, but got: ${nextPoolShards}`,
		);
	}
	if (faults.length > 0) throw badTopology(faults);
}

/** A queue shard that takes jobs has some that nobody would find: it is drained first. */
function queueFaults(old: Topology, next: Topology): readonly string[] {
	const kept = new Set(shardsOf(next.queues ?? []));
	const inUse = (old.queues ?? []).filter(({ drain }) => drain !== true);
	const vanished = shardsOf(inUse).filter((each) => !kept.has(each));
	return vanished.length === 0
		? []
		: [
				`queues: expected all queue shards that were there without "drain": true but got: none of ${printShards(vanished)}`,
			];
}

/**
 * A promoted replica may lack what the caches have of its shard, and an earlier
 * generation's keys may still be there. A host is the same while its address
 * is: a changed password moves nothing.
 */
function generationFaults(
	list: "shards" | "feeds",
	old: readonly FeedRange[],
	next: readonly FeedRange[],
): readonly string[] {
	const kept: number[] = [];
	const fallen: number[] = [];
	for (const shard of shardsOf(next)) {
		const before = rangeIn(old, shard);
		const after = rangeIn(next, shard);
		if (before === null || after === null) continue;
		const rise = (after.generation ?? 0) - (before.generation ?? 0);
		const isMoved =
			redactHostUrl(after.primary) !== redactHostUrl(before.primary);
		if (rise < 0) fallen.push(shard);
		else if (rise === 0 && isMoved) kept.push(shard);
	}
	return [
		...(kept.length > 0
			? [
					`${list}: expected a higher generation with another primary but got: the same one for ${printShards(kept)}`,
				]
			: []),
		...(fallen.length > 0
			? [
					`${list}: expected generations that do not fall but got: a lower one for ${printShards(fallen)}`,
				]
			: []),
	];
}

/** Feed lists stay where they are: on another database nobody would find them. */
function feedFaults(old: Topology, next: Topology): readonly string[] {
	const before = new Set(shardsOf(old.feeds ?? []));
	const after = new Set(shardsOf(next.feeds ?? []));
	const known = shardsOf(old.shards);
	const left = known.filter((each) => before.has(each) && !after.has(each));
	const come = known.filter((each) => !before.has(each) && after.has(each));
	return [
		...(left.length > 0
			? [
					`feeds: expected all shards that were there but got: none of ${printShards(left)}`,
				]
			: []),
		...(come.length > 0
			? [
					`feeds: expected only shards that are new, because feed lists of others are with their shard, but got: ${printShards(come)}`,
				]
			: []),
	];
}
