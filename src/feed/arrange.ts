import type { Id } from "../id/ids.ts";
import type { Rate } from "./feedModel.ts";
import type { PoolEntry } from "./pools/pools.ts";
import { SCORE_UNIT } from "./scores.ts";
import type { Source } from "./sources.ts";

/** An item that may be shown now: it waits, and the viewer may see it. */
export interface Candidate extends PoolEntry {
	/** Since when it waits. Milliseconds since 1970. */
	readonly waitingSince: number;
}

/** The viewer for whom items are arranged. It is plain data: a ranker may run in another thread. */
export interface FeedViewer {
	readonly id: Id;
	/** Milliseconds since 1970. */
	readonly now: number;
	/** When items were last added to the feed; 0: never. */
	readonly lastLookAt: number;
	/** The median score of the items that the viewer was lately shown, by source; absent if they are few. */
	readonly usualScores: Readonly<Partial<Record<Source, number>>>;
	/** How many items of each `via` the viewer hid lately. */
	readonly hidden: ReadonlyMap<Id, number>;
	/** How many of some items are to come from which sources. */
	readonly rates: readonly Rate[];
}

/** The waiting items of each source, best first. */
export type Candidates = ReadonlyMap<Source, readonly Candidate[]>;

export interface Arrangement {
	/** Items to show now, the first on top. */
	readonly show: readonly Id[];
	/** Items that are never to be shown. What is named nowhere keeps waiting. */
	readonly drop: readonly Id[];
}

/** Below the usual score by more than that, an item is deferred: a quarter as good, or a day older. */
const DEFER_BELOW = 2 * SCORE_UNIT;
/** How long an item may be deferred, from when it began to wait. Then it is dropped. */
const DROP_AFTER_MS = 3 * 86_400_000;

/**
 * The arrangement that a feed has by default:
 *
 * - sources at their rates: the next item is from the sources that lag behind
 *   theirs the most. If one has nothing left, the others take its share;
 * - the best items of each source, not the newest. An item of somebody whose items the
 *   viewer hid counts half as much for each of these;
 * - an item that was not good enough at an earlier look, and has fallen far below
 *   what the viewer is shown usually, is deferred, and dropped in the end;
 * - no two items of one `via` beside each other, as long as there are others.
 */
export function arrange(
	pools: Candidates,
	size: number,
	viewer: FeedViewer,
): Arrangement {
	const drop: Id[] = [];
	const isDeferred = ({ source, score, waitingSince }: Candidate) =>
		waitingSince < viewer.lastLookAt &&
		score < (viewer.usualScores[source] ?? 0) - DEFER_BELOW;
	const rateSum = viewer.rates.reduce((sum, { rate }) => sum + rate, 0);
	const queues = viewer.rates.map(({ sources, rate }) => ({
		rate,
		taken: 0,
		waiting: sources
			.flatMap((source) => pools.get(source) ?? [])
			.filter((candidate) => {
				if (!isDeferred(candidate)) return true;
				const waited = viewer.now - candidate.waitingSince;
				if (waited > DROP_AFTER_MS) drop.push(candidate.item);
				return false;
			})
			.sort(
				(a, b) => worthOf(b, viewer) - worthOf(a, viewer) || newerFirst(a, b),
			),
	}));
	const chosen: Candidate[] = [];
	while (chosen.length < size) {
		const open = queues.filter(({ taken, waiting }) => taken < waiting.length);
		const [first] = open;
		if (first === undefined) break;
		const due = chosen.length + 1;
		const deficit = ({ rate, taken }: (typeof queues)[number]) =>
			(rate * due) / rateSum - taken;
		const next = open.reduce(
			(most, one) => (deficit(one) > deficit(most) ? one : most),
			first,
		);
		chosen.push(next.waiting[next.taken++] as Candidate);
	}
	return { show: separated(chosen).map(({ item }) => item), drop };
}

function worthOf({ score, via }: Candidate, { hidden }: FeedViewer): number {
	return score - SCORE_UNIT * (hidden.get(via) ?? 0);
}

/** So that the order does not depend on that of the input. */
function newerFirst(a: Candidate, b: Candidate): number {
	const [one, other] = [BigInt(a.item), BigInt(b.item)];
	return one < other ? 1 : one > other ? -1 : 0;
}

/** Keeps the given order, except that an item is put off while the one before it came through the same `via` and another is left. */
function separated(chosen: readonly Candidate[]): readonly Candidate[] {
	const left = [...chosen];
	const result: Candidate[] = [];
	while (left.length > 0) {
		const last = result.at(-1)?.via;
		const other = left.findIndex(({ via }) => via !== last);
		result.push(...left.splice(Math.max(0, other), 1));
	}
	return result;
}
