import {
	type GraphQLOutputType,
	type GraphQLSchema,
	isObjectType,
} from "graphql";
import type { JsonValue } from "../util/json.ts";
import { wholeSchema } from "./publicSchema.ts";
import { faultOfValue } from "./typeChecks.ts";
import { fieldRules, type Rule } from "./validators.ts";

/** A value as it is stored, null where nothing is; or what is wrong with it, as `must be String! but got: 7`. */
export type ReadField = (
	given: JsonValue,
) => { readonly value: JsonValue } | { readonly fault: string };

/** How a type's field is read, by its type's name and its own. */
export type FieldReaders = (type: string, field: string) => ReadField;

/**
 * Reads values that come another way than by a mutation, those of an import:
 * no operation's types stand before them, so these are checked first, then what
 * a mutation holds the field to. A username that no mutation lets in could not
 * be asked for by any query.
 */
export function fieldReaders(schema: GraphQLSchema): FieldReaders {
	const whole = wholeSchema(schema);
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

function readerOf(type: GraphQLOutputType, name: string): ReadField {
	const rules: Readonly<Record<string, Rule<JsonValue>>> = fieldRules;
	const rule = rules[name];
	return (given) => {
		const fault = faultOfValue(type, given);
		if (fault !== null) return { fault };
		if (rule === undefined || given === null) return { value: given };
		const ruled = rule(given);
		return "value" in ruled
			? { value: ruled.value }
			: {
					fault: ruled.faults
						.map(({ path, problem }) => `${path} ${problem}`.trim())
						.join("; "),
				};
	};
}
