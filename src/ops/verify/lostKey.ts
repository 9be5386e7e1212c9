import type { Store } from "../../graph/store/store.ts";
import type { Lookup } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";

/** Whether the object has the row's token, so that the key is its own, but no text as its key. One that may be null was removed. */
export function lostKey(
	{ model }: Pick<Store, "model">,
	{ name, type, key }: Lookup,
	data: JsonObject,
	token: string,
): boolean {
	const tokens = (data.tokens ?? {}) as JsonObject;
	const value = data[key] ?? null;
	if (tokens[name] !== token || typeof value === "string") return false;
	const field = model.objects
		.get(type)
		?.stored.find((stored) => stored.key === key);
	return value !== null || field?.nullable === false;
}
