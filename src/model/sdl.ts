import {
	buildASTSchema,
	concatAST,
	type DefinitionNode,
	type DocumentNode,
	type GraphQLSchema,
	isTypeDefinitionNode,
	Kind,
	parse,
	Source,
	specifiedScalarTypes,
	validateSchema,
} from "graphql";
// Not in graphql's index. `buildASTSchema` checks SDL too, but throws all errors
// joined into one message, without their locations.
import { validateSDL } from "graphql/validation/validate.js";
import type {
	DeclaredMutation,
	DescribeValues,
} from "./expand/expandMutations.ts";
import { expandSdl } from "./expand/expandSdl.ts";
import { referencedTypes } from "./expand/referencedTypes.ts";
import { type Problems, tryOrAddProblem } from "./problems.ts";

export interface SdlFile {
	readonly path: string;
	readonly text: string;
}

export interface Sdl {
	readonly document: DocumentNode;
	/** With the storage directives. */
	readonly schema: GraphQLSchema;
	/** Types that are used but not defined, which is already reported. */
	readonly unknown: ReadonlySet<string>;
	/** Those that `@mutations` declares. */
	readonly mutations: readonly DeclaredMutation[];
}

/**
 * Parses the files as one schema and checks it as graphql-js does. Null if a
 * file cannot be parsed: everything it defines would be reported as missing.
 * After any other problem the schema can still be read.
 */
export function parseSdl(
	files: readonly SdlFile[],
	problems: Problems,
	describe?: DescribeValues,
): Sdl | null {
	const parsed = files.map(({ path, text }) =>
		tryOrAddProblem(problems, () => parse(new Source(text, path))),
	);
	const documents = parsed.filter((document) => document !== null);
	if (documents.length < files.length) return null;
	const { document, mutations } = expandSdl(
		concatAST(documents),
		(node, problem) => problems.add(node, problem),
		describe,
	);
	for (const error of validateSDL(document)) problems.addError(error);
	const unknown = undefinedTypes(document);
	const schema = buildASTSchema(
		{
			...document,
			// No schema can be built while a type is undefined.
			definitions: [...document.definitions, ...[...unknown].map(emptyScalar)],
		},
		{ assumeValidSDL: true },
	);
	for (const error of validateSchema(schema)) problems.addError(error);
	return { document, schema, unknown, mutations };
}

function undefinedTypes({ definitions }: DocumentNode): ReadonlySet<string> {
	const defined = new Set(specifiedScalarTypes.map(({ name }) => name));
	for (const definition of definitions) {
		if (isTypeDefinitionNode(definition)) defined.add(definition.name.value);
	}
	const mentioned = [...referencedTypes(definitions)];
	return new Set(mentioned.filter((name) => !defined.has(name)));
}

function emptyScalar(name: string): DefinitionNode {
	return {
		kind: Kind.SCALAR_TYPE_DEFINITION,
		name: { kind: Kind.NAME, value: name },
	};
}
