import { inspect } from "node:util";

/** The message of what was thrown, for a person. Never throws: what a handler throws need not be an Error, nor convertible to text. */
export function reasonOf(thrown: unknown): string {
	return describe(thrown, (error) => error.message || error.name);
}

/** The same with the name of the error: `TypeError: x is not a function`. */
export function namedReasonOf(thrown: unknown): string {
	return describe(thrown, (error) => error.toString());
}

/** What was thrown, or an Error that describes it. */
export function asError(thrown: unknown): Error {
	try {
		if (thrown instanceof Error) return thrown;
	} catch {
		// A Proxy whose traps throw.
	}
	return new Error(reasonOf(thrown));
}

const SHOWN = {
	depth: 1,
	breakLength: Number.POSITIVE_INFINITY,
	maxArrayLength: 10,
	maxStringLength: 200,
} as const;

function describe(thrown: unknown, ofError: (error: Error) => string): string {
	try {
		if (typeof thrown === "string") return thrown;
		return thrown instanceof Error
			? String(ofError(thrown))
			: inspect(thrown, SHOWN);
	} catch {
		return "a value that cannot be shown";
	}
}
