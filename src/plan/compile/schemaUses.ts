import {
	type FragmentDefinitionNode,
	type GraphQLInputType,
	type GraphQLSchema,
	getNamedType,
	isInputObjectType,
	isSpecifiedScalarType,
	Kind,
	type OperationDefinitionNode,
	TypeInfo,
	typeFromAST,
	visit,
	visitWithTypeInfo,
} from "graphql";
import type { SchemaUses } from "../diagnostics.ts";
import type { Fragments } from "./collectFields.ts";

/**
 * What an operation names of the schema, whatever its variables: a schema
 * without it would refuse the document. So a field on an interface is that
 * interface's, `@skip` leaves nothing out, and a variable uses its input type
 * with all types below it, as what it holds is never looked at.
 */
export function schemaUses(
	schema: GraphQLSchema,
	operation: OperationDefinitionNode,
	fragments: Fragments,
): SchemaUses {
	const coordinates = new Set<string>();
	const spread = new Set<string>();
	const waiting: (OperationDefinitionNode | FragmentDefinitionNode)[] = [
		operation,
	];
	const info = new TypeInfo(schema);
	const visitor = visitWithTypeInfo(info, {
		Field({ name }) {
			// Introspection uses no type of this schema.
			if (name.value.startsWith("__")) return false;
			const parent = info.getParentType();
			if (parent) coordinates.add(`${parent.name}.${name.value}`);
			return undefined;
		},
		Argument({ name }) {
			const parent = info.getParentType();
			const field = info.getFieldDef();
			if (parent && field && !info.getDirective()) {
				coordinates.add(`${parent.name}.${field.name}(${name.value}:)`);
			}
		},
		ObjectValue() {
			const type = getNamedType(info.getInputType());
			if (isInputObjectType(type)) coordinates.add(type.name);
		},
		ObjectField({ name }) {
			const type = getNamedType(info.getParentInputType());
			if (isInputObjectType(type)) {
				coordinates.add(`${type.name}.${name.value}`);
			}
		},
		EnumValue({ value }) {
			const type = getNamedType(info.getInputType());
			if (type) coordinates.add(`${type.name}.${value}`);
		},
		VariableDefinition({ type }) {
			const given = typeFromAST(schema, type);
			if (given) addInputType(given as GraphQLInputType, coordinates);
		},
		InlineFragment({ typeCondition }) {
			if (typeCondition) coordinates.add(typeCondition.name.value);
		},
		FragmentDefinition({ typeCondition }) {
			coordinates.add(typeCondition.name.value);
		},
		FragmentSpread({ name }) {
			if (spread.has(name.value)) return;
			spread.add(name.value);
			const fragment = fragments.get(name.value);
			if (fragment?.kind === Kind.FRAGMENT_DEFINITION) waiting.push(fragment);
		},
		Directive({ name }) {
			coordinates.add(`@${name.value}`);
		},
	});
	for (let next = waiting.pop(); next; next = waiting.pop()) {
		visit(next, visitor);
	}
	return { coordinates: [...coordinates].map(whole) };
}

function addInputType(given: GraphQLInputType, coordinates: Set<string>): void {
	const type = getNamedType(given);
	if (isSpecifiedScalarType(type) || coordinates.has(type.name)) return;
	coordinates.add(type.name);
	if (!isInputObjectType(type)) return;
	for (const field of Object.values(type.getFields())) {
		addInputType(field.type, coordinates);
	}
}

/** As one string: V8 keeps the parts of a concatenation. Equal ones of all operations are kept once. */
function whole(coordinate: string): string {
	const known = strings.get(coordinate);
	if (known !== undefined) return known;
	const flat = Buffer.from(coordinate).toString();
	strings.set(flat, flat);
	return flat;
}

/** Names of the schema only, so that they are few. */
const strings = new Map<string, string>();
