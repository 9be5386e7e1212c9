import { type DefinitionNode, Kind, visit } from "graphql";

/** The names of the types that definitions refer to. */
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
