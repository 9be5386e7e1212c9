import type { JsonObject } from "../util/json.ts";

/** The stored settings of a queue. Damaged ones count as none: workers must not stop over them. */
export function parseSettings(text: string): JsonObject {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return {};
	}
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? (value as JsonObject)
		: {};
}
