import { type GraphQLSchema, isObjectType } from "graphql";
import type { JsonValue } from "../util/json.ts";
import { wholeSchema } from "./publicSchema.ts";
import { faultOfValue } from "./storedValues.ts";

/** What is wrong with a value of a type's field, as `must be String! but got: 7`; null if nothing is. */
export type FieldFault = (
	type: string,
	field: string,
	value: JsonValue,
) => string | null;

/** Checks values from outside that no operation's types stand before, such as those of an import. */
export function fieldFaults(schema: GraphQLSchema): FieldFault {
	const whole = wholeSchema(schema);
	return (typeName, fieldName, value) => {
		const type = whole.getType(typeName);
		const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
		if (field === undefined) {
			throw new TypeError(
				`expected a field of the schema but got: ${typeName}.${fieldName}`,
			);
		}
		return faultOfValue(field.type, value);
	};
}
