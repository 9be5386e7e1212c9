import { randomUUID } from "node:crypto";
import { HeaderMap } from "@apollo/server";
import type { FastifyBaseLogger } from "fastify";
import { GraphQLError, type GraphQLFormattedError, Kind } from "graphql";
import {
	asClientError,
	CorkboardError,
	ERRORS,
	type ErrorCode,
	isClientCode,
} from "../../errors.ts";
import { asError } from "../../util/reasonOf.ts";

/** Seconds, with each 503. */
export const RETRY_AFTER = "1";

/**
 * What a client reads of an error: message, location, path, code and the refused fields of an input. Apollo by
 * itself sends the message of whatever was thrown, also in production. Here
 * only errors with a code for clients keep their message; any other becomes
 * INTERNAL, with an id under which the log has the cause.
 */
export function toClientError(
	formatted: GraphQLFormattedError,
	error: unknown,
	options: {
		readonly log: FastifyBaseLogger;
		/** Whether to remove the names that graphql-js suggests. */
		readonly hideSuggestions: boolean;
	},
): GraphQLFormattedError {
	const position = {
		...(formatted.locations && { locations: formatted.locations }),
		...(formatted.path && { path: formatted.path }),
	};
	const code = clientCodeOf(error);
	if (code === "INTERNAL") {
		const { message, extensions } = internalError(causeOf(error), options.log);
		return { message, ...position, extensions };
	}
	const cost =
		code === "TOO_EXPENSIVE" && error instanceof GraphQLError
			? error.extensions.cost
			: undefined;
	const cause = causeOf(error);
	const fields =
		cause instanceof CorkboardError && cause.fields !== undefined
			? cause.fields
			: // Problems of values that do not fit their types.
				(error as { readonly extensions?: { readonly fields?: unknown } })
					.extensions?.fields;
	return {
		message: truncate(
			options.hideSuggestions
				? withoutSuggestion(formatted.message)
				: formatted.message,
		),
		...position,
		extensions: {
			code,
			...(cost !== undefined && { cost }),
			...(fields !== undefined && { fields }),
		},
	};
}

const SUGGESTION = " Did you mean ";

/** Searches from the end, where graphql-js puts a suggestion: a client's own text may repeat the words any number of times. */
function withoutSuggestion(message: string): string {
	const at = message.endsWith("?") ? message.lastIndexOf(SUGGESTION) : -1;
	return at < 0 ? message : message.slice(0, at);
}

/** Characters of a message (docs/reference/limits.md); our own are shorter. */
const MAX_MESSAGE = 400;

/** A message may repeat what a client sent, which can be as long as a body. */
function truncate(message: string): string {
	if (message.length <= MAX_MESSAGE) return message;
	const cut = `… (${message.length} characters)`;
	return message.slice(0, MAX_MESSAGE - cut.length) + cut;
}

/** The error that a client gets for a failure of ours; the log has its cause under the same id. */
export function internalError(
	cause: unknown,
	log: FastifyBaseLogger,
): GraphQLFormattedError & { readonly extensions: Record<string, unknown> } {
	const errorId = randomUUID();
	log.error({ errorId, err: cause }, "unexpected error");
	return {
		message: ERRORS.INTERNAL.message,
		extensions: { code: "INTERNAL", errorId },
	};
}

/**
 * An error that fails the whole request (GraphQL: "request error"). Apollo
 * takes the HTTP status and headers from `extensions.http`.
 */
export function requestError(thrown: unknown): GraphQLError {
	const error = thrown instanceof GraphQLError ? thrown : wrap(thrown);
	if (error.extensions.http !== undefined) return error;
	const code = clientCodeOf(error);
	const headers = new HeaderMap();
	// RFC 9110 §11.6.1: a 401 says how to authenticate.
	if (code === "UNAUTHENTICATED") headers.set("www-authenticate", "Bearer");
	if (ERRORS[code].status === 503) headers.set("retry-after", RETRY_AFTER);
	return new GraphQLError(error.message, {
		nodes: error.nodes ?? null,
		path: error.path ?? null,
		originalError: error.originalError ?? null,
		extensions: {
			...error.extensions,
			http: { status: ERRORS[code].status, headers },
		},
	});
}

function wrap(thrown: unknown): GraphQLError {
	const originalError = asError(thrown);
	return new GraphQLError(originalError.message, { originalError });
}

/** `extensions.code` of the error as a client reads it. What was thrown need not have one. */
export function clientCodeOf(error: unknown): ErrorCode {
	const cause = causeOf(error);
	if (cause instanceof CorkboardError) return asClientError(cause).code;
	if (!(error instanceof GraphQLError)) return "INTERNAL";
	const { code, http } = error.extensions;
	if (typeof code === "string") return isClientCode(code) ? code : "INTERNAL";
	// A variable's value that does not fit its type.
	if (error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION) {
		return "BAD_USER_INPUT";
	}
	// Apollo gives only a status, and no code, to a persisted query of another
	// version, or whose hash is not that of its text.
	const status = (http as { status?: unknown } | undefined)?.status;
	return cause === error && typeof status === "number" && status < 500
		? "BAD_REQUEST"
		: "INTERNAL";
}

function causeOf(error: unknown): unknown {
	return error instanceof GraphQLError ? (error.originalError ?? error) : error;
}
