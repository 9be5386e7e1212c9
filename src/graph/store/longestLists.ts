import { CorkboardError } from "../../errors.ts";
import { compareIds } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { ListLength } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";

/** The most lists of a mapping that are kept. */
export const MOST_LONGEST_LISTS = 100;

/** How long they are used before they are read again: counting on every shard is not for each request, and popularity changes slowly. Milliseconds. */
const KEEP_MS = 5 * 60_000;
/** The same after a host did not answer. */
const RETRY_MS = 10_000;

interface Kept {
	readonly lists: readonly ListLength[];
	/** When they are to be read again. */
	until: number;
	isReading: boolean;
}

/**
 * The longest lists of each mapping, the longest first; of equal ones that of
 * the lower id. The counts are those of the rows of `lists`, which each write
 * keeps, as of some minutes ago at most. A reader waits for the first reading in
 * the process only: later ones run beside the requests, which use the one before.
 * A host that does not answer is left out, unless none answers.
 */
export function createLongestLists(
	storage: Storage,
	now: () => number = () => performance.now(),
): (mapping: Mapping) => MaybePromise<readonly ListLength[]> {
	const kept = new Map<string, Kept>();
	const first = new Map<string, Promise<readonly ListLength[]>>();

	async function read(mapping: Mapping): Promise<readonly ListLength[]> {
		const { lists, isWhole } = await readAll(storage, mapping);
		const before = kept.get(mapping.name)?.lists;
		const longest = isWhole ? lists : (before ?? lists);
		kept.set(mapping.name, {
			lists: longest,
			until: now() + (isWhole ? KEEP_MS : RETRY_MS),
			isReading: false,
		});
		return longest;
	}

	return (mapping) => {
		const known = kept.get(mapping.name);
		if (known !== undefined) {
			if (now() >= known.until && !known.isReading) {
				known.isReading = true;
				read(mapping).catch(() => {
					known.isReading = false;
					known.until = now() + RETRY_MS;
				});
			}
			return known.lists;
		}
		let reading = first.get(mapping.name);
		if (reading === undefined) {
			reading = read(mapping).finally(() => first.delete(mapping.name));
			first.set(mapping.name, reading);
		}
		return reading;
	};
}

async function readAll(
	storage: Storage,
	mapping: Mapping,
): Promise<{
	readonly lists: readonly ListLength[];
	/** Whether all hosts answered. */
	readonly isWhole: boolean;
}> {
	const results = await storage.read(
		"longestLists",
		storage.map.shards.map((shard) => ({
			mapping,
			shard,
			limit: MOST_LONGEST_LISTS,
		})),
	);
	const failures = results.filter((one) => one instanceof CorkboardError);
	const [failure] = failures;
	if (failure !== undefined && failures.length === results.length) {
		throw failure;
	}
	const lists = results.flatMap((result) =>
		result instanceof CorkboardError ? [] : result,
	);
	return {
		lists: lists
			.toSorted((a, b) => b.count - a.count || compareIds(a.from, b.from))
			.slice(0, MOST_LONGEST_LISTS),
		isWhole: failure === undefined,
	};
}
