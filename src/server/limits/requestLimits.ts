import { ApolloServerErrorCode } from "@apollo/server/errors";
import { GraphQLError } from "graphql";
import { publishRefusal } from "../../plan/diagnostics.ts";

/**
 * Limits on a request before anything of it is parsed. A document of a file is
 * sent by its id, or recognized by its text, and may be longer.
 */
export const REQUEST_LIMITS = {
	/**
	 * The longest document. Relay and Apollo print 6 to 12 characters a token,
	 * indentation included, so a document of MAX_TOKENS tokens fits.
	 */
	characters: 32_768,
	/** In all variables, at every depth, used by the document or not. */
	values: 1_000,
	/** The longest name of a field in a variable. graphql-js compares one that it does not know with all names of the type, character by character. */
	nameCharacters: 1_000,
} as const;

/** The error of a POST that exceeds a limit, else null. Node limits the length of a GET's URL. */
export function requestLimitError(body: unknown): GraphQLError | null {
	if (typeof body !== "object" || body === null) return null;
	const { query, variables } = body as Readonly<Record<string, unknown>>;
	if (typeof query === "string" && query.length > REQUEST_LIMITS.characters) {
		publishRefusal("request");
		return new GraphQLError(
			`The document has ${query.length} characters; the limit is ${REQUEST_LIMITS.characters}.`,
			{ extensions: { code: ApolloServerErrorCode.GRAPHQL_PARSE_FAILED } },
		);
	}
	const exceeded = exceededByVariables(variables);
	if (exceeded !== null) {
		publishRefusal("request");
		return new GraphQLError(exceeded, {
			extensions: { code: ApolloServerErrorCode.BAD_USER_INPUT },
		});
	}
	return null;
}

/** The message that refuses the variables, else null. */
export function exceededByVariables(variables: unknown): string | null {
	const { values, nameCharacters } = REQUEST_LIMITS;
	const pending = [variables];
	let count = 0;
	for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
		if (typeof value !== "object" || value === null) continue;
		// Counts the keys of an object: reading the values of a large one takes
		// three times as long.
		const keys = Array.isArray(value) ? null : Object.keys(value);
		count += keys?.length ?? (value as readonly unknown[]).length;
		if (count > values) {
			return `The variables exceed the limit of ${values} values.`;
		}
		for (const { length } of keys ?? []) {
			if (length > nameCharacters) {
				return `A name in the variables has ${length} characters; the limit is ${nameCharacters}.`;
			}
		}
		for (const inner of Object.values(value)) pending.push(inner);
	}
	return null;
}
