import { ApolloServerErrorCode } from "@apollo/server/errors";
import { GraphQLError } from "graphql";

/**
 * What a request may hold, looked at before anything of it is parsed. A document
 * of a file is sent by its id, or known by its text, and may be longer.
 */
export const REQUEST_LIMITS = {
	/**
	 * Of a document. What Relay and Apollo print takes 6 to 12 a token, indentation
	 * included, so that a document of MAX_TOKENS tokens fits.
	 */
	characters: 32_768,
	/** In all variables, at every depth, whether the document has a use for them or not. */
	values: 1_000,
} as const;

/** Why a POST is refused as it is; null if it may be looked at further. A GET has as little as a URL of Node's holds. */
export function requestLimitError(body: unknown): GraphQLError | null {
	if (typeof body !== "object" || body === null) return null;
	const { query, variables } = body as Readonly<Record<string, unknown>>;
	if (typeof query === "string" && query.length > REQUEST_LIMITS.characters) {
		return new GraphQLError(
			`Expected a document of at most ${REQUEST_LIMITS.characters} characters but got: ${query.length}.`,
			{ extensions: { code: ApolloServerErrorCode.GRAPHQL_PARSE_FAILED } },
		);
	}
	if (hasMoreValues(variables, REQUEST_LIMITS.values)) {
		return new GraphQLError(
			`Expected at most ${REQUEST_LIMITS.values} values in the variables but got more.`,
			{ extensions: { code: ApolloServerErrorCode.BAD_USER_INPUT } },
		);
	}
	return null;
}

function hasMoreValues(variables: unknown, limit: number): boolean {
	const waiting = [variables];
	let count = 0;
	for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
		if (typeof at !== "object" || at === null) continue;
		// Keys only: to read values of an object of very many takes thrice as long.
		const keys = Array.isArray(at) ? null : Object.keys(at);
		count += keys?.length ?? (at as readonly unknown[]).length;
		if (count > limit) return true;
		for (const value of Object.values(at)) waiting.push(value);
	}
	return false;
}
