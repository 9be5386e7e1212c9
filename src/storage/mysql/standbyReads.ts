import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import type { CallOptions } from "../../trace.ts";
import { FEED_SHARDS } from "../feedShards.ts";
import type { Scan, ScanResult } from "../rows.ts";
import { Host, type HostLimits } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { MergedReads } from "./mergedReads.ts";
import { MergedReads as Merged } from "./mergedReads.ts";
import { type ScanWithBeat, scanListsWithBeat } from "./scan.ts";
import { addressOf } from "./serverAddress.ts";
import type { KeyOnShard, ShardMap } from "./shards.ts";
import { StandbyPair } from "./standby/standbyPair.ts";

type Scans = readonly KeyOnShard<Scan>[];

/**
 * Pages of feed lists from the standby of their host, if that does not answer
 * in time (./standby/). If no range of feeds has a replica, there is none of this.
 */
export class StandbyReads implements AsyncDisposable {
	readonly #pairs: ReadonlyMap<string, StandbyPair>;
	/** By the number of the feed database. */
	readonly #byShard: ReadonlyMap<number, StandbyPair>;
	readonly #primary: MergedReads<Scan, ScanResult>;
	readonly #standby: MergedReads<Scan, ScanWithBeat>;

	constructor(options: {
		readonly topology: Topology;
		readonly map: ShardMap;
		readonly limits: HostLimits;
		readonly environment: Environment;
		/** How primaries are read. */
		readonly scans: MergedReads<Scan, ScanResult>;
		readonly maxKeys: number;
	}) {
		const { topology, map, limits, environment } = options;
		const pairs = new Map<string, StandbyPair>();
		const byShard = new Map<number, StandbyPair>();
		for (const { range, primary, replica } of topology.feeds ?? []) {
			if (replica === undefined) continue;
			const key = `${primary} ${replica}`;
			let pair = pairs.get(key);
			if (pair === undefined) {
				const shard = map.shards.get(range[0] + FEED_SHARDS);
				if (shard === undefined) continue;
				const standby = new Host(addressOf(replica, environment), limits, true);
				pair = new StandbyPair(shard.host, standby, limits.readMs);
				pairs.set(key, pair);
			}
			for (let shard = range[0]; shard <= range[1]; shard++) {
				byShard.set(shard + FEED_SHARDS, pair);
			}
		}
		this.#pairs = pairs;
		this.#byShard = byShard;
		this.#primary = options.scans;
		this.#standby = new Merged({
			read: scanListsWithBeat,
			maxKeys: options.maxKeys,
			rowsOf: ({ limit }) => limit,
		});
	}

	/** Whether all its pages come from the standby now. */
	isSwitched(shard: number): boolean {
		return this.#byShard.get(shard)?.isSwitched ?? false;
	}

	get isEmpty(): boolean {
		return this.#pairs.size === 0;
	}

	/** Scans lists on one host. A page that may be stale can come from the standby of its shard, if it has one. */
	async read(
		host: Host,
		scans: Scans,
		options: QueryOptions,
		trace: CallOptions["trace"],
	): Promise<readonly ScanResult[]> {
		const pairOf = ({ key, shard }: KeyOnShard<Scan>) =>
			key.mayBeStale ? this.#byShard.get(shard.number) : undefined;
		if (!scans.some(pairOf)) {
			return this.#primary.read(host, scans, options);
		}
		const byPair = Map.groupBy(scans, pairOf);
		const results = new Map<KeyOnShard<Scan>, ScanResult>();
		await Promise.all(
			[...byPair].map(async ([pair, some]) => {
				const read = await (pair === undefined
					? this.#primary.read(host, some, options)
					: this.#scanPair(pair, host, some, options, trace));
				for (const [at, one] of some.entries()) {
					results.set(one, read[at] as ScanResult);
				}
			}),
		);
		return scans.map((one) => results.get(one) as ScanResult);
	}

	async #scanPair(
		pair: StandbyPair,
		host: Host,
		scans: Scans,
		options: QueryOptions,
		trace: CallOptions["trace"],
	): Promise<readonly ScanResult[]> {
		const { until, signal } = options.deadline;
		const within = (signal: AbortSignal, onSent: () => void) => ({
			...options,
			deadline: { until, signal },
			onSent,
		});
		const { value, by, lagMs, askedAfterMs } = await pair.read({
			signal,
			primary: (ends, sent) =>
				this.#primary.read(host, scans, within(ends, sent)),
			standby: async (ends, sent) => {
				const read = await this.#standby.read(
					pair.standby,
					scans,
					within(ends, sent),
				);
				return {
					value: read.map(({ result }) => result),
					beat: read[0]?.beat ?? null,
				};
			},
			isNewEnough: (results) =>
				results.every((result, at) =>
					hasSeenAll((scans[at] as KeyOnShard<Scan>).key, result),
				),
		});
		if (by === "primary") return value;
		trace?.note?.(
			`standby ${pair.standby.name}, ${(lagMs / 1_000).toFixed(1)} s old, after ${Math.round(askedAfterMs)} ms`,
		);
		return value.map((result) => ({ ...result, isStale: true as const }));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(
			[...this.#pairs.values()].map((pair) => pair[Symbol.asyncDispose]()),
		);
	}
}

/**
 * Whether the list has the edges among which the reader is. New edges come on top,
 * some in one commit: with the edge of the cursor the list has all that are below it.
 */
export function hasSeenAll(
	{ after, before }: Scan,
	{ list }: ScanResult,
): boolean {
	return [after, before].every(
		(bound) => bound === undefined || bound.sequence <= list.lastSequence,
	);
}
