import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { coercePageArguments } from "../../src/plan/pageArguments.ts";

describe("connection arguments", () => {
	const accepted: readonly [string, object, object][] = [
		["no arguments select the first 20", {}, { first: 20 }],
		[
			"null counts as absent",
			{ first: null, after: null, last: null, before: null },
			{ first: 20 },
		],
		["0 is a valid size", { first: 0 }, { first: 0 }],
		["100 is a valid size", { last: 100 }, { last: 100 }],
		[
			"after alone selects the next 20",
			{ after: "c" },
			{ first: 20, after: "c" },
		],
		[
			"before alone selects the previous 20",
			{ before: "c" },
			{ last: 20, before: "c" },
		],
		[
			"after with before selects from the start of the range",
			{ after: "a", before: "b" },
			{ first: 20, after: "a", before: "b" },
		],
		[
			"first with before selects from the start",
			{ first: 3, before: "b" },
			{ first: 3, before: "b" },
		],
		[
			"last with after selects from the end",
			{ last: 3, after: "a" },
			{ last: 3, after: "a" },
		],
		["an empty cursor is none", { after: "", before: "" }, { first: 20 }],
		[
			"an empty cursor is none, before which the last of the list are",
			{ last: 3, before: "" },
			{ last: 3 },
		],
	];
	for (const [name, given, expected] of accepted) {
		test(name, () =>
			assert.deepEqual(coercePageArguments({ ...given }), expected),
		);
	}

	const rejected: readonly [string, object, string][] = [
		[
			"first together with last",
			{ first: 1, last: 1 },
			"first and last cannot be used together.",
		],
		[
			"a negative size",
			{ first: -1 },
			"first must be between 0 and 100, got -1.",
		],
		[
			"a size above 100",
			{ last: 101 },
			"last must be between 0 and 100, got 101.",
		],
		["a fraction", { first: 1.5 }, "first must be an integer, got 1.5."],
		["NaN", { first: Number.NaN }, "first must be an integer, got NaN."],
	];
	for (const [name, given, message] of rejected) {
		test(`${name} is rejected`, () => {
			assert.throws(
				() => coercePageArguments({ ...given }),
				(error) =>
					error instanceof CorkboardError &&
					error.code === "BAD_USER_INPUT" &&
					error.message === message,
			);
		});
	}
});
