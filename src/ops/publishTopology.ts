import { CorkboardError } from "../errors.ts";
import {
	type About,
	forgetOldVersions,
	type HistoryEntry,
	publication,
	readCurrent,
	readVersion,
} from "../topology/history.ts";
import { redactHostUrl } from "../topology/hostUrl.ts";
import { historyPath, type TopologyStore } from "../topology/store.ts";
import type { HostRange, ShardRange, Topology } from "../topology/types.ts";

/** A map to publish; its version is the one after the current one, whatever it says itself. */
export type Edit = (current: Topology | null) => Omit<Topology, "version">;

export interface PublishOptions extends About {
	/** Refused where the store has another version than this one. Default: the newest, whichever that is. */
	readonly from?: number;
}

/**
 * Publishes an edit of the current version as the next one. Where somebody else
 * publishes meanwhile, the edit is made again on what they published. Throws BAD_TOPOLOGY,
 * CONFLICT where the version is not `from`, and UNAVAILABLE.
 */
export async function publishTopology(
	store: TopologyStore,
	edit: Edit,
	{ from, ...about }: PublishOptions,
): Promise<HistoryEntry> {
	for (;;) {
		const current = await readCurrent(store);
		const version = current?.topology.version ?? 0;
		// What is published first was made from nothing.
		if (from !== undefined && current !== null && from !== version) {
			throw new CorkboardError(
				"CONFLICT",
				`This was made from version ${from}, but ${store.name} has version ${version} now. Look at the difference (topology diff), and make it from that one.`,
			);
		}
		const { entry, changes } = publication(
			current,
			edit(current?.topology ?? null),
			about,
		);
		try {
			await store.write(changes);
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			if (error.details.isUnknown === true) {
				if (await isPublished(store, entry)) return entry;
				throw error;
			}
			if (error.code !== "CONFLICT") throw error;
			await requireOwnHistory(store, version + 1, error);
			continue;
		}
		await forgetOldVersions(store).catch(() => {});
		return entry;
	}
}

/** After a lost connection: whether the write was carried out. */
async function isPublished(
	store: TopologyStore,
	{ topology: { version }, id }: HistoryEntry,
): Promise<boolean> {
	return (await readVersion(store, version))?.id === id;
}

/**
 * A conflict that another try would meet again: the history has the next version,
 * and the topology is still the one before, as after a hand edit that set the
 * version back. Throws `error` then.
 */
async function requireOwnHistory(
	store: TopologyStore,
	next: number,
	error: CorkboardError,
): Promise<void> {
	const isThere = (await store.get(historyPath(next))) !== null;
	const current = await readCurrent(store);
	if (!isThere || (current?.topology.version ?? 0) >= next) return;
	throw new CorkboardError(
		"CONFLICT",
		`${store.name} has version ${next - 1}, but its history has version ${next} already: the topology was set back by hand. Publish the newest version of the history first.`,
		{ cause: error },
	);
}

/** What of an older version comes back. */
export interface Rollback {
	/** True: `open` and `weight` alone, whatever the hosts are. */
	readonly onlyPlacement: boolean;
}

/**
 * The current map with what an older one says of open ranges, weights and
 * replicas. Primaries and generations stay; shards that came later stay, closed. Throws
 * BAD_TOPOLOGY where the older one names another primary for any shard, because
 * that host lacks everything written since.
 */
export function rollbackTo(
	current: Topology,
	old: Topology,
	{ onlyPlacement }: Rollback,
): Omit<Topology, "version"> {
	const faults: string[] = [];
	const restore = <Range extends HostRange>(
		kind: string,
		now: readonly Range[],
		then: readonly Range[],
		merge: (now: Range, then: Range | null) => Range,
	) =>
		split(now, then).map(([range, before]) => {
			const isMoved =
				before !== null &&
				redactHostUrl(before.primary) !== redactHostUrl(range.primary);
			if (isMoved && !onlyPlacement) {
				faults.push(
					`${kind} ${range.range.join(" to ")}: version ${old.version} names ${redactHostUrl(before.primary)}, which lacks what was written since ${redactHostUrl(range.primary)} took its place`,
				);
			}
			return merge(range, isMoved ? null : before);
		});
	const hosts = <Range extends HostRange>(now: Range, then: Range | null) => {
		if (onlyPlacement || then === null) return now;
		const { replica: _, ...others } = now;
		return (
			then.replica === undefined ? others : { ...others, replica: then.replica }
		) as Range;
	};
	const placed = new Map(old.shards.map((range) => [range, range]));
	const shards = restore("shards", current.shards, old.shards, hosts).map(
		(range): ShardRange => {
			const then = [...placed.keys()].find(
				({ range: [first, last] }) =>
					first <= range.range[0] && range.range[0] <= last,
			);
			const { weight: _, ...others } = range;
			return {
				...others,
				open: then?.open ?? false,
				...(then?.weight !== undefined && { weight: then.weight }),
			};
		},
	);
	const lookups = restore("lookups", current.lookups, old.lookups, hosts);
	if (faults.length > 0) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			[
				...faults,
				"Open ranges and weights alone can go back: --only-placement.",
			].join("\n"),
		);
	}
	return { ...current, shards, lookups };
}

/** The current ranges, split where the older ones begin and end, each with the older one that was there. */
function split<Range extends HostRange>(
	now: readonly Range[],
	then: readonly Range[],
): readonly (readonly [Range, Range | null])[] {
	const edges = then.flatMap(({ range: [first, last] }) => [first, last + 1]);
	return now.flatMap((range) => {
		const [first, last] = range.range;
		const starts = [
			first,
			...edges.filter((edge) => edge > first && edge <= last),
		];
		const sorted = [...new Set(starts)].toSorted((a, b) => a - b);
		return sorted.map((start, index): readonly [Range, Range | null] => {
			const end = (sorted[index + 1] ?? last + 1) - 1;
			const before =
				then.find(({ range }) => range[0] <= start && start <= range[1]) ??
				null;
			return [{ ...range, range: [start, end] }, before];
		});
	});
}
