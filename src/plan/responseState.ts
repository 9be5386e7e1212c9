import type { GraphQLError } from "graphql";
import { CorkboardError } from "../errors.ts";
import { requestError } from "./errors.ts";

/**
 * Characters of one answer, as JSON without what escaping adds. A cost counts
 * what is read, and what is read once can be told many times: by aliases, by
 * ids named twice. A hundred pages of a hundred pins with details of full
 * length, the most the default cost lets through, stay below; and a text
 * that is all escapes, six characters each, is still one that V8 can hold
 * (2^29 - 24).
 */
export const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Characters of an item in a list, but for a text's own: `null,`. */
export const ITEM_CHARACTERS = 5;

/** Errors of one answer. Each takes a stack trace and a walk over the document, some 20 µs. */
const MAX_ERRORS = 1_000;

/** Characters of an error in JSON, but for its path: message, place and code. */
const ERROR_CHARACTERS = 200;

/** One answer in the making: what it has come to so far. */
export interface ResponseState {
	/** Of a mutation: what it changes is changed, whatever becomes of the answer. */
	readonly isMutation: boolean;
	readonly errors: GraphQLError[];
	characters: number;
	/** Errors that are not among `errors`. */
	omittedErrors: number;
}

export function newResponse(writes: boolean): ResponseState {
	return { isMutation: writes, errors: [], characters: 0, omittedErrors: 0 };
}

/** `error` is asked for only if there is room to tell it. */
export function addError(
	answer: ResponseState,
	error: () => GraphQLError,
): void {
	if (answer.errors.length >= MAX_ERRORS) {
		answer.omittedErrors++;
		return;
	}
	const told = error();
	answer.errors.push(told);
	answer.characters += ERROR_CHARACTERS;
	for (const key of told.path ?? []) {
		answer.characters += typeof key === "string" ? key.length : ITEM_CHARACTERS;
	}
}

/**
 * Throws TOO_EXPENSIVE. To be asked after each field: what one adds to all
 * objects at once is bounded by the cost, and texts are shared until then.
 */
export function checkResponseSize({
	characters,
	isMutation: writes,
}: ResponseState): void {
	if (characters <= MAX_CHARACTERS) return;
	const besides = writes ? " What it had changed by then is changed." : "";
	throw new CorkboardError(
		"TOO_EXPENSIVE",
		`Expected an operation whose answer has at most ${MAX_CHARACTERS} characters but got one with more: ask for fewer fields, or smaller pages.${besides}`,
	);
}

/** All errors, with one more if there were too many to tell. */
export function responseErrors({
	errors,
	omittedErrors: untold,
}: ResponseState): readonly GraphQLError[] {
	if (untold === 0) return errors;
	const more = new CorkboardError(
		"TOO_EXPENSIVE",
		`Expected an answer of at most ${MAX_ERRORS} errors but got ${untold} more, which are not told.`,
	);
	return [...errors, requestError(more)];
}
