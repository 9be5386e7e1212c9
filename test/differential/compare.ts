import { type ExecutionResult, GraphQLError } from "graphql";
import { CorkboardError } from "../../src/errors.ts";

/**
 * Describes the difference between two responses; null if they are equal. Data
 * must be identical, including the order of keys. Errors are compared as a set
 * of paths and codes. Below a position that several errors make null, the spec
 * does not say which error is reported (§6.4.4), so only the nulled position
 * counts. Without data, only the codes count.
 */
export function difference(
	expected: ExecutionResult,
	actual: ExecutionResult,
): string | null {
	if ((expected.data === undefined) !== (actual.data === undefined)) {
		return expected.data === undefined
			? "expected a request error, got data"
			: "expected data, got a request error";
	}
	const data = [expected, actual].map((response) =>
		JSON.stringify(response.data),
	);
	if (data[0] !== data[1]) {
		return `data differs ${firstDifference(data[0] ?? "", data[1] ?? "")}`;
	}
	const [wanted, got] = [expected, actual].map(
		(answer) =>
			new Set(answer.errors?.map((error) => describeError(answer, error))),
	) as [Set<string>, Set<string>];
	const missing = [...wanted].filter((error) => !got.has(error));
	const surplus = [...got].filter((error) => !wanted.has(error));
	return missing.length + surplus.length === 0
		? null
		: `errors differ: missing ${list(missing)}, unexpected ${list(surplus)}`;
}

/** Path and code of an error; only the nulled position if a null propagated above the path. */
function describeError({ data }: ExecutionResult, error: GraphQLError): string {
	if (data === undefined) return codeOf(error);
	let at: unknown = data;
	const path = error.path ?? [];
	for (const [depth, key] of path.entries()) {
		if (at === null) return `${path.slice(0, depth).join(".")}: nulled`;
		at = (at as Record<string | number, unknown>)[key];
	}
	// No executor may report an error at a position with a value, so show it.
	const value = at === null ? "" : ` beside ${JSON.stringify(at)}`;
	return `${path.join(".")}: ${codeOf(error)}${value}`;
}

/** `extensions.code`, or the code of the error that graphql-js wraps. */
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
	return `from character ${at}:\n  expected …${around(expected)}…\n  got      …${around(actual)}…`;
}

function list(items: readonly string[]): string {
	return items.length === 0 ? "none" : items.join(", ");
}
