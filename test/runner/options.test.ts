import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { matchFiles, readRunOptions } from "./options.ts";

const FILES = [
	"test/id/ids.test.ts",
	"test/util/json.test.ts",
	"test/words.test.ts",
];

describe("the options of a test run", () => {
	test("are patterns, embedded, or --accept", () => {
		const whole = { patterns: [], isEmbedded: false, accept: false };
		assert.deepEqual(readRunOptions([]), whole);
		assert.deepEqual(readRunOptions(["--accept"]), { ...whole, accept: true });
		assert.deepEqual(readRunOptions(["embedded"]), {
			...whole,
			isEmbedded: true,
		});
		assert.deepEqual(readRunOptions(["ids", "json"]), {
			...whole,
			patterns: ["ids", "json"],
		});
		assert.equal(readRunOptions(["ids", "--help"]), null);
	});

	test("are refused if they are unknown or contradict each other", () => {
		assert.throws(() => readRunOptions(["--quick"]), /'--quick'/);
		assert.throws(() => readRunOptions(["--accept=yes"]), /'--accept'/);
		assert.throws(
			() => readRunOptions(["embedded", "ids"]),
			/embedded takes no patterns/,
		);
		assert.throws(
			() => readRunOptions(["--accept", "ids"]),
			/--accept takes no patterns/,
		);
		assert.throws(() => readRunOptions([""]), /A pattern is empty/);
	});

	test("choose the files that hold any of the patterns, each once, and name the patterns that no file holds", () => {
		assert.deepEqual(matchFiles(FILES, []), { chosen: FILES, unmatched: [] });
		assert.deepEqual(matchFiles(FILES, ["words", "id/", "ids"]), {
			chosen: ["test/id/ids.test.ts", "test/words.test.ts"],
			unmatched: [],
		});
		assert.deepEqual(matchFiles(FILES, ["json", "no/such", "nor/this"]), {
			chosen: ["test/util/json.test.ts"],
			unmatched: ["no/such", "nor/this"],
		});
	});
});
