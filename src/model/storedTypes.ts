import {
	type GraphQLSchema,
	getNullableType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { JsonValue } from "../util/json.ts";
import { fullSchema } from "./publicSchema.ts";
import { typeProblem } from "./typeChecks.ts";

/** Checks stored values against the types of the SDL. */
export interface StoredTypes {
	/** The type that a stored value is not of, as `String!`; null if it is of the field's type. */
	mismatch(type: string, field: string, value: JsonValue): string | null;
}

/** Fields that the SDL had once may be left in stored objects, so that unknown ones are ignored. */
export function createStoredTypes(schema: GraphQLSchema): StoredTypes {
	return {
		mismatch(typeName, fieldName, value) {
			const type = fullSchema(schema).getType(typeName);
			const field = isObjectType(type)
				? type.getFields()[fieldName]
				: undefined;
			if (field === undefined) return null;
			if (value === null) {
				return isNonNullType(field.type) ? String(field.type) : null;
			}
			return typeProblem(getNullableType(field.type), value, "ignored") === null
				? null
				: String(field.type);
		},
	};
}
