import { ClientError, GraphQLClient } from "graphql-request";
import { type FieldErrors, fieldErrors } from "./fieldErrors.ts";
import { patientFetch } from "./patientFetch.ts";

export function createClient(options: {
	readonly url: string;
	readonly token: () => string | null;
}): GraphQLClient {
	return new GraphQLClient(options.url, {
		fetch: patientFetch,
		requestMiddleware(request) {
			const token = options.token();
			const headers = new Headers(request.headers);
			if (token !== null) headers.set("authorization", `Bearer ${token}`);
			return { ...request, headers };
		},
	});
}

/** The code to act on; messages are for people. Null if no response came from the server. */
export function codeOf(error: unknown): string | null {
	if (!(error instanceof ClientError)) return null;
	const code = error.response.errors?.[0]?.extensions?.code;
	return typeof code === "string" ? code : null;
}

/** What to show beside the fields of a form. */
export function fieldsOf(error: unknown): FieldErrors {
	return fieldErrors(
		error instanceof ClientError
			? error.response.errors?.[0]?.extensions
			: undefined,
	);
}
