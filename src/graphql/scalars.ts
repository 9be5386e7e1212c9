import {
	GraphQLError,
	GraphQLID,
	type GraphQLScalarType,
	type GraphQLSchema,
	GraphQLString,
	isScalarType,
	Kind,
} from "graphql";
import { DATE_TIME_EXAMPLE, isDateTime } from "../model/dateTime.ts";
import { isTextScalar, TEXT_FORMAT } from "../model/typeChecks.ts";
import { quoted } from "../util/quoted.ts";

/** RFC 3339 §5.6 without leap seconds, which JavaScript dates cannot hold. */
const RFC_3339 =
	/^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Gives the scalars of the public schema their parsers and serializers, which
 * the SDL cannot declare. Changes the schema and returns it.
 */
export function applyScalars(schema: GraphQLSchema): GraphQLSchema {
	const type = schema.getType("DateTime");
	if (isScalarType(type)) applyDateTime(type);
	for (const each of Object.values(schema.getTypeMap())) {
		if (isScalarType(each) && isTextScalar(each)) applyText(each);
	}
	// graphql-js has one ID for all schemas.
	GraphQLID.parseValue = parseIdValue;
	return schema;
}

/**
 * An id in the variables of a request, as text. `JSON.parse` rounds numbers above
 * 2^53, and the rounded number is the id of another object. A number in a document
 * is not rounded: its digits are in the text.
 */
function parseIdValue(given: unknown): string {
	if (typeof given === "string") return given;
	if (Number.isSafeInteger(given)) return String(given);
	throw new GraphQLError(
		typeof given === "number"
			? "ID must be a string: a number in JSON has exact digits only up to 9007199254740991. Send the id in quotes."
			: `ID must be a string, got ${quoted(given)}.`,
	);
}

function applyDateTime(type: GraphQLScalarType): void {
	type.serialize = serializeDateTime;
	type.parseValue = parseDateTime;
	type.parseLiteral = (node) => {
		if (node.kind !== Kind.STRING) {
			throw new GraphQLError(`DateTime must be a string, got ${node.kind}.`, {
				nodes: node,
			});
		}
		return parseDateTime(node.value);
	};
}

/** A scalar that is text: what the text may be is for the validators of the fields to say. */
function applyText(type: GraphQLScalarType): void {
	type.extensions = { ...type.extensions, ...TEXT_FORMAT };
	type.serialize = (value) => GraphQLString.serialize(value);
	type.parseValue = (given) => {
		if (typeof given === "string") return given;
		throw new GraphQLError(`${type.name} must be text, got ${quoted(given)}.`);
	};
	type.parseLiteral = (node) => {
		if (node.kind === Kind.STRING) return node.value;
		throw new GraphQLError(`${type.name} must be text, got ${node.kind}.`, {
			nodes: node,
		});
	};
}

/** A date from the server, a `Date` or text, as clients get it. */
export function serializeDateTime(date: unknown): string {
	// Stored values have this form and are not parsed again.
	if (typeof date === "string" && isDateTime(date)) return date;
	return canonical(date instanceof Date ? printed(date) : date);
}

/** A date from a client, as it is stored: in UTC, truncated to milliseconds. */
export function parseDateTime(given: unknown): string {
	return canonical(given);
}

function canonical(given: unknown): string {
	const parts = typeof given === "string" ? RFC_3339.exec(given) : null;
	if (parts && isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) {
		const text = printed(new Date(parts[0].toUpperCase()));
		// An offset can move the first or last day out of the years 0 to 9999.
		if (isDateTime(text)) return text;
	}
	throw new GraphQLError(
		`DateTime must be an RFC 3339 date and time, such as ${DATE_TIME_EXAMPLE}, got ${quoted(given)}.`,
	);
}

function printed(date: Date): string {
	return Number.isNaN(date.getTime()) ? "Invalid Date" : date.toISOString();
}

/** Whether the day exists: `Date` turns February 30 into a day in March. */
function isDay(year: number, month: number, day: number): boolean {
	const date = new Date(0);
	date.setUTCFullYear(year, month - 1, day);
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
