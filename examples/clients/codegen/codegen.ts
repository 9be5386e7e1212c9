import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
	schema: "schema.graphql",
	documents: ["src/**/*.{ts,tsx}"],
	generates: {
		"./src/gql/": {
			preset: "client",
			presetConfig: { fragmentMasking: false },
			config: {
				scalars: { ID: "string", DateTime: "string", URI: "string" },
				useTypeImports: true,
				enumsAsTypes: true,
				// Apollo Client and urql ask for every __typename but the root's.
				nonOptionalTypename: true,
				skipTypeNameForRoot: true,
			},
		},
	},
};
export default config;
