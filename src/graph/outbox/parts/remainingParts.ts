import type { StoredEntry } from "../../../storage/rows.ts";
import type { OutboxEntry } from "../entry.ts";
import { unreachedHost } from "../hostBreakers.ts";

/** The parts of an entry that are lists. */
type ListPart = Exclude<keyof OutboxEntry, "invalidations">;
type Item<Part extends ListPart> = NonNullable<OutboxEntry[Part]>[number];

interface Remainder {
	error: unknown;
	readonly parts: Map<ListPart, unknown[]>;
	readonly objects: unknown[];
	readonly lists: unknown[];
}

/** What is left of entries that are being delivered, and why. */
export class RemainingParts {
	readonly #remainders = new Map<StoredEntry, Remainder>();

	/** Keep one item, because of this error, or because it waits for one that was kept. */
	keep<Part extends ListPart>(
		row: StoredEntry,
		part: Part,
		item: Item<Part>,
		error?: unknown,
	): void {
		const { parts } = this.#remainder(row, error);
		const items = parts.get(part) ?? [];
		items.push(item);
		parts.set(part, items);
	}

	keepInvalidation(
		row: StoredEntry,
		part: "objects" | "lists",
		item: unknown,
		error: unknown,
	): void {
		this.#remainder(row, error)[part].push(item);
	}

	/** All is delivered, but the row is still there. */
	keepRow(row: StoredEntry, error: unknown): void {
		this.#remainder(row, error);
	}

	has(row: StoredEntry): boolean {
		return this.#remainders.has(row);
	}

	failures(): ReadonlyMap<StoredEntry, unknown> {
		return new Map(
			[...this.#remainders].map(([row, { error }]) => [row, error]),
		);
	}

	/** What is left of each entry of which something was delivered. */
	reduced(): ReadonlyMap<StoredEntry, OutboxEntry> {
		const reduced = new Map<StoredEntry, OutboxEntry>();
		for (const [row, { parts, objects, lists }] of this.#remainders) {
			const entry = {
				...Object.fromEntries(parts),
				...(objects.length + lists.length > 0 && {
					invalidations: { objects, lists },
				}),
			} as OutboxEntry;
			if (sizeOf(entry) < sizeOf(row.entry as OutboxEntry)) {
				reduced.set(row, entry);
			}
		}
		return reduced;
	}

	/**
	 * An error that says that this process does not reach a host is the one to
	 * report: another process may deliver the rest.
	 */
	#remainder(row: StoredEntry, error: unknown): Remainder {
		let remainder = this.#remainders.get(row);
		if (remainder === undefined) {
			remainder = { error, parts: new Map(), objects: [], lists: [] };
			this.#remainders.set(row, remainder);
		} else if (
			error !== undefined &&
			(remainder.error === undefined || unreachedHost(error) !== null)
		) {
			remainder.error = error;
		}
		return remainder;
	}
}

/** A pending object is two things to do: to decide what becomes of it, and to invalidate it. */
function sizeOf({ invalidations, ...parts }: OutboxEntry): number {
	return [
		...Object.values(parts),
		parts.pendingObjects ?? [],
		invalidations?.objects ?? [],
		invalidations?.lists ?? [],
	].reduce((sum, { length }) => sum + length, 0);
}
