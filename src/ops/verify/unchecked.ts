import { CorkboardError } from "../../errors.ts";
import { reasonOf } from "../../util/reasonOf.ts";

/** A database that could not be read in whole or in part. */
export interface UncheckedPlace {
	/** Such as `db00003`, or `db00003.boards` for one table. */
	readonly place: string;
	/** Why, the first time. */
	readonly reason: string;
	/** How many rows or batches could not be read. */
	readonly times: number;
}

/** Collects what `verify` could not look at, so that it continues with the rest and says so at the end. */
export class Unchecked {
	readonly #places = new Map<string, UncheckedPlace>();

	note(place: string, error: unknown): void {
		const { times, reason } = this.#places.get(place) ?? {
			times: 0,
			reason: reasonAt(error),
		};
		this.#places.set(place, { place, reason, times: times + 1 });
	}

	list(): readonly UncheckedPlace[] {
		return [...this.#places.values()].toSorted((a, b) =>
			a.place < b.place ? -1 : 1,
		);
	}
}

const NO_TABLE = " has no table: ";

/** Whether the host answered that it does not have the table. */
export function lacksTable({ reason }: UncheckedPlace): boolean {
	return reason.includes(NO_TABLE);
}

/** What a host says of a table that it does not have is no silence, and has another cure. */
function reasonAt(error: unknown): string {
	if (error instanceof CorkboardError && error.details.kind === "moved") {
		const { host, reason } = error.details;
		return `${host}${NO_TABLE}${reason}`;
	}
	return reasonOf(error);
}
