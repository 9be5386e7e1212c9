import { type Id, MAX_LOCAL, unpackId } from "../id/ids.ts";
import type { Mapping, OrderingField } from "../model/types.ts";
import type { JsonObject } from "../util/json.ts";
import type { OutboxPosition, PendingEntry } from "./rows.ts";

/**
 * Whether a list runs from high sequences to low ones. Lists in order of
 * POSITION do too: a new edge gets the highest sequence and comes first.
 */
export function isDescending(mapping: Mapping): boolean {
	return mapping.order !== "OLDEST_FIRST" && mapping.order !== "LOWEST_FIRST";
}

/** Whether the sequences of a list say when its edges were created. */
export function isByTime({
	order,
	groupedBy,
}: Pick<Mapping, "order" | "groupedBy">): boolean {
	return (
		(order === "NEWEST_FIRST" || order === "OLDEST_FIRST") &&
		groupedBy === undefined
	);
}

/** Whether a number can be that of a column: sequences, versions and epochs are integers from 0 to 2^53 - 1. */
export function isStoredNumber(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The sequence of all edges of one group of a list: the id that they have in
 * common, without its type, which is that of the reference. So it takes 52 bits,
 * and no two groups share one.
 */
export function sequenceOfGroup(group: Id): number {
	const { shard, local } = unpackId(group);
	return shard * (MAX_LOCAL + 1) + local;
}

/** Above those of all values. */
const LAST_OF_RISING = 2 ** 52;
const LOWEST_INT = -(2 ** 31);
/** Milliseconds of the first time that is stored (`isDateTime`). */
const LOWEST_TIME = Date.parse("0000-01-01T00:00:00.000Z");

/**
 * The sequence of an object with this content in a list that is ordered by a
 * field: greater for a greater value, from 1 on. Without a value the object comes
 * last, in either direction.
 */
export function sequenceOfValue(
	mapping: Pick<Mapping, "order">,
	{ key, type, default: fallback }: OrderingField,
	content: JsonObject,
): number {
	const value = content[key] ?? fallback;
	const number =
		type === "Int"
			? typeof value === "number"
				? value - LOWEST_INT + 1
				: Number.NaN
			: typeof value === "string"
				? Date.parse(value) - LOWEST_TIME + 1
				: Number.NaN;
	// What is neither is reported as damage of the object.
	if (number >= 1 && number < LAST_OF_RISING && Number.isSafeInteger(number)) {
		return number;
	}
	return mapping.order === "LOWEST_FIRST" ? LAST_OF_RISING : 0;
}

/** Where each group of entries continues: after the last of those already read. */
export function lastOf<Key, P extends OutboxPosition>(
	after: readonly P[],
	keyOf: (position: P) => Key,
): ReadonlyMap<Key, P> {
	const last = new Map<Key, P>();
	for (const position of after) {
		const key = keyOf(position);
		const known = last.get(key);
		if (known === undefined || compare(known, position) < 0) {
			last.set(key, position);
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
