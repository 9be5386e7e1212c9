import {
	type ConstDirectiveNode,
	type FieldDefinitionNode,
	type GraphQLSchema,
	isObjectType,
	Kind,
} from "graphql";
import type { Model } from "./types.ts";

/** `@semanticNonNull` says of a field that it is null only together with an error. */
export const SEMANTIC_NON_NULL = "semanticNonNull";

type Annotated =
	| { readonly directives?: FieldDefinitionNode["directives"] }
	| null
	| undefined;

export function semanticNonNullOf(
	field: Annotated,
): ConstDirectiveNode | undefined {
	return field?.directives?.find(
		({ name }) => name.value === SEMANTIC_NON_NULL,
	);
}

/** Where a field is null only together with an error: 0 is its value, 1 the items of a list. None without the directive. */
export function semanticNonNullLevels(field: Annotated): readonly number[] {
	const directive = semanticNonNullOf(field);
	if (directive === undefined) return [];
	const levels = directive.arguments?.find(
		({ name }) => name.value === "levels",
	)?.value;
	if (levels === undefined) return [0];
	const items = levels.kind === Kind.LIST ? levels.values : [levels];
	return items.map((item) =>
		item.kind === Kind.INT ? Number(item.value) : Number.NaN,
	);
}

/** The references of stored types that the SDL says are null only together with an error. */
export function referencesNullOnlyOnError(
	{ objects }: Model,
	schema: GraphQLSchema,
): readonly { readonly type: string; readonly field: string }[] {
	return [...objects.values()].flatMap(({ name, references }) => {
		const type = schema.getType(name);
		if (!isObjectType(type)) return [];
		const fields = type.getFields();
		return references
			.filter(({ field }) => semanticNonNullOf(fields[field]?.astNode))
			.map(({ field }) => ({ type: name, field }));
	});
}
