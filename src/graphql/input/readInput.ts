import { CorkboardError } from "../../errors.ts";
import type { ValidationProblem, Validator } from "../../model/validation.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";

/** A field of an input: its rule, and what its absence and `null` mean. */
export type InputField<T> = (
	given: unknown,
) => { readonly value: T } | { readonly faults: readonly ValidationProblem[] };

/** The fields of one input, in the order their faults are told. */
export type InputShape = Readonly<
	Record<string, InputField<JsonValue | undefined>>
>;

export type Input<S extends InputShape> = {
	readonly [K in keyof S]: S[K] extends InputField<infer T> ? T : never;
};

/** Must be there, and not blank. */
export function required<T>(rule: Validator<T>): InputField<T> {
	return (given) => filled(rule, given);
}

/** May be absent (`undefined`), and may be `null` or blank, which are the same. */
export function optional<T>(
	rule: Validator<T>,
): InputField<T | null | undefined> {
	return (given) => {
		if (given === undefined || given === null) return { value: given };
		return rule(given);
	};
}

/** In an update, a field that every object has: it may be absent, not cleared. */
export function optionalNonNull<T>(
	rule: Validator<T>,
): InputField<T | undefined> {
	return (given) =>
		given === undefined ? { value: undefined } : filled(rule, given);
}

/**
 * An input as its mutation works with it, or one BAD_USER_INPUT that tells all
 * its faults. `together` looks at fields that depend on each other.
 */
export function readInput<S extends InputShape>(
	name: string,
	shape: S,
	given: unknown,
	together: (
		given: Readonly<Record<string, unknown>>,
	) => readonly ValidationProblem[],
): Input<S> {
	const fields: Readonly<Record<string, unknown>> =
		typeof given === "object" && given !== null ? { ...given } : {};
	const input: Record<string, unknown> = {};
	const faults: string[] = [];
	for (const [field, read] of Object.entries(shape)) {
		const answer = read(fields[field]);
		if ("value" in answer) input[field] = answer.value;
		else {
			for (const fault of answer.faults) {
				faults.push(`${field}${fault.path}: ${fault.message}`);
			}
		}
	}
	for (const fault of together(fields)) {
		faults.push(`${fault.path}: ${fault.message}`);
	}
	if (faults.length > 0) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`${name}: ${faults.join("; ")}.`,
		);
	}
	return input as Input<S>;
}

/** A validated input as the whole of a request, which a repeat of its idempotency key must equal. */
export function requestContent(
	input: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
	const request: Record<string, JsonValue> = {};
	for (const [field, value] of Object.entries(input)) {
		if (field !== "idempotencyKey" && value !== undefined && value !== null) {
			request[field] = value;
		}
	}
	return request;
}

function filled<T>(
	rule: Validator<T>,
	given: unknown,
): { readonly value: T } | { readonly faults: readonly ValidationProblem[] } {
	const answer =
		given === undefined || given === null ? { value: null } : rule(given);
	if ("faults" in answer) return answer;
	return answer.value === null
		? { faults: [{ path: "", message: "must not be null or empty" }] }
		: { value: answer.value };
}
