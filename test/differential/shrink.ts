import {
	type ASTNode,
	type DocumentNode,
	type GraphQLSchema,
	Kind,
	NoUnusedFragmentsRule,
	NoUnusedVariablesRule,
	parse,
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
	let again = false;
	for (let at = 0; tries < MOST_TRIES; ) {
		const text = without(best.document, at);
		if (text === null) {
			// What had to stay may go once others have gone.
			if (!again) return best;
			again = false;
			at = 0;
			continue;
		}
		const document = valid(schema, text);
		const smaller = document && { ...best, document, text };
		if (smaller !== null) tries++;
		if (smaller !== null && (await fails(smaller))) {
			best = smaller;
			again = true;
		} else {
			at++;
		}
	}
	return best;
}

/** Null for a text that is not, as where a selection set is left empty. */
function valid(schema: GraphQLSchema, text: string): DocumentNode | null {
	try {
		const document = parse(text);
		return validate(schema, document, RULES).length === 0 ? document : null;
	} catch {
		return null;
	}
}

/** The document's text without its n-th part that may be left out, the outermost first; null if it has fewer. */
function without(document: DocumentNode, n: number): string | null {
	const parts: ASTNode[] = [];
	visit(document, {
		enter(node) {
			if (
				node.kind === Kind.FIELD ||
				node.kind === Kind.INLINE_FRAGMENT ||
				node.kind === Kind.FRAGMENT_SPREAD ||
				node.kind === Kind.FRAGMENT_DEFINITION ||
				node.kind === Kind.OPERATION_DEFINITION ||
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
	return print(
		visit(document, { enter: (node) => (node === dropped ? null : undefined) }),
	);
}
