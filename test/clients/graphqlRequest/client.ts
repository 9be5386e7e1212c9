import { ClientError, GraphQLClient } from "graphql-request";

export function createClient(
	url: string,
	token: () => string | null,
	fetch: typeof globalThis.fetch = globalThis.fetch,
) {
	return new GraphQLClient(url, {
		fetch,
		requestMiddleware(request) {
			const bearer = token();
			const headers = new Headers(request.headers);
			if (bearer !== null) headers.set("authorization", `Bearer ${bearer}`);
			return { ...request, headers };
		},
	});
}

/** What to go by; messages are for people, and change. */
export function codeOf(error: unknown): string | null {
	if (!(error instanceof ClientError)) return null;
	const [first] = error.response.errors ?? [];
	return typeof first?.extensions?.code === "string"
		? first.extensions.code
		: null;
}
