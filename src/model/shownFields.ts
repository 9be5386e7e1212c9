import { type GraphQLSchema, isObjectType } from "graphql";

/** Whether clients see a field of an object type. */
export function isShown(
	schema: GraphQLSchema,
	type: string,
	field: string,
): boolean {
	const found = schema.getType(type);
	return isObjectType(found) && Object.hasOwn(found.getFields(), field);
}
