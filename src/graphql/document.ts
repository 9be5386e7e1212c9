import {
	type DocumentNode,
	GraphQLError,
	type GraphQLSchema,
	Kind,
	parse,
	validate,
} from "graphql";
import { CorkboardError } from "../errors.ts";

/**
 * Parses and validates a document of queries from a file. Throws one
 * BAD_USER_INPUT with every problem, each as `file:line:column: message`.
 */
export function readQuery(
	schema: GraphQLSchema,
	text: string,
	file: string,
): DocumentNode {
	const document = parseDocument(text, file);
	const writes = document.definitions.filter(
		(definition) =>
			definition.kind === Kind.OPERATION_DEFINITION &&
			definition.operation !== "query",
	);
	const problems = [
		...validate(schema, document),
		...writes.map(
			(node) =>
				new GraphQLError(
					"The file must contain queries only, got a mutation.",
					{
						nodes: node,
					},
				),
		),
	];
	if (problems.length > 0) throw documentError(file, problems);
	return document;
}

/** As `readQuery`, but with mutations too. */
export function readDocument(
	schema: GraphQLSchema,
	text: string,
	file: string,
): DocumentNode {
	const document = parseDocument(text, file);
	const problems = validate(schema, document);
	if (problems.length > 0) throw documentError(file, problems);
	return document;
}

function parseDocument(text: string, file: string): DocumentNode {
	try {
		return parse(text);
	} catch (thrown) {
		if (thrown instanceof GraphQLError) throw documentError(file, [thrown]);
		throw thrown;
	}
}

function documentError(file: string, problems: readonly GraphQLError[]) {
	const lines = problems.map(({ message, locations }) => {
		const [place] = locations ?? [];
		return `${file}${place ? `:${place.line}:${place.column}` : ""}: ${message}`;
	});
	return new CorkboardError("BAD_USER_INPUT", lines.join("\n"));
}
