import { type GraphQLType, isScalarType, isSpecifiedScalarType } from "graphql";
import { TEXT_FORMAT } from "../model/typeChecks.ts";

/**
 * Scalars whose values are mostly themselves, in the process as in JSON:
 * strings, integers of 32 bits and booleans. A value that is one needs neither
 * `serialize` nor `parseValue`.
 */
export type ScalarFormat = "text" | "integer" | "boolean" | "other";

const FORMATS: Readonly<Record<string, ScalarFormat>> = {
	ID: "text",
	String: "text",
	Int: "integer",
	Boolean: "boolean",
};

export function scalarFormat(type: GraphQLType): ScalarFormat {
	if (!isScalarType(type)) return "other";
	if (isSpecifiedScalarType(type)) return FORMATS[type.name] ?? "other";
	return type.extensions.format === TEXT_FORMAT.format ? "text" : "other";
}

/** Whether a value needs no conversion. */
export function hasFormat(format: ScalarFormat, value: unknown): boolean {
	switch (typeof value) {
		case "string":
			return format === "text";
		case "number":
			return format === "integer" && (value | 0) === value;
		case "boolean":
			return format === "boolean";
		default:
			return false;
	}
}
