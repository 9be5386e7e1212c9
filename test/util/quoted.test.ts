import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { quoted } from "../../src/util/quoted.ts";

describe("quoted", () => {
	it("shortens a long text and gives its length", () => {
		assert.equal(
			quoted("a".repeat(1_000_000)),
			`"${"a".repeat(40)}"… (1000000 characters)`,
		);
	});

	it("escapes characters that would alter the line around them", () => {
		assert.equal(
			quoted('"\n\0\u001b[31m\u202e\u2028\ud83c'),
			'"\\"\\n\\u0000\\u001b[31m\\u{202e}\\u{2028}\\ud83c"',
		);
	});

	it("names the kind of a value that is not a text", () => {
		assert.equal(quoted(null), "null");
		assert.equal(quoted(undefined), "nothing");
		assert.equal(quoted(true), "true");
		assert.equal(quoted([1]), "a list");
		assert.equal(quoted({}), "an object");
		assert.equal(quoted(1n), "a bigint");
	});
});
