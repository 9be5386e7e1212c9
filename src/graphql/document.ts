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
	let document: DocumentNode;
	try {
		document = parse(text);
	} catch (thrown) {
		if (thrown instanceof GraphQLError) throw refusal(file, [thrown]);
		throw thrown;
	}
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

function refusal(file: string, faults: readonly GraphQLError[]) {
	const lines = faults.map(({ message, locations }) => {
		const [place] = locations ?? [];
		return `${file}${place ? `:${place.line}:${place.column}` : ""}: ${message}`;
	});
	return new CorkboardError("BAD_USER_INPUT", lines.join("\n"));
}
