import type { Row, Value } from "./mapping.ts";

/** What a client shows: a document, and what the old application reads for it. */
export interface Screen {
	/** The type of the objects that it is shown for. Their key of the old database is given to `sql` and `there`. */
	readonly of: string;
	/** A query with the variable `$id`, which is the id of such an object here. */
	readonly document: string;
	/** Where its response has the list, or the object, that is compared: `user.boards.nodes`. */
	readonly rows: string;
	/** What the old database is asked. `:id` is the value of the key's column `id`. It is read in the order of its rows. */
	readonly sql?: string;
	/** The rows of the old application instead, such as those that its API returns. */
	readonly there?: (
		key: Row,
		signal: AbortSignal,
	) => Promise<readonly Row[]> | readonly Row[];
	/** By their path in an entry of `rows` (`owner.name`): what the old row says of them, as in a mapping. */
	readonly fields: Readonly<Record<string, Value>>;
	/** The order does not count. */
	readonly isUnordered?: boolean;
	/** The user for whom it is shown is signed in (default: nobody is). */
	readonly isViewer?: boolean;
}

export type Screens = Readonly<Record<string, Screen>>;

/** Export what it returns as default, for `migrate shadow`. */
export function screens(given: Screens): Screens {
	return given;
}
