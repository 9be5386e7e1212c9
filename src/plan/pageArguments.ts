import { CorkboardError } from "../errors.ts";
import type { PageArguments } from "../graph/types.ts";

/** Not a default in the SDL, because `first: null` would override it. */
export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/**
 * The arguments of a connection. Null means absent, and values out of range are
 * errors. `before` alone selects the page that ends before the cursor, as
 * `last` does.
 */
export function coercePageArguments(
	args: Readonly<Record<string, unknown>>,
): Omit<PageArguments, "fields"> {
	const first = coerceSize("first", args.first);
	const last = coerceSize("last", args.last);
	const after = coerceCursor("after", args.after);
	const before = coerceCursor("before", args.before);
	if (first !== null && last !== null) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			"first and last cannot be used together.",
		);
	}
	const isBackward =
		last !== null || (first === null && before !== null && after === null);
	return {
		...(isBackward
			? { last: last ?? DEFAULT_PAGE_SIZE }
			: { first: first ?? DEFAULT_PAGE_SIZE }),
		...(after === null ? {} : { after }),
		...(before === null ? {} : { before }),
		...coerceStart(args.startAt),
	};
}

/** The number of items of a list without cursors, from its argument `first`: as that of a connection. */
export function coerceFirst(args: Readonly<Record<string, unknown>>): number {
	return coerceSize("first", args.first) ?? DEFAULT_PAGE_SIZE;
}

/** A time or a number, as its scalar has read it. */
function coerceStart(given: unknown): Pick<PageArguments, "startAt"> {
	return typeof given === "string" || typeof given === "number"
		? { startAt: given }
		: {};
}

function coerceSize(name: string, given: unknown): number | null {
	if (given === undefined || given === null) return null;
	if (typeof given !== "number" || !Number.isInteger(given)) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`${name} must be an integer, got ${String(given)}.`,
		);
	}
	if (given < 0 || given > MAX_PAGE_SIZE) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`${name} must be between 0 and ${MAX_PAGE_SIZE}, got ${given}.`,
		);
	}
	return given;
}

/** An empty cursor is none: Apollo Client shows the null cursors of an empty list as "". */
function coerceCursor(name: string, given: unknown): string | null {
	if (given === undefined || given === null || given === "") return null;
	if (typeof given !== "string") {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`${name} must be a cursor, got ${typeof given}.`,
		);
	}
	return given;
}
