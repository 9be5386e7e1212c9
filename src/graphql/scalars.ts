import { GraphQLError, type GraphQLSchema, isScalarType, Kind } from "graphql";
import { quoted } from "../util/quoted.ts";

/** `2026-01-31T12:00:00.000Z`, as `toISOString` writes it: what is stored needs no second reading. */
const CANONICAL =
	/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** RFC 3339 §5.6, leap seconds left out: no clock here shows them. */
const RFC_3339 =
	/^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Give the scalars of the public schema their behaviour: the SDL names them
 * only. Changes the schema it is given, and answers it.
 */
export function applyScalars(schema: GraphQLSchema): GraphQLSchema {
	const type = schema.getType("DateTime");
	if (!isScalarType(type)) {
		throw new TypeError(
			`expected a schema with a scalar DateTime but got: ${type ?? "none"}`,
		);
	}
	type.serialize = serializeDateTime;
	type.parseValue = parseDateTime;
	type.parseLiteral = (node) => {
		if (node.kind !== Kind.STRING) {
			throw new GraphQLError(
				`DateTime: expected a string but got: ${node.kind}`,
				{ nodes: node },
			);
		}
		return parseDateTime(node.value);
	};
	return schema;
}

/** A moment from our own side, a `Date` or text, as clients get it. */
export function serializeDateTime(moment: unknown): string {
	if (typeof moment === "string" && CANONICAL.test(moment)) return moment;
	return canonical(moment instanceof Date ? printed(moment) : moment);
}

/** A moment a client sent, as it is stored: in UTC, with milliseconds, what is finer cut off. */
export function parseDateTime(given: unknown): string {
	return canonical(given);
}

function canonical(given: unknown): string {
	const parts = typeof given === "string" ? RFC_3339.exec(given) : null;
	if (parts && isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) {
		const text = printed(new Date(parts[0].toUpperCase()));
		// An offset can carry the first and last day out of the years 0 to 9999.
		if (CANONICAL.test(text)) return text;
	}
	throw new GraphQLError(
		`DateTime: expected a moment in RFC 3339, such as 2026-01-31T12:00:00.000Z, but got: ${quoted(given)}`,
	);
}

function printed(moment: Date): string {
	return Number.isNaN(moment.getTime()) ? "Invalid Date" : moment.toISOString();
}

/** `Date` turns the 30th of February into a day in March. */
function isDay(year: number, month: number, day: number): boolean {
	const date = new Date(0);
	date.setUTCFullYear(year, month - 1, day);
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
