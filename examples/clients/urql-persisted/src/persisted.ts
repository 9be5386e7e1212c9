import { persistedExchange } from "@urql/exchange-persisted";

/** Sends queries by GET, which caches can keep, and never their text. */
export const persisted = persistedExchange({
	enforcePersistedQueries: true,
	enableForMutation: true,
	async generateHash(_text, document) {
		const { __meta__ } = document as {
			readonly __meta__?: { readonly hash: string };
		};
		if (!__meta__)
			throw new Error("expected a document that graphql-codegen made");
		return __meta__.hash;
	},
});
