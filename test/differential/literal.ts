import type { JsonValue } from "../../src/util/json.ts";

/** A JSON value as a GraphQL literal. Field names have no quotes. */
export function literal(value: JsonValue): string {
	if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
	if (typeof value === "object" && value !== null) {
		const fields = Object.entries(value).map(
			([name, of]) => `${name}: ${literal(of)}`,
		);
		return `{ ${fields.join(", ")} }`;
	}
	return JSON.stringify(value);
}
