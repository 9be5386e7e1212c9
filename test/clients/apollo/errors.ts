import { CombinedGraphQLErrors, ServerError } from "@apollo/client/errors";

/** What to go by; messages are for people, and change. */
export function codeOf(error: unknown): string | null {
	if (CombinedGraphQLErrors.is(error)) return firstCode(error.errors);
	// Refused before GraphQL saw it, by a limit or a proxy, as application/json.
	if (ServerError.is(error)) {
		try {
			return firstCode(JSON.parse(error.bodyText).errors);
		} catch {
			return null;
		}
	}
	return null;
}

function firstCode(errors: CombinedGraphQLErrors["errors"]): string | null {
	const code = errors[0]?.extensions?.code;
	return typeof code === "string" ? code : null;
}
