import { randomUUID } from "node:crypto";
import { HeaderMap } from "@apollo/server";
import { ApolloServerErrorCode } from "@apollo/server/errors";
import type { FastifyBaseLogger } from "fastify";
import { GraphQLError, type GraphQLFormattedError, Kind } from "graphql";
import { CorkboardError, ERRORS, isClientCode } from "../../errors.ts";

/**
 * What a client is told of an error: message, place and code. Apollo by itself
 * sends the message of whatever was thrown, in production too; here only
 * errors with a code meant for clients keep their words, and everything else
 * becomes INTERNAL with an id under which the log has the cause.
 */
export function toClientError(
	formatted: GraphQLFormattedError,
	error: unknown,
	options: {
		readonly log: FastifyBaseLogger;
		/** Whether to leave out the names graphql-js suggests. */
		readonly hideSuggestions: boolean;
	},
): GraphQLFormattedError {
	const place = {
		...(formatted.locations && { locations: formatted.locations }),
		...(formatted.path && { path: formatted.path }),
	};
	const code = clientCode(error);
	if (code === "INTERNAL") {
		const { message, extensions } = internalError(causeOf(error), options.log);
		return { message, ...place, extensions };
	}
	const cost =
		code === "TOO_EXPENSIVE" && error instanceof GraphQLError
			? error.extensions.cost
			: undefined;
	return {
		message: shortened(
			options.hideSuggestions
				? withoutSuggestion(formatted.message)
				: formatted.message,
		),
		...place,
		extensions: { code, ...(cost !== undefined && { cost }) },
	};
}

/** Messages of graphql-js end with it. Looked for from there: what a client sent may hold the same words any number of times. */
function withoutSuggestion(message: string): string {
	const at = message.endsWith("?") ? message.lastIndexOf(SUGGESTION) : -1;
	return at < 0 ? message : message.slice(0, at);
}

const SUGGESTION = " Did you mean ";

/** Messages repeat what a client sent, which may be as long as a body. */
function shortened(message: string): string {
	if (message.length <= MAX_MESSAGE) return message;
	return `${message.slice(0, MAX_MESSAGE)}… (${message.length} characters)`;
}

/** Characters of a message; ours end sooner. */
const MAX_MESSAGE = 400;

/** The answer to something that broke on our side; the log has the rest under the same id. */
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
 * An error that refuses a whole request: Apollo takes the HTTP status and
 * headers from an error's `extensions.http`.
 */
export function requestError(thrown: unknown): GraphQLError {
	const error =
		thrown instanceof GraphQLError
			? thrown
			: new GraphQLError(
					thrown instanceof Error ? thrown.message : String(thrown),
					{
						originalError:
							thrown instanceof Error ? thrown : new Error(String(thrown)),
					},
				);
	if (error.extensions.http !== undefined) return error;
	const code = clientCode(error);
	const headers = new HeaderMap();
	// RFC 9110 §11.6.1: a 401 says how to authenticate.
	if (code === "UNAUTHENTICATED") headers.set("www-authenticate", "Bearer");
	return new GraphQLError(error.message, {
		nodes: error.nodes ?? null,
		path: error.path ?? null,
		originalError: error.originalError ?? null,
		extensions: {
			...error.extensions,
			http: { status: statusOf(code), headers },
		},
	});
}

const APOLLO_CODES: ReadonlySet<string> = new Set(
	Object.values(ApolloServerErrorCode).filter(
		(code) => code !== ApolloServerErrorCode.INTERNAL_SERVER_ERROR,
	),
);

function clientCode(error: unknown): string {
	const cause = causeOf(error);
	if (cause instanceof CorkboardError) {
		return ERRORS[cause.code].client ? cause.code : "INTERNAL";
	}
	if (!(error instanceof GraphQLError)) return "INTERNAL";
	const { code, http } = error.extensions;
	if (typeof code === "string") {
		return APOLLO_CODES.has(code) || isClientCode(code) ? code : "INTERNAL";
	}
	// A value of a variable that its type refuses.
	if (error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION) {
		return ApolloServerErrorCode.BAD_USER_INPUT;
	}
	// Apollo gives no code to a persisted query of another version, or whose
	// hash is not its text's, only a status: the client's fault all the same.
	const status = (http as { status?: unknown } | undefined)?.status;
	return cause === error && typeof status === "number" && status < 500
		? "BAD_REQUEST"
		: "INTERNAL";
}

function statusOf(code: string): number {
	return isClientCode(code) ? ERRORS[code].status : 400;
}

function causeOf(error: unknown): unknown {
	return error instanceof GraphQLError ? (error.originalError ?? error) : error;
}
