import {
	type GraphQLOutputType,
	type GraphQLSchema,
	isObjectType,
} from "graphql";
import type { JsonValue } from "../util/json.ts";
import { fullSchema } from "./publicSchema.ts";
import { typeProblem } from "./typeChecks.ts";
import { type Validator, validators } from "./validation.ts";

/** A value as it is stored, null where nothing is; or what is wrong with it, as `must be String! but got: 7`. */
export type FieldReader = (
	given: JsonValue,
) => { readonly value: JsonValue } | { readonly fault: string };

/** How a type's field is read, by its type's name and its own. */
export type FieldReaders = (type: string, field: string) => FieldReader;

/**
 * Reads values that come another way than by a mutation, those of an import:
 * no operation's types stand before them, so these are checked first, then what
 * a mutation holds the field to. A username that no mutation lets in could not
 * be asked for by any query.
 */
export function createFieldReaders(schema: GraphQLSchema): FieldReaders {
	const whole = fullSchema(schema);
	return (typeName, fieldName) => {
		const type = whole.getType(typeName);
		const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
		if (field === undefined) {
			throw new TypeError(
				`expected a field of the schema but got: ${typeName}.${fieldName}`,
			);
		}
		return readerOf(field.type, `${typeName}.${fieldName}`);
	};
}

function readerOf(type: GraphQLOutputType, name: string): FieldReader {
	const rules: Readonly<Record<string, Validator<JsonValue>>> = validators;
	const rule = rules[name];
	return (given) => {
		const fault = typeProblem(type, given);
		if (fault !== null) return { fault };
		if (rule === undefined || given === null) return { value: given };
		const ruled = rule(given);
		return "value" in ruled
			? { value: ruled.value }
			: {
					fault: ruled.faults
						.map(({ path, message: problem }) => `${path} ${problem}`.trim())
						.join("; "),
				};
	};
}
