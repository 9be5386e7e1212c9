import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { quoted } from "../../src/util/quoted.ts";

describe("quoting what a client sent", () => {
	it("shortens it", () => {
		assert.equal(
			quoted("a".repeat(1_000_000)),
			`"${"a".repeat(40)}"… (1000000 characters)`,
		);
	});

	it("escapes what would change the line it stands in", () => {
		assert.equal(
			quoted('"\n\0\u001b[31m\u202e\u2028\ud83c'),
			'"\\"\\n\\u0000\\u001b[31m\\u{202e}\\u{2028}\\ud83c"',
		);
	});

	it("names what is no text by its kind", () => {
		assert.equal(quoted(null), "nothing");
		assert.equal(quoted(undefined), "nothing");
		assert.equal(quoted(true), "true");
		assert.equal(quoted([1]), "a list");
		assert.equal(quoted({}), "a value of type object");
	});
});
