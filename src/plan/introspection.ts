import {
	type DocumentNode,
	executeSync,
	type FieldNode,
	type GraphQLError,
	type GraphQLField,
	type GraphQLSchema,
	Kind,
	type OperationDefinitionNode,
	SchemaMetaFieldDef,
	TypeMetaFieldDef,
	type TypeNode,
} from "graphql";

/** `__schema` or `__type`, which every Query has. */
export function introspectionField(
	name: string,
): GraphQLField<unknown, unknown> | undefined {
	return [SchemaMetaFieldDef, TypeMetaFieldDef].find(
		(field) => field.name === name,
	);
}

/**
 * The schema's own fields, `__schema` and `__type`, are graphql-js's to answer.
 * This makes a document of one of them alone.
 */
export function introspectionDocument(
	document: DocumentNode,
	operation: OperationDefinitionNode,
	nodes: readonly FieldNode[],
): DocumentNode {
	return {
		kind: Kind.DOCUMENT,
		definitions: [
			{
				...operation,
				// Variables come coerced already, and only what coerces to itself may
				// be coerced again. Introspection has arguments of no other type.
				variableDefinitions: (operation.variableDefinitions ?? []).filter(
					({ type }) => ["String", "Boolean"].includes(namedType(type)),
				),
				directives: [],
				selectionSet: { kind: Kind.SELECTION_SET, selections: nodes },
			},
			...document.definitions.filter(
				({ kind }) => kind === Kind.FRAGMENT_DEFINITION,
			),
		],
	};
}

/** The completed value of the field, with its errors. */
export function executeIntrospection(
	schema: GraphQLSchema,
	document: DocumentNode,
	variables: Readonly<Record<string, unknown>>,
	key: string,
): { readonly value: unknown; readonly errors: readonly GraphQLError[] } {
	const { data, errors = [] } = executeSync({
		schema,
		document,
		variableValues: variables,
	});
	return { value: data?.[key] ?? null, errors };
}

function namedType(type: TypeNode): string {
	return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}
