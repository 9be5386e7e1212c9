import { CorkboardError } from "../../errors.ts";
import {
	fieldProblems,
	type ValidationProblem,
	type Validator,
} from "../../model/validation.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";

/** A field of an input: its validator, and what its absence and `null` mean. */
type InputField<T> = (
	given: unknown,
) =>
	| { readonly value: T }
	| { readonly problems: readonly ValidationProblem[] };

/** The fields of one input, in the order in which their problems are reported. */
export type InputShape = Readonly<
	Record<string, InputField<JsonValue | undefined>>
>;

export type Input<S extends InputShape> = {
	readonly [K in keyof S]: S[K] extends InputField<infer T> ? T : never;
};

/** Must be given and must not be blank. */
export function required<T>(validate: Validator<T>): InputField<T> {
	return (given) => nonNull(validate, given);
}

/** May be absent (`undefined`), `null` or blank; the last two are the same. */
export function optional<T>(
	validate: Validator<T>,
): InputField<T | null | undefined> {
	return (given) => {
		if (given === undefined || given === null) return { value: given };
		return validate(given);
	};
}

/** In an update, a field that every object has: it may be absent but not cleared. */
export function optionalNonNull<T>(
	validate: Validator<T>,
): InputField<T | undefined> {
	return (given) =>
		given === undefined ? { value: undefined } : nonNull(validate, given);
}

/**
 * The validated input of a mutation, or one BAD_USER_INPUT with all problems.
 * `validateTogether` checks fields that depend on each other.
 */
export function readInput<S extends InputShape>(
	name: string,
	shape: S,
	given: unknown,
	validateTogether: (
		given: Readonly<Record<string, unknown>>,
	) => readonly ValidationProblem[],
): Input<S> {
	const fields: Readonly<Record<string, unknown>> =
		typeof given === "object" && given !== null ? { ...given } : {};
	const { input, problems } = readFields(shape, fields);
	problems.push(...validateTogether(fields));
	if (problems.length > 0) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`${name}: ${listed(problems)}.`,
			{ fields: fieldProblems(problems) },
		);
	}
	return input as Input<S>;
}

/** Each field by itself. */
export function readFields(
	shape: InputShape,
	fields: Readonly<Record<string, unknown>>,
): {
	readonly input: Readonly<Record<string, unknown>>;
	readonly problems: ValidationProblem[];
} {
	const input: Record<string, unknown> = {};
	const problems: ValidationProblem[] = [];
	for (const [field, read] of Object.entries(shape)) {
		const result = read(fields[field]);
		if ("value" in result) input[field] = result.value;
		else {
			for (const problem of result.problems) {
				problems.push({ ...problem, path: `${field}${problem.path}` });
			}
		}
	}
	return { input, problems };
}

/** `extensions.fields` has every problem; a message is for logs and people, so it has as many as they read. */
const MAX_LISTED_CHARACTERS = 1_800;

function listed(problems: readonly ValidationProblem[]): string {
	let text = "";
	for (const [index, { path, message }] of problems.entries()) {
		const next = `${text}${index === 0 ? "" : "; "}${path} ${message}`;
		if (next.length > MAX_LISTED_CHARACTERS && index > 0) {
			return `${text}; and ${problems.length - index} more`;
		}
		text = next;
	}
	return text;
}

/** What a repeated request with the same idempotency key must equal: the validated input without the key. */
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

const EMPTY: ValidationProblem = {
	path: "",
	message: "must not be null or empty",
	code: "REQUIRED",
	sentence: "Fill this in.",
};

function nonNull<T>(
	validate: Validator<T>,
	given: unknown,
): ReturnType<InputField<T>> {
	const result =
		given === undefined || given === null ? { value: null } : validate(given);
	if ("problems" in result) return result;
	return result.value === null
		? { problems: [EMPTY] }
		: { value: result.value };
}
