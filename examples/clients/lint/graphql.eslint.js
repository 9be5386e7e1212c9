import graphql from "@graphql-eslint/eslint-plugin";

/** Rules for the documents in your code. */
export default [
	{ files: ["src/**/*.{ts,tsx}"], processor: graphql.processor },
	{
		files: ["**/*.graphql"],
		plugins: { "@graphql-eslint": graphql },
		languageOptions: {
			parser: graphql.parser,
			parserOptions: {
				graphQLConfig: {
					schema: "./schema.graphql",
					documents: "./src/**/*.{ts,tsx}",
				},
			},
		},
		rules: {
			...graphql.configs["flat/operations-recommended"].rules,
			// Apollo Client takes it out before it sends a document.
			"@graphql-eslint/known-directives": [
				"error",
				{ ignoreClientDirectives: ["connection"] },
			],
		},
	},
];
