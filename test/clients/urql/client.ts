import {
	Client,
	cacheExchange,
	type Exchange,
	fetchExchange,
} from "@urql/core";

export function createClient(options: {
	readonly url: string;
	readonly token: () => string | null;
	/** Between the cache and the network: persisted queries, say. */
	readonly exchanges?: readonly Exchange[];
	readonly fetch?: typeof fetch;
}): Client {
	const { url, token, exchanges = [] } = options;
	return new Client({
		url,
		exchanges: [cacheExchange, ...exchanges, fetchExchange],
		// urql's own default is to send short queries by GET.
		preferGetMethod: false,
		fetchOptions: () => {
			const bearer = token();
			return bearer === null
				? {}
				: { headers: { authorization: `Bearer ${bearer}` } };
		},
		...(options.fetch ? { fetch: options.fetch } : {}),
	});
}
