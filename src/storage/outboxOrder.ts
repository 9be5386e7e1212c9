import type { OutboxPosition, PendingEntry } from "./storage.ts";

/** Where each shard's entries continue: after the last of those already read. */
export function lastPositions(
	after: readonly OutboxPosition[],
): ReadonlyMap<number, OutboxPosition> {
	const last = new Map<number, OutboxPosition>();
	for (const position of after) {
		const known = last.get(position.shard);
		if (known === undefined || compare(known, position) < 0) {
			last.set(position.shard, position);
		}
	}
	return last;
}

function compare(a: OutboxPosition, b: OutboxPosition): number {
	return a.nextAttemptAt - b.nextAttemptAt || a.local - b.local;
}

/** Entries of several shards, oldest first. */
export function oldestFirst(
	rows: readonly PendingEntry[],
): readonly PendingEntry[] {
	return rows.toSorted(
		(a, b) =>
			a.writtenAt - b.writtenAt || a.shard - b.shard || a.local - b.local,
	);
}

/** Longest `last_error`, in characters. */
const MAX_ERROR = 255;

/** An error as stored: whole characters, so that no half of a surrogate pair is left at the end. */
export function storedError(error: string): string {
	return [...error.slice(0, 2 * MAX_ERROR)].slice(0, MAX_ERROR).join("");
}
