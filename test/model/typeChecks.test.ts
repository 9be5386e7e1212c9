import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { problemsOf } from "./smallModel.ts";

const BEFORE = "width: Int! @stored(default: 1)";

suite("stored fields", () => {
	test("a non-null stored field must have a default", () => {
		assert.deepEqual(problemsOf([["@stored(default: 1)", "@stored"]]), [
			"small.graphql:27: Pin.width is non-null, so it must have a default for rows written before the field existed",
		]);
	});

	test("a default must be of the field's type", () => {
		for (const [type, value, problem] of [
			["Int!", '"1"', 'Int, got "1"'],
			["Int!", "1.5", "Int, got 1.5"],
			["Int!", "null", "Int!, got null"],
			["Int", "2147483648", "Int, got 2147483648"],
			["Float", '"1"', 'Float, got "1"'],
			["Boolean", "0", "Boolean, got 0"],
			["String", "5", "String, got 5"],
			["ID", "5", "ID, got 5"],
			["[Int]", "1", "[Int], got 1"],
			["[Int]", '[1, "x"]', 'Int, got "x"'],
			["[Int!]", "[null]", "Int!, got null"],
			["Mood", "MAD", 'Mood, one of GLAD, SAD, got "MAD"'],
			[
				"DateTime",
				'"soon"',
				'DateTime, such as 2026-01-31T12:00:00.000Z, got "soon"',
			],
			[
				"DateTime",
				'"2026-01-31"',
				'DateTime, such as 2026-01-31T12:00:00.000Z, got "2026-01-31"',
			],
			["Image", "3", "Image, got 3"],
			["Image", '{alt: "x"}', "String!, got null"],
			["Image", '{url: "x", z: 1}', 'Image, which has no field "z"'],
		] as const) {
			assert.deepEqual(
				problemsOf([[BEFORE, `width: ${type} @stored(default: ${value})`]]),
				[`small.graphql:27: the default of Pin.width must be ${problem}`],
			);
		}
	});

	test("a default of the field's type is accepted", () => {
		for (const [type, value] of [
			["Int!", "-2147483648"],
			["Float", "1"],
			["Boolean!", "false"],
			["[Int]", "[1, null]"],
			["Mood!", "SAD"],
			["DateTime", '"2026-01-31T12:00:00.000Z"'],
			["Image", '{url: "x"}'],
			["String", "null"],
		] as const) {
			assert.deepEqual(
				problemsOf([[BEFORE, `width: ${type} @stored(default: ${value})`]]),
				[],
				`${type} = ${value}`,
			);
		}
	});

	test("an object cannot be stored in a field", () => {
		for (const type of ["User", "[User]", "Node"]) {
			assert.deepEqual(
				problemsOf([["image: Image @stored", `image: ${type} @stored`]]),
				[
					`small.graphql:30: Pin.image has @stored, so it must be plain data, got ${type}`,
				],
			);
		}
	});
});
