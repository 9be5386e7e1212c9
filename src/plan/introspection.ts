import {
	type DocumentNode,
	executeSync,
	type FieldNode,
	type GraphQLError,
	type GraphQLField,
	type GraphQLSchema,
	isNonNullType,
	Kind,
	type OperationDefinitionNode,
	SchemaMetaFieldDef,
	TypeMetaFieldDef,
	type TypeNode,
} from "graphql";
import type { PlannedField } from "./plan.ts";

/** `__schema` or `__type`; undefined for other names. */
export function introspectionField(
	name: string,
): GraphQLField<unknown, unknown> | undefined {
	return [SchemaMetaFieldDef, TypeMetaFieldDef].find(
		(field) => field.name === name,
	);
}

/** A document with one introspection field only, for graphql-js to execute. */
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
				// Variables are coerced already, so only types that coerce to
				// themselves may be coerced again. Introspection takes no others.
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

/** How the plan reads the field: graphql-js executes the document. */
export function introspected(
	{ type }: GraphQLField<unknown, unknown>,
	document: DocumentNode,
): Pick<
	PlannedField,
	| "source"
	| "constantArguments"
	| "argumentSources"
	| "access"
	| "shape"
	| "objectShape"
> {
	return {
		source: null,
		constantArguments: { args: {}, page: null },
		argumentSources: null,
		access: { kind: "introspection", document },
		// graphql-js completes the value, so only `nullable` is used.
		shape: {
			kind: "leaf",
			nullable: !isNonNullType(type),
			format: "other",
			serialize: (value) => value,
		},
		objectShape: null,
	};
}

/** The completed value of the field, and its errors. */
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
