import type { GraphQLError } from "graphql";
import { CorkboardError } from "../errors.ts";
import { requestError } from "./errors.ts";

/**
 * The largest response, in characters of JSON before escaping. The cost limit
 * counts reads, and one read can appear many times: through aliases, or ids
 * named twice. A hundred pages of a hundred objects with texts of full length,
 * the most that the default cost limit allows, stay below this. A response of
 * characters that all take six to escape still fits into a string of V8
 * (2^29 - 24).
 */
export const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Characters of a list item other than a text: `null,`. */
export const ITEM_CHARACTERS = 5;

/** Each error takes some 20 µs: a stack trace, and a search for its location. */
const MAX_ERRORS = 1_000;

/** Characters of an error in JSON, without its path: message, location and code. */
const ERROR_CHARACTERS = 200;

/** Errors and size of one response during execution. */
export interface ResponseState {
	/** The changes of a mutation stay, whatever becomes of its response. */
	readonly isMutation: boolean;
	readonly errors: GraphQLError[];
	/** Characters of what is known before anything is written: objects with all fields null, list items, and texts that several fields repeat. */
	characters: number;
	errorCharacters: number;
	/** Number of errors beyond those in `errors`. */
	omittedErrors: number;
}

export function newResponse(isMutation: boolean): ResponseState {
	return {
		isMutation,
		errors: [],
		characters: 0,
		errorCharacters: 0,
		omittedErrors: 0,
	};
}

/** Calls `makeError` only if there is room for the error. */
export function addError(
	response: ResponseState,
	makeError: () => GraphQLError,
): void {
	if (response.errors.length >= MAX_ERRORS) {
		response.omittedErrors++;
		return;
	}
	const error = makeError();
	response.errors.push(error);
	response.errorCharacters += ERROR_CHARACTERS;
	for (const key of error.path ?? []) {
		response.errorCharacters +=
			typeof key === "string" ? key.length : ITEM_CHARACTERS;
	}
}

/**
 * Throws TOO_EXPENSIVE. Called after each column: the cost limit bounds what one
 * field adds to all objects of its level.
 */
export function checkResponseSize(response: ResponseState): void {
	if (response.characters > MAX_CHARACTERS) throw tooLong(response);
}

/** The same for the text of the data, while it is written. */
export function checkTextSize(
	response: ResponseState,
	characters: number,
): void {
	if (characters + response.errorCharacters > MAX_CHARACTERS) {
		throw tooLong(response);
	}
}

function tooLong({ isMutation }: ResponseState): CorkboardError {
	const changes = isMutation ? " Changes made before this are kept." : "";
	return new CorkboardError(
		"TOO_EXPENSIVE",
		`The response is longer than ${MAX_CHARACTERS} characters. Request fewer fields or smaller pages.${changes}`,
	);
}

export function responseErrors({
	errors,
	omittedErrors,
}: ResponseState): readonly GraphQLError[] {
	if (omittedErrors === 0) return errors;
	const more = new CorkboardError(
		"TOO_EXPENSIVE",
		`The response has more than ${MAX_ERRORS} errors. ${omittedErrors} errors are omitted.`,
	);
	return [...errors, requestError(more)];
}
