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

/** Each try executes the operation at least twice. */
const MAX_TRIES = 400;

const RULES = specifiedRules.filter(
	(rule) => rule !== NoUnusedFragmentsRule && rule !== NoUnusedVariablesRule,
);

/** Removes parts of the document while the operation still fails. */
export async function shrink(
	schema: GraphQLSchema,
	operation: Operation,
	fails: (operation: Operation) => Promise<boolean>,
): Promise<Operation> {
	let best = operation;
	let tries = 0;
	let again = false;
	for (let at = 0; tries < MAX_TRIES; ) {
		const text = without(best.document, at);
		if (text === null) {
			// Parts that were necessary may be removable now.
			if (!again) return best;
			again = false;
			at = 0;
			continue;
		}
		const document = parseValid(schema, text);
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

/** Null for an invalid document, such as one with an empty selection set. */
function parseValid(schema: GraphQLSchema, text: string): DocumentNode | null {
	try {
		const document = parse(text);
		return validate(schema, document, RULES).length === 0 ? document : null;
	} catch {
		return null;
	}
}

/** The document without its n-th removable part, outermost first; null if it has fewer parts. */
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
