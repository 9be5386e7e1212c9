import { CorkboardError } from "../../errors.ts";
import { compareIds } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { ListLength } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";

/** The most lists of a mapping that are kept. */
const MOST_LONGEST_LISTS = 100;

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
export class LongestLists {
	readonly #storage: Storage;
	readonly #now: () => number;
	readonly #kept = new Map<string, Kept>();
	/** The first reading of each mapping, as long as it runs. */
	readonly #first = new Map<string, Promise<readonly ListLength[]>>();

	constructor(storage: Storage, now: () => number = () => performance.now()) {
		this.#storage = storage;
		this.#now = now;
	}

	read(mapping: Mapping): MaybePromise<readonly ListLength[]> {
		const known = this.#kept.get(mapping.name);
		if (known !== undefined) {
			if (this.#now() >= known.until && !known.isReading) {
				known.isReading = true;
				this.#readNow(mapping).catch(() => {
					known.isReading = false;
					known.until = this.#now() + RETRY_MS;
				});
			}
			return known.lists;
		}
		let reading = this.#first.get(mapping.name);
		if (reading === undefined) {
			reading = this.#readNow(mapping).finally(() =>
				this.#first.delete(mapping.name),
			);
			this.#first.set(mapping.name, reading);
		}
		return reading;
	}

	async #readNow(mapping: Mapping): Promise<readonly ListLength[]> {
		const { lists, isWhole } = await readAll(this.#storage, mapping);
		const before = this.#kept.get(mapping.name)?.lists;
		const longest = isWhole ? lists : (before ?? lists);
		this.#kept.set(mapping.name, {
			lists: longest,
			until: this.#now() + (isWhole ? KEEP_MS : RETRY_MS),
			isReading: false,
		});
		return longest;
	}
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
