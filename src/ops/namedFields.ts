import { keyFields, type Model, type ObjectType } from "../model/types.ts";
import type { JsonObject } from "../util/json.ts";

/** What an object stores, by the names of the SDL; what it lacks is left out. */
export function namedFields(
	model: Model,
	{ type, data }: { readonly type: string; readonly data: JsonObject },
): JsonObject {
	const object = model.objects.get(type);
	return Object.fromEntries(
		[...(object === undefined ? [] : storedNames(object))].flatMap(
			([field, key]) => {
				const value = data[key];
				return value === undefined ? [] : [[field, value]];
			},
		),
	);
}

/** The key in the stored JSON of each field, by the field's name. */
function storedNames(type: ObjectType): ReadonlyMap<string, string> {
	return new Map(
		[...type.stored, ...type.references, ...keyFields(type)].map(
			({ field, key }) => [field, key],
		),
	);
}
