import type { JsonValue } from "../../src/util/json.ts";

/** Fields of inputs whose values are of an enum. */
const ENUM_FIELDS = new Set(["reason"]);

/** A JSON value as a GraphQL literal. Field names and values of enums have no quotes. */
export function literal(value: JsonValue): string {
	if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
	if (typeof value === "object" && value !== null) {
		const fields = Object.entries(value).map(
			([name, of]) =>
				`${name}: ${ENUM_FIELDS.has(name) ? String(of) : literal(of)}`,
		);
		return `{ ${fields.join(", ")} }`;
	}
	return JSON.stringify(value);
}
