import type { CodegenConfig } from "@graphql-codegen/cli";
import { addTypenameSelectionDocumentTransform } from "@graphql-codegen/client-preset";

const config: CodegenConfig = {
	schema: "schema.graphql",
	documents: ["src/**/*.{ts,tsx}"],
	generates: {
		"./src/gql/": {
			preset: "client",
			presetConfig: {
				fragmentMasking: false,
				persistedDocuments: { hashAlgorithm: "sha256" },
			},
			config: {
				scalars: { ID: "string", DateTime: "string", URI: "string" },
				useTypeImports: true,
				enumsAsTypes: true,
			},
			documentTransforms: [addTypenameSelectionDocumentTransform],
		},
	},
};
export default config;
