import {
	ApolloClient,
	ApolloLink,
	HttpLink,
	InMemoryCache,
} from "@apollo/client";
import { SetContextLink } from "@apollo/client/link/context";
import { relayStylePagination } from "@apollo/client/utilities";

// A count, `likedBy(first: 0) { totalCount }`, is kept apart from the pages.
const pages = relayStylePagination((args) =>
	args?.first === 0 ? ["first"] : false,
);

export function createCache(): InMemoryCache {
	return new InMemoryCache({
		possibleTypes: { Node: ["Board", "Comment", "Interest", "Pin", "User"] },
		typePolicies: {
			Query: { fields: { interests: pages } },
			User: { fields: { boards: pages, likes: pages, followers: pages } },
			Board: { fields: { pins: pages, followers: pages } },
			Pin: { fields: { comments: pages, likedBy: pages, repins: pages } },
			Interest: { fields: { pins: pages, followers: pages } },
		},
	});
}

export function createClient(options: {
	readonly url: string;
	readonly token: () => string | null;
	/** Links between the token and the network: persisted queries, say. */
	readonly links?: readonly ApolloLink[];
	readonly fetch?: typeof fetch;
}): ApolloClient {
	const { url, token, links = [] } = options;
	return new ApolloClient({
		cache: createCache(),
		link: ApolloLink.from([
			new SetContextLink(({ headers }) => {
				const bearer = token();
				return bearer === null
					? { headers }
					: { headers: { ...headers, authorization: `Bearer ${bearer}` } };
			}),
			...links,
			new HttpLink({
				uri: url,
				// Lets a query go by GET: no form of a foreign page can send this.
				headers: { "apollo-require-preflight": "true" },
				...(options.fetch ? { fetch: options.fetch } : {}),
			}),
		]),
	});
}
