import { isUtf8 } from "node:buffer";
import type { JsonValue } from "../../util/json.ts";
import type { Row, Value } from "./mapping.ts";
import { MappingError } from "./mappingError.ts";

/** What a field of this type of GraphQL is given. Throws MappingError. */
export function readValue(
	field: string,
	value: Value,
	row: Row,
	typeName: string,
): JsonValue {
	const given =
		typeof value === "string"
			? row[value]
			: typeof value === "function"
				? value(row)
				: value.read(row);
	return coerce(field, given ?? null, typeName);
}

const TRUE = new Set<unknown>([true, 1, "1", "t", "true", "Y", "y"]);
const FALSE = new Set<unknown>([false, 0, "0", "f", "false", "N", "n"]);

/** Old databases have numbers for booleans, texts for large numbers, and bytes for texts. */
function coerce(field: string, given: unknown, typeName: string): JsonValue {
	if (given === null) return null;
	if (given instanceof Uint8Array) {
		const bytes = Buffer.from(given);
		if (!isUtf8(bytes)) {
			throw new MappingError(`${field} is not UTF-8`);
		}
		return coerce(field, bytes.toString("utf8"), typeName);
	}
	if (given instanceof Date) return given.toISOString();
	if (typeName === "Boolean") {
		if (TRUE.has(given)) return true;
		if (FALSE.has(given)) return false;
	}
	const isNumber = typeName === "Int" || typeName === "Float";
	if (isNumber && typeof given === "string" && given.trim() !== "") {
		const number = Number(given);
		if (Number.isFinite(number)) return number;
	}
	if (
		typeName === "String" &&
		(typeof given === "number" || typeof given === "bigint")
	) {
		return String(given);
	}
	if (typeof given === "string" && !given.isWellFormed()) {
		throw new MappingError(`${field} has half of a surrogate pair`);
	}
	return given as JsonValue;
}
