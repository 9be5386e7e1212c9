import { type ExecutionResult, GraphQLError } from "graphql";
import { CorkboardError } from "../../src/errors.ts";

/**
 * How two answers to one operation differ, in a sentence; null if they do not.
 * Data are compared exactly, with the order of keys. Errors are compared as a
 * set of path and code, as far as they show: which of several errors below a
 * position that both made null was told is left to chance by the spec (§6.4.4).
 * Of an answer without data the codes are compared.
 */
export function difference(
	expected: ExecutionResult,
	actual: ExecutionResult,
): string | null {
	if ((expected.data === undefined) !== (actual.data === undefined)) {
		const which = expected.data === undefined ? "a refusal" : "data";
		return `expected ${which} but got the other`;
	}
	const data = [expected, actual].map((answer) => JSON.stringify(answer.data));
	if (data[0] !== data[1]) {
		return `data differ ${firstDifference(data[0] ?? "", data[1] ?? "")}`;
	}
	const [wanted, got] = [expected, actual].map(
		(answer) => new Set(answer.errors?.map((error) => told(answer, error))),
	) as [Set<string>, Set<string>];
	const missing = [...wanted].filter((error) => !got.has(error));
	const surplus = [...got].filter((error) => !wanted.has(error));
	return missing.length + surplus.length === 0
		? null
		: `errors differ: expected ${list(missing)} but got ${list(surplus)}`;
}

/** Where an error shows and with which code; only where, if what it is about was nulled with what is around it. */
function told({ data }: ExecutionResult, error: GraphQLError): string {
	if (data === undefined) return codeOf(error);
	let at: unknown = data;
	const path = error.path ?? [];
	for (const [depth, key] of path.entries()) {
		if (at === null) return `${path.slice(0, depth).join(".")}: nulled`;
		at = (at as Record<string | number, unknown>)[key];
	}
	// An error at a position that has a value is told as such: no executor should.
	const value = at === null ? "" : ` beside ${JSON.stringify(at)}`;
	return `${path.join(".")}: ${codeOf(error)}${value}`;
}

/** `extensions.code` where the executor says it, else what graphql-js wraps: CONTRACT "Errors and identity". */
export function codeOf(error: GraphQLError): string {
	const { code } = error.extensions;
	if (typeof code === "string") return code;
	const { originalError } = error;
	if (originalError instanceof CorkboardError) return originalError.code;
	return originalError === undefined || originalError instanceof GraphQLError
		? "BAD_USER_INPUT"
		: "INTERNAL";
}

function firstDifference(expected: string, actual: string): string {
	let at = 0;
	while (at < expected.length && expected[at] === actual[at]) at++;
	const around = (text: string) => text.slice(Math.max(0, at - 120), at + 120);
	return `from ${at} on:\n  expected …${around(expected)}…\n  but got  …${around(actual)}…`;
}

function list(items: readonly string[]): string {
	return items.length === 0 ? "no others" : items.join(", ");
}
