import {
	type GraphQLNamedType,
	type GraphQLOutputType,
	isEnumType,
	isListType,
	isNonNullType,
	isObjectType,
	isScalarType,
	isSpecifiedScalarType,
} from "graphql";
import type { JsonValue } from "../util/json.ts";
import { quoted } from "../util/quoted.ts";
import { DATE_TIME_EXAMPLE, isDateTime } from "./dateTime.ts";

/** Whether an object may have fields that its type does not: in input it may not; in stored data one may be left of a field that the SDL had. */
type UnknownFields = "refused" | "ignored";

/** Why a value is not of a field's type, as `must be Int, got "1"`; null if it is. */
export function typeProblem(
	type: GraphQLOutputType,
	value: JsonValue,
	unknownFields: UnknownFields = "refused",
): string | null {
	if (isNonNullType(type)) {
		return value === null
			? `must be ${type}, got null`
			: typeProblem(type.ofType, value, unknownFields);
	}
	if (value === null) return null;
	if (isListType(type)) {
		if (!Array.isArray(value)) return expected(type, value);
		return first(
			value.map((item) => typeProblem(type.ofType, item, unknownFields)),
		);
	}
	if (isEnumType(type)) {
		return typeof value === "string" && type.getValue(value)
			? null
			: expected(type, value);
	}
	if (isObjectType(type)) {
		if (typeof value !== "object" || Array.isArray(value)) {
			return expected(type, value);
		}
		const fields = type.getFields();
		const given = value as { readonly [key: string]: JsonValue };
		return first([
			...Object.keys(given)
				.filter(
					(key) => unknownFields === "refused" && !Object.hasOwn(fields, key),
				)
				.map((key) => `must be ${type}, which has no field ${quoted(key)}`),
			...Object.values(fields).map((field) =>
				typeProblem(field.type, given[field.name] ?? null, unknownFields),
			),
		]);
	}
	return isScalarType(type) && isScalar(type.name, value)
		? null
		: expected(type, value);
}

function isScalar(name: string, value: JsonValue): boolean {
	switch (name) {
		case "Int":
			return Number.isInteger(value) && value === ((value as number) | 0);
		case "Float":
			// JSON spells 1e999, which JavaScript reads as Infinity.
			return Number.isFinite(value);
		case "Boolean":
			return typeof value === "boolean";
		case "DateTime":
			return typeof value === "string" && isDateTime(value);
		default:
			// ID, String and custom scalars, which are text in JSON.
			return typeof value === "string";
	}
}

/** The extensions of a scalar whose values in the process, in JSON and in storage are the same text. */
export const TEXT_FORMAT = { format: "text" } as const;

/** Whether a scalar of the SDL's own is text in JSON, as it is but for DateTime, whose text has one form. */
export function isTextScalar(type: GraphQLNamedType): boolean {
	return (
		isScalarType(type) &&
		!isSpecifiedScalarType(type) &&
		type.name !== "DateTime"
	);
}

function expected(type: GraphQLOutputType, value: JsonValue): string {
	return `must be ${type}${whatFits(type)}, got ${quoted(value)}`;
}

/** What the name of a type does not say. */
function whatFits(type: GraphQLOutputType): string {
	if (String(type) === "DateTime") return `, such as ${DATE_TIME_EXAMPLE}`;
	if (!isEnumType(type)) return "";
	const values = type.getValues().map(({ name }) => name);
	return values.length > MAX_VALUES ? "" : `, one of ${values.join(", ")}`;
}

/** A sentence names all values of an enum that has no more than this. */
const MAX_VALUES = 20;

function first(problems: readonly (string | null)[]): string | null {
	return problems.find((problem) => problem !== null) ?? null;
}
