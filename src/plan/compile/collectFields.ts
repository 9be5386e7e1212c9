import {
	type DocumentNode,
	type FieldNode,
	type FragmentDefinitionNode,
	GraphQLIncludeDirective,
	type GraphQLObjectType,
	type GraphQLSchema,
	GraphQLSkipDirective,
	getDirectiveValues,
	isAbstractType,
	Kind,
	type NamedTypeNode,
	type SelectionNode,
	type SelectionSetNode,
} from "graphql";

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export function getFragments(document: DocumentNode): Fragments {
	const fragments = new Map<string, FragmentDefinitionNode>();
	for (const definition of document.definitions) {
		if (definition.kind === Kind.FRAGMENT_DEFINITION) {
			fragments.set(definition.name.value, definition);
		}
	}
	return fragments;
}

/**
 * CollectFields (spec §6.3.2) over the selection sets of merged fields: the
 * fields of the document by response key, in order. Throws a GraphQLError for
 * an invalid condition.
 */
export function collectFields(
	document: {
		readonly schema: GraphQLSchema;
		readonly fragments: Fragments;
		readonly variables: Readonly<Record<string, unknown>>;
	},
	type: GraphQLObjectType,
	selectionSets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly FieldNode[]> {
	const { schema, fragments, variables } = document;
	const fields = new Map<string, FieldNode[]>();
	const visited = new Set<string>();

	function collect({ selections }: SelectionSetNode): void {
		for (const selection of selections) {
			if (
				selection.kind === Kind.FRAGMENT_SPREAD &&
				visited.has(selection.name.value)
			) {
				continue;
			}
			if (!isIncluded(selection, variables)) continue;
			if (selection.kind === Kind.FIELD) {
				const key = selection.alias?.value ?? selection.name.value;
				const nodes = fields.get(key);
				if (nodes === undefined) fields.set(key, [selection]);
				else nodes.push(selection);
			} else if (selection.kind === Kind.INLINE_FRAGMENT) {
				if (applies(selection.typeCondition)) collect(selection.selectionSet);
			} else {
				visited.add(selection.name.value);
				const fragment = fragments.get(selection.name.value);
				if (fragment && applies(fragment.typeCondition)) {
					collect(fragment.selectionSet);
				}
			}
		}
	}

	function applies(condition: NamedTypeNode | undefined): boolean {
		if (condition === undefined) return true;
		const named = schema.getType(condition.name.value);
		return (
			named === type || (isAbstractType(named) && schema.isSubType(named, type))
		);
	}

	for (const selectionSet of selectionSets) collect(selectionSet);
	return fields;
}

function isIncluded(
	selection: SelectionNode,
	variables: Readonly<Record<string, unknown>>,
): boolean {
	if (!selection.directives?.length) return true;
	return (
		getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if !==
			true &&
		getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !==
			false
	);
}

/** The names of the variables in `@skip` and `@include` anywhere in an operation, in document order. */
export function conditionVariables(
	root: SelectionSetNode,
	fragments: Fragments,
): readonly string[] {
	const names = new Set<string>();
	const visited = new Set<string>();

	function visit({ selections }: SelectionSetNode): void {
		for (const selection of selections) {
			for (const directive of selection.directives ?? []) {
				if (!["skip", "include"].includes(directive.name.value)) continue;
				for (const { value } of directive.arguments ?? []) {
					if (value.kind === Kind.VARIABLE) names.add(value.name.value);
				}
			}
			if (selection.kind === Kind.FRAGMENT_SPREAD) {
				const name = selection.name.value;
				if (visited.has(name)) continue;
				visited.add(name);
				const fragment = fragments.get(name);
				if (fragment) visit(fragment.selectionSet);
			} else if (selection.selectionSet) {
				visit(selection.selectionSet);
			}
		}
	}

	visit(root);
	return [...names];
}
