import {
	ApolloClient,
	ApolloLink,
	HttpLink,
	InMemoryCache,
} from "@apollo/client";
import { CombinedGraphQLErrors } from "@apollo/client/errors";
import { SetContextLink } from "@apollo/client/link/context";
import { relayStylePagination } from "@apollo/client/utilities";
import { type FieldErrors, fieldErrors } from "./fieldErrors.ts";
import { patientFetch } from "./patientFetch.ts";

/** All list fields, by type. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
	Query: ["interests"],
	User: [
		"boards",
		"pins",
		"likes",
		"following",
		"followers",
		"followedBoards",
		"followedInterests",
		"blockedUsers",
		"sharedBoards",
		"homeFeed",
	],
	Board: ["pins", "followers", "collaborators", "sections"],
	Pin: ["repins", "likedBy", "comments", "interests"],
	Interest: ["pins", "followers"],
	Section: ["pins"],
};

// One cache entry for each list, whatever its `first`, except for counts and lists with @connection.
const relay = relayStylePagination((args) =>
	args?.first === 0 ? ["first"] : ["@connection", ["key"]],
);

const append = relay.merge as Exclude<typeof relay.merge, boolean | undefined>;

const pages: typeof relay = {
	...relay,
	/** A page that does not follow on what is kept takes its place: Apollo would append it again each time it is read. */
	merge(existing, incoming, options) {
		const follows = [options.args?.after, options.args?.before].every(
			(cursor) =>
				!cursor ||
				cursor === existing?.pageInfo?.endCursor ||
				cursor === existing?.pageInfo?.startCursor ||
				existing?.edges.some((edge) => edge.cursor === cursor),
		);
		return append(follows ? existing : undefined, incoming, options);
	},
};

export function createClient(options: {
	readonly url: string;
	readonly token: () => string | null;
	/** Before the network, for example persisted documents. */
	readonly links?: readonly ApolloLink[];
}): ApolloClient {
	const bearer = new SetContextLink(({ headers }) => {
		const token = options.token();
		return {
			headers:
				token === null
					? headers
					: { ...headers, authorization: `Bearer ${token}` },
		};
	});
	const http = new HttpLink({ uri: options.url, fetch: patientFetch });
	const typePolicies = Object.entries(LISTS).map(([type, names]) => [
		type,
		{ fields: Object.fromEntries(names.map((name) => [name, pages])) },
	]);
	return new ApolloClient({
		cache: new InMemoryCache({
			possibleTypes: {
				Node: ["Board", "Comment", "Interest", "Pin", "Section", "User"],
			},
			typePolicies: Object.fromEntries(typePolicies),
		}),
		link: ApolloLink.from([bearer, ...(options.links ?? []), http]),
	});
}

/** The code to act on; messages are for people. Null if no response came from the server. */
export function codeOf(error: unknown): string | null {
	if (!CombinedGraphQLErrors.is(error)) return null;
	const code = error.errors[0]?.extensions?.code;
	return typeof code === "string" ? code : null;
}

/** What to show beside the fields of a form. */
export function fieldsOf(error: unknown): FieldErrors {
	return fieldErrors(
		CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions : undefined,
	);
}
