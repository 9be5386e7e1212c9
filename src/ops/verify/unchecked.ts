/** A database that could not be read in whole or in part. */
export interface UncheckedPlace {
	/** Such as `db00003`, or `db00003.boards` for one table. */
	readonly place: string;
	/** Why, the first time. */
	readonly reason: string;
	/** How many rows or batches could not be read. */
	readonly times: number;
}

/** Collects what `verify` could not look at, so that it goes on with the rest and says so at the end. */
export class Unchecked {
	readonly #places = new Map<string, UncheckedPlace>();

	note(place: string, error: unknown): void {
		const { times, reason } = this.#places.get(place) ?? {
			times: 0,
			reason: error instanceof Error ? error.message : String(error),
		};
		this.#places.set(place, { place, reason, times: times + 1 });
	}

	list(): readonly UncheckedPlace[] {
		return [...this.#places.values()].toSorted((a, b) =>
			a.place < b.place ? -1 : 1,
		);
	}
}
