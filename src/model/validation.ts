import type { FieldParameters, FieldProblem } from "../errors.ts";
import type { JsonValue } from "../util/json.ts";
import { quoted } from "../util/quoted.ts";
import { DATE_TIME_EXAMPLE, isDateTime } from "./dateTime.ts";

/**
 * Checks a value that a client or an import gave for a field. The result is the
 * value to store, null for text that is blank, or every problem it has.
 */
export type Validator<T> = ((given: unknown) => ValidationResult<T>) & {
	/** What it accepts, for the descriptions of inputs: `At most 100 characters`. */
	readonly accepts?: string;
};
type ValidationResult<T> =
	| { readonly value: T | null }
	| { readonly problems: readonly ValidationProblem[] };

export interface ValidationProblem {
	/** From the field on: empty, or `.url`. */
	readonly path: string;
	/** What the value must be, to follow the field's name: `must be text, got 7`. */
	readonly message: string;
	/** `INVALID` if absent. */
	readonly code?: FieldProblem["code"];
	/** For the person who filled in the field; made of the message if absent. */
	readonly sentence?: string;
	readonly parameters?: FieldParameters;
}

/** What holds for a stored field besides its type in the SDL: for its creation and its update by a mutation, and for its import. */
export interface FieldPolicy {
	readonly validate: Validator<JsonValue>;
	/** The field whose value this one has where it is given none. */
	readonly defaultFrom?: string;
	/** Whether only operators set it: no mutation takes it. */
	readonly operatorOnly?: true;
}

/** By type and field. */
export type FieldPolicies = Readonly<
	Record<string, Readonly<Record<string, FieldPolicy>>>
>;

const MAX_URL = 2_048;
const WEB_ADDRESS = /^https?:\/\/[^\s\p{C}]+$/iu;

/** Text, trimmed, of at most `max` code points: an emoji of one code point is one character. */
export function text(max: number): Validator<string> {
	const validate: Validator<string> = (given) => {
		if (typeof given !== "string") return mustBe("text", given);
		if (!given.isWellFormed()) {
			return invalid("must not contain an unpaired surrogate");
		}
		if (given.includes("\0")) {
			return invalid("must not contain a NUL character");
		}
		const trimmed = given.trim();
		// There are never more code points than code units.
		const length = trimmed.length > max ? codePoints(trimmed) : 0;
		if (length > max) {
			return invalid(`must have at most ${max} characters, got ${length}`, {
				code: "TOO_LONG",
				sentence: `Use at most ${max} characters.`,
				parameters: { max },
			});
		}
		return { value: trimmed === "" ? null : trimmed };
	};
	return accepting(`At most ${max.toLocaleString("en")} characters`, validate);
}

/** A validator with what it accepts, which the descriptions of inputs say. */
export function accepting<T>(
	accepts: string,
	validate: (given: unknown) => ValidationResult<T>,
): Validator<T> {
	return Object.assign(validate, { accepts });
}

export const boolean: Validator<boolean> = (given) =>
	typeof given === "boolean"
		? { value: given }
		: mustBe("true or false", given);

/** A time with its zone. It is stored in UTC, with milliseconds. */
export const dateTime: Validator<string> = (given) =>
	typeof given === "string" && isDateTime(given)
		? { value: new Date(given).toISOString() }
		: mustBe(`a time, such as ${DATE_TIME_EXAMPLE}`, given);

/** A whole number between two others, both included. */
export function integer(least: number, most: number): Validator<number> {
	return accepting<number>(
		`A whole number from ${least} to ${most}`,
		(given) =>
			typeof given === "number" &&
			Number.isInteger(given) &&
			given >= least &&
			given <= most
				? { value: given }
				: mustBe(`a whole number from ${least} to ${most}`, given, undefined, {
						min: least,
						max: most,
					}),
	);
}

/** One of these words, such as the values of an enum. */
export function oneOf<const T extends string>(
	...words: readonly T[]
): Validator<T> {
	return (given) =>
		words.includes(given as T)
			? { value: given as T }
			: mustBe(`one of ${words.join(", ")}`, given, undefined, {
					values: words,
				});
}

export const webAddress: Validator<string> = accepting(
	"An http or https URL of at most 2,048 characters",
	(given) => {
		const result = text(MAX_URL)(given);
		if ("problems" in result || result.value === null) return result;
		// The parser alone accepts "http:example.com" and line breaks inside.
		return WEB_ADDRESS.test(result.value) && URL.canParse(result.value)
			? result
			: mustBe(
					"an http or https address",
					given,
					"Give an address that begins with http:// or https://.",
				);
	},
);

export function optionalPart<T>(
	validate: Validator<T>,
	given: unknown,
): ValidationResult<T> {
	return given === undefined || given === null
		? { value: null }
		: validate(given);
}

export function mustBe(
	what: string,
	given: unknown,
	sentence = `This must be ${what}.`,
	parameters: FieldParameters = {},
): ValidationResult<never> {
	const message = `must be ${what}, got ${quoted(given)}`;
	return invalid(message, { sentence, parameters });
}

export function invalid(
	message: string,
	more: Pick<ValidationProblem, "code" | "sentence" | "parameters"> = {},
): ValidationResult<never> {
	return { problems: [{ path: "", message, ...more }] };
}

/** As clients get them: one entry for each field, whose first problem it is. `path` begins with the field's name. */
export function fieldProblems(
	problems: readonly ValidationProblem[],
): readonly FieldProblem[] {
	const byPath = new Map<string, FieldProblem>();
	for (const problem of problems) {
		const { path, message, code = "INVALID", sentence, parameters } = problem;
		// Fields that exclude each other are one problem with two entries.
		for (const field of path.split(" and ")) {
			if (byPath.has(field)) continue;
			byPath.set(field, {
				path: ["input", ...partsOf(field)],
				code,
				...parameters,
				message: sentence ?? `This ${message}.`,
			});
		}
	}
	return [...byPath.values()];
}

/** `interests[2]` as `["interests", 2]`. */
function partsOf(path: string): readonly (string | number)[] {
	return [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) =>
		name !== undefined && index === undefined ? name : Number(index),
	);
}

function codePoints(given: string): number {
	let count = 0;
	for (const _ of given) count += 1;
	return count;
}
