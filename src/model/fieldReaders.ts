import {
	type GraphQLOutputType,
	type GraphQLSchema,
	getNamedType,
	isObjectType,
} from "graphql";
import { CorkboardError } from "../errors.ts";
import type { JsonValue } from "../util/json.ts";
import { fullSchema } from "./publicSchema.ts";
import { typeProblem } from "./typeChecks.ts";
import { keyFields, type Model } from "./types.ts";
import type { FieldPolicies, FieldPolicy } from "./validation.ts";

/** The value to store, null for none; or what is wrong with the one given, as `must be String!, got 7`. */
export type FieldReader = (
	given: JsonValue,
) => { readonly value: JsonValue } | { readonly problem: string };

/** Reads the values of stored fields that do not come by a mutation: those of an import. */
export interface FieldReaders {
	readerOf(type: string, field: string): FieldReader;
	/** The name of the field's type in GraphQL, without `!`. */
	typeNameOf(type: string, field: string): string;
	/** The field whose value this one has where it is given none. */
	defaultFieldOf(type: string, field: string): string | undefined;
}

/**
 * No GraphQL operation has coerced these values, so they are checked against
 * the SDL's type first, then by the same policy as a mutation: a username that
 * no mutation accepts could not be asked for by any query.
 */
export function createFieldReaders(
	schema: GraphQLSchema,
	policies: FieldPolicies,
): FieldReaders {
	function typeOf(typeName: string, fieldName: string): GraphQLOutputType {
		const type = fullSchema(schema).getType(typeName);
		const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
		if (field !== undefined) return field.type;
		throw new TypeError(`The schema has no field ${typeName}.${fieldName}.`);
	}
	return {
		readerOf: (type, field) =>
			createReader(typeOf(type, field), policies[type]?.[field]),
		typeNameOf: (type, field) => String(getNamedType(typeOf(type, field))),
		defaultFieldOf: (type, field) => policies[type]?.[field]?.defaultFrom,
	};
}

/** Throws BAD_MODEL for policies of fields that the model does not store. */
export function checkFieldPolicies(
	model: Model,
	policies: FieldPolicies,
): void {
	for (const [name, fields] of Object.entries(policies)) {
		const type = model.objects.get(name);
		const stored = new Set(
			[...(type?.stored ?? []), ...(type ? keyFields(type) : [])].map(
				({ field }) => field,
			),
		);
		for (const [field, { defaultFrom }] of Object.entries(fields)) {
			for (const named of [field, defaultFrom ?? field]) {
				if (stored.has(named)) continue;
				throw new CorkboardError(
					"BAD_MODEL",
					`The field policies name ${name}.${named}, which the schema does not store.`,
				);
			}
		}
	}
}

function createReader(
	type: GraphQLOutputType,
	policy: FieldPolicy | undefined,
): FieldReader {
	return (given) => {
		const problem = typeProblem(type, given);
		if (problem !== null) return { problem };
		if (policy === undefined || given === null) return { value: given };
		const result = policy.validate(given);
		return "value" in result
			? { value: result.value }
			: {
					problem: result.problems
						.map(({ path, message }) => `${path} ${message}`.trim())
						.join("; "),
				};
	};
}
