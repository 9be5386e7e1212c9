import { CorkboardError } from "../errors.ts";
import type { PageArguments } from "../graph/types.ts";

/** Applied here and not as a default in the SDL, where `first: null` would undo it. */
export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/**
 * The arguments of a connection as the graph takes them. Null means not given;
 * nothing is clamped. `before` alone takes the page that ends there, which is
 * what "the page before" means to one who pages back.
 */
export function coercePageArguments(
	args: Readonly<Record<string, unknown>>,
): Omit<PageArguments, "want"> {
	const first = size("first", args.first);
	const last = size("last", args.last);
	const after = cursor("after", args.after);
	const before = cursor("before", args.before);
	if (first !== null && last !== null) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`Expected first or last but got both: first ${first}, last ${last}.`,
		);
	}
	const backward =
		last !== null || (first === null && before !== null && after === null);
	return {
		...(backward
			? { last: last ?? DEFAULT_PAGE_SIZE }
			: { first: first ?? DEFAULT_PAGE_SIZE }),
		...(after === null ? {} : { after }),
		...(before === null ? {} : { before }),
	};
}

function size(name: string, given: unknown): number | null {
	if (given === undefined || given === null) return null;
	if (
		typeof given !== "number" ||
		!Number.isInteger(given) ||
		given < 0 ||
		given > MAX_PAGE_SIZE
	) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`Expected ${name} to be a whole number from 0 to ${MAX_PAGE_SIZE} but got: ${String(given)}.`,
		);
	}
	return given;
}

function cursor(name: string, given: unknown): string | null {
	if (given === undefined || given === null) return null;
	if (typeof given !== "string") {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`Expected ${name} to be a cursor but got: ${typeof given}.`,
		);
	}
	return given;
}
