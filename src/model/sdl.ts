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
	visit,
} from "graphql";
// Not in graphql's index, which has only `buildASTSchema` to check SDL, and
// that throws all problems glued into one message without their places.
import { validateSDL } from "graphql/validation/validate.js";
import { type Problems, tryOrAddProblem } from "./problems.ts";

export interface SdlFile {
	readonly path: string;
	readonly text: string;
}

export interface Sdl {
	readonly document: DocumentNode;
	/** With the storage directives. */
	readonly schema: GraphQLSchema;
	/** Types that are used but not defined. Their one fault is already told. */
	readonly unknown: ReadonlySet<string>;
}

/**
 * Parse the files as one schema and check it as graphql-js does. Null where a
 * file cannot be parsed: all that the rest of it defines would seem to be
 * missing. Any other fault leaves a schema to go on with.
 */
export function parseSdl(
	files: readonly SdlFile[],
	problems: Problems,
): Sdl | null {
	const parsed = files.map(({ path, text }) =>
		tryOrAddProblem(problems, () => parse(new Source(text, path))),
	);
	const whole = parsed.filter((document) => document !== null);
	if (whole.length < files.length) return null;
	const document = concatAST(whole);
	for (const error of validateSDL(document)) problems.addError(error);
	const unknown = undefinedTypes(document);
	const schema = buildASTSchema(
		{
			...document,
			// Stand-ins, without which no schema could be built.
			definitions: [...document.definitions, ...[...unknown].map(emptyScalar)],
		},
		{ assumeValidSDL: true },
	);
	for (const error of validateSchema(schema)) problems.addError(error);
	return { document, schema, unknown };
}

/** The names of the types that definitions mention. */
export function referencedTypes(
	definitions: readonly DefinitionNode[],
): ReadonlySet<string> {
	const names = new Set<string>();
	for (const definition of definitions) {
		visit(definition, {
			enter(node) {
				if (node.kind === Kind.NAMED_TYPE) names.add(node.name.value);
			},
		});
	}
	return names;
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
