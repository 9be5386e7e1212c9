import { compareIds, type Id } from "../id/ids.ts";
import { edgeName } from "./keys.ts";
import { isStoredNumber } from "./order.ts";
import type { EdgePosition, ListRow, Position, Shift } from "./rows.ts";

/** Storage keeps this many renumberings of a list, the newest. */
export const KEPT_RENUMBERINGS = 1_000;

/** Distance between neighbors after an import, and the room that a renumbering makes at least half of. */
export const SEQUENCE_GAP = 1_000;

/** Edges read at first to find a shift. Only a list without gaps needs more. */
export const FIRST_EDGES = 500;

/**
 * The shift that makes room below the first of these edges: `edges` are it and
 * those above it, lowest first. The shift stops below the first gap it can take
 * half of. Null if there are more edges, and only they can have that gap.
 */
export function shiftFrom(
	at: Position,
	edges: readonly Position[],
	hasMore: boolean,
): Shift | null {
	let high = at;
	for (const edge of edges) {
		const gap = edge.sequence - high.sequence;
		if (gap >= SEQUENCE_GAP) {
			const by = Math.min(SEQUENCE_GAP, Math.floor(gap / 2));
			return { low: at, high, by };
		}
		high = edge;
	}
	return hasMore ? null : { low: at, high, by: SEQUENCE_GAP };
}

/** Whether the edge at this position is shifted. */
export function isShifted(position: Position, { low, high }: Shift): boolean {
	return (
		comparePositions(low, position) <= 0 &&
		comparePositions(position, high) <= 0
	);
}

/**
 * Where a position is after a renumbering. Edges that were below, at or above
 * the position are so afterwards, even if no edge is at the position.
 */
export function shiftPosition(position: Position, shift: Shift): Position {
	const { low, high, by } = shift;
	if (comparePositions(position, low) < 0) return position;
	if (comparePositions(position, high) <= 0) {
		return { sequence: position.sequence + by, to: position.to };
	}
	// It was above the highest edge shifted, and must be above it still.
	const above: Position = {
		sequence: high.sequence + by,
		to: String(BigInt(high.to) + 1n) as Id,
	};
	return comparePositions(position, above) < 0 ? above : position;
}

/**
 * The edges without repetition, in an order in which no renumbering shifts the
 * next edge: each shifts edges above its own only.
 */
export function highestFirst(
	edges: readonly EdgePosition[],
): readonly EdgePosition[] {
	const unique = new Map(
		edges.map((edge) => [
			edgeName(edge.mapping, { ...edge, to: edge.at.to }),
			edge,
		]),
	);
	return [...unique.values()].sort((a, b) => comparePositions(b.at, a.at));
}

/** In ascending order of sequences, then of ids. */
export function comparePositions(a: Position, b: Position): number {
	return a.sequence - b.sequence || compareIds(a.to, b.to);
}

/** Epochs are below 2^40, because cursors keep that many bits of them. */
export const MAX_EPOCH = 2 ** 40 - 1;

/** What counting a list's edges found. */
interface Recount {
	readonly count: number;
	/** The highest sequence, also of a removed edge. */
	readonly last: number;
	/** The epoch of the newest renumbering stored; 0 without one. */
	readonly newestEpoch: number;
}

/**
 * A list's row after its edges were counted. The last sequence may have been
 * that of an edge that is gone, so it stays. The epoch is that of the newest
 * renumbering. If it is not, positions of two epochs may have been given out as
 * of one: then the list gets an epoch beyond both, with a gap before it, so that
 * no cursor from before is taken for a position in it.
 */
export function recounted(
	{ from, lastSequence, epoch }: ListRow,
	{ count, last, newestEpoch }: Recount,
): ListRow {
	const epochs = [epoch, newestEpoch].filter(isEpoch);
	return {
		from,
		count,
		lastSequence: Math.max(0, ...[lastSequence, last].filter(isStoredNumber)),
		epoch: epoch === newestEpoch ? epoch : Math.max(0, ...epochs) + 2,
	};
}

export function isEpoch(value: number): boolean {
	return isStoredNumber(value) && value <= MAX_EPOCH;
}

/** Stored with an epoch that no renumbering made: positions stay where they are. */
export const NO_SHIFT: Shift = {
	low: { sequence: 0, to: "0" as Id },
	high: { sequence: 0, to: "0" as Id },
	by: 0,
};
