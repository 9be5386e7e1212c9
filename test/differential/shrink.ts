import {
	type ASTNode,
	type DocumentNode,
	type GraphQLSchema,
	Kind,
	NoUnusedFragmentsRule,
	NoUnusedVariablesRule,
	print,
	specifiedRules,
	validate,
	visit,
} from "graphql";
import type { Operation } from "./operation.ts";

/** Each try runs the operation twice or more. */
const MOST_TRIES = 400;

const RULES = specifiedRules.filter(
	(rule) => rule !== NoUnusedFragmentsRule && rule !== NoUnusedVariablesRule,
);

/** The operation with as much left out of its document as can be while it still fails. */
export async function shrink(
	schema: GraphQLSchema,
	operation: Operation,
	fails: (operation: Operation) => Promise<boolean>,
): Promise<Operation> {
	let best = operation;
	let tries = 0;
	for (let at = 0; tries < MOST_TRIES; ) {
		const document = without(best.document, at);
		if (document === null) return best;
		const text = print(document);
		const smaller = { ...best, document, text };
		if (validate(schema, document, RULES).length === 0) {
			tries++;
			if (await fails(smaller)) {
				best = smaller;
				continue;
			}
		}
		at++;
	}
	return best;
}

/** The document without its n-th part that may be left out, the outermost first; null if it has fewer. */
function without(document: DocumentNode, n: number): DocumentNode | null {
	const parts: ASTNode[] = [];
	visit(document, {
		enter(node) {
			if (
				node.kind === Kind.FIELD ||
				node.kind === Kind.INLINE_FRAGMENT ||
				node.kind === Kind.FRAGMENT_SPREAD ||
				node.kind === Kind.FRAGMENT_DEFINITION ||
				node.kind === Kind.DIRECTIVE ||
				node.kind === Kind.ARGUMENT ||
				node.kind === Kind.VARIABLE_DEFINITION
			) {
				parts.push(node);
			}
		},
	});
	const dropped = parts[n];
	if (dropped === undefined) return null;
	const smaller = visit(document, {
		enter: (node) => (node === dropped ? null : undefined),
		leave: (node) =>
			// What nothing is left in is left out too.
			node.kind === Kind.INLINE_FRAGMENT &&
			node.selectionSet.selections.length === 0
				? null
				: undefined,
	});
	return smaller;
}
