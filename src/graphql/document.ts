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
 * A document of queries, from a file rather than a request. Throws
 * BAD_USER_INPUT, which tells every fault at once, each as
 * `file:line:column: sentence`.
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
	const faults = [
		...validate(schema, document),
		...writes.map(
			(node) =>
				new GraphQLError("expected queries only but got a mutation", {
					nodes: node,
				}),
		),
	];
	if (faults.length > 0) throw refusal(file, faults);
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
	if (problems.length > 0) throw refusal(file, problems);
	return document;
}

function parseDocument(text: string, file: string): DocumentNode {
	try {
		return parse(text);
	} catch (thrown) {
		if (thrown instanceof GraphQLError) throw refusal(file, [thrown]);
		throw thrown;
	}
}

function refusal(file: string, faults: readonly GraphQLError[]) {
	const lines = faults.map(({ message, locations }) => {
		const [place] = locations ?? [];
		return `${file}${place ? `:${place.line}:${place.column}` : ""}: ${message}`;
	});
	return new CorkboardError("BAD_USER_INPUT", lines.join("\n"));
}
