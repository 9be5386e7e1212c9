import { CombinedGraphQLErrors } from "@apollo/client/errors";

/** What to go by; messages are for people, and change. */
export function codeOf(error: unknown): string | null {
	if (!CombinedGraphQLErrors.is(error)) return null;
	const code = error.errors[0]?.extensions?.code;
	return typeof code === "string" ? code : null;
}
