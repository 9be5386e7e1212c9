import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { coercePageArguments } from "../../src/plan/pageArguments.ts";

describe("the arguments of a connection", () => {
	const taken: readonly [string, object, object][] = [
		["nothing given is the first 20", {}, { first: 20 }],
		[
			"null is not given",
			{ first: null, after: null, last: null, before: null },
			{ first: 20 },
		],
		["0 is a size", { first: 0 }, { first: 0 }],
		["100 is a size", { last: 100 }, { last: 100 }],
		[
			"after alone is the 20 that follow",
			{ after: "c" },
			{ first: 20, after: "c" },
		],
		[
			"before alone is the 20 just before",
			{ before: "c" },
			{ last: 20, before: "c" },
		],
		[
			"both cursors bound a range, from its start",
			{ after: "a", before: "b" },
			{ first: 20, after: "a", before: "b" },
		],
		[
			"first keeps its direction before a cursor",
			{ first: 3, before: "b" },
			{ first: 3, before: "b" },
		],
		[
			"last keeps its direction after a cursor",
			{ last: 3, after: "a" },
			{ last: 3, after: "a" },
		],
		[
			"an empty cursor is one, for the graph to refuse",
			{ after: "" },
			{ first: 20, after: "" },
		],
	];
	for (const [name, given, expected] of taken) {
		test(name, () =>
			assert.deepEqual(coercePageArguments({ ...given }), expected),
		);
	}

	const refused: readonly [string, object, string][] = [
		[
			"first with last",
			{ first: 1, last: 1 },
			"first and last cannot be used together.",
		],
		[
			"a negative size",
			{ first: -1 },
			"first must be between 0 and 100, got -1.",
		],
		[
			"more than 100",
			{ last: 101 },
			"last must be between 0 and 100, got 101.",
		],
		["a part of one", { first: 1.5 }, "first must be an integer, got 1.5."],
		[
			"what is no number",
			{ first: Number.NaN },
			"first must be an integer, got NaN.",
		],
	];
	for (const [name, given, message] of refused) {
		test(`refuses ${name}`, () => {
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
