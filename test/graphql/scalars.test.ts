import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildSchema, GraphQLError, isScalarType, parseValue } from "graphql";
import {
	applyScalars,
	parseDateTime,
	serializeDateTime,
} from "../../src/graphql/scalars.ts";
import { theModel } from "../helpers/model.ts";

describe("DateTime", () => {
	it("serializes a stored date unchanged", () => {
		assert.equal(
			serializeDateTime("2026-01-31T12:00:00.000Z"),
			"2026-01-31T12:00:00.000Z",
		);
	});

	it("serializes a Date in UTC with milliseconds", () => {
		assert.equal(
			serializeDateTime(new Date(Date.UTC(2026, 0, 31, 12, 0, 0, 7))),
			"2026-01-31T12:00:00.007Z",
		);
	});

	it("serializes any other RFC 3339 form in UTC with milliseconds", () => {
		assert.equal(
			serializeDateTime("2026-01-31T12:00:00+02:00"),
			"2026-01-31T10:00:00.000Z",
		);
	});

	it("parses every offset, precision and case of RFC 3339", () => {
		for (const [given, parsed] of [
			["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
			["2026-01-31t12:00:00z", "2026-01-31T12:00:00.000Z"],
			["2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.500Z"],
			["2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00.123Z"],
			["2026-01-31T23:30:00-01:00", "2026-02-01T00:30:00.000Z"],
			["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
			["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
		] as const) {
			assert.equal(parseDateTime(given), parsed, given);
		}
	});

	it("refuses a value that is not an RFC 3339 date and time", () => {
		for (const given of [
			"",
			"yesterday",
			"2026-01-31",
			"2026-01-31T12:00:00",
			"2026-01-31 12:00:00Z",
			"2026-02-30T12:00:00Z",
			"2026-13-01T12:00:00Z",
			"2026-00-01T12:00:00Z",
			"2026-01-31T24:00:00Z",
			"2026-01-31T12:60:00Z",
			"2026-01-31T12:00:00+24:00",
			"0000-01-01T00:00:00+01:00",
			"9999-12-31T23:59:59-01:00",
			" 2026-01-31T12:00:00Z",
			1_769_860_800_000,
			null,
			{},
		]) {
			assert.throws(
				() => parseDateTime(given),
				(thrown) =>
					thrown instanceof GraphQLError &&
					thrown.message.startsWith(
						"DateTime must be an RFC 3339 date and time, such as 2026-01-31T12:00:00.000Z, got ",
					),
				String(given),
			);
		}
	});

	it("refuses to serialize an invalid Date", () => {
		assert.throws(
			() => serializeDateTime(new Date(Number.NaN)),
			/got "Invalid Date"\.$/,
		);
	});
});

describe("applyScalars", () => {
	const { schema } = theModel();

	it("attaches DateTime to the public schema, for values and for literals", () => {
		assert.equal(applyScalars(schema), schema);
		const type = schema.getType("DateTime");
		assert.ok(isScalarType(type));
		assert.equal(
			type.serialize("2026-01-31T12:00:00Z"),
			"2026-01-31T12:00:00.000Z",
		);
		assert.equal(
			type.parseValue("2026-01-31T12:00:00Z"),
			"2026-01-31T12:00:00.000Z",
		);
		assert.equal(
			type.parseLiteral(parseValue('"2026-01-31T12:00:00Z"')),
			"2026-01-31T12:00:00.000Z",
		);
		assert.throws(
			() => type.parseLiteral(parseValue("2026")),
			/DateTime must be a string, got IntValue\./,
		);
	});

	it("lets ID take strings and exact integers, and no number that JSON may have rounded", () => {
		applyScalars(schema);
		const type = schema.getType("ID");
		assert.ok(isScalarType(type));
		for (const [given, id] of [
			["9011597301252097", "9011597301252097"],
			["", ""],
			[12, "12"],
			[-1, "-1"],
			[2 ** 53 - 1, "9007199254740991"],
		]) {
			assert.equal(type.parseValue(given), id);
		}
		for (const given of [2 ** 53, -(2 ** 53), 1e21, 4.5, Number.NaN]) {
			assert.throws(
				() => type.parseValue(given),
				/^ID must be a string: .* Send the id in quotes\.$/,
			);
		}
		for (const given of [true, {}, [1]]) {
			assert.throws(() => type.parseValue(given), /ID must be a string, got/);
		}
		// The digits of a literal are never a JavaScript number.
		assert.equal(
			type.parseLiteral(parseValue("9007199254740993")),
			"9007199254740993",
		);
	});

	it("takes a schema without a DateTime: a graph may have no times", () => {
		const schema = buildSchema("type Query { a: Int }");
		assert.equal(applyScalars(schema), schema);
	});
});
