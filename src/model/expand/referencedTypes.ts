import { type ASTNode, type DefinitionNode, Kind } from "graphql";

/** The names of the types that definitions refer to. */
export function referencedTypes(
	definitions: readonly DefinitionNode[],
): ReadonlySet<string> {
	const names = new Set<string>();
	addNames(definitions, names);
	return names;
}

/** Walks by itself: `visit` of graphql-js took a fifth of the time in which a model is read. */
function addNames(value: unknown, names: Set<string>): void {
	if (Array.isArray(value)) {
		for (const item of value) addNames(item, names);
	} else if (isNode(value)) {
		if (value.kind === Kind.NAMED_TYPE) names.add(value.name.value);
		else for (const child of Object.values(value)) addNames(child, names);
	}
}

/** Where a node stands in its file (`loc`) is no node. */
function isNode(value: unknown): value is ASTNode {
	return typeof value === "object" && value !== null && "kind" in value;
}
