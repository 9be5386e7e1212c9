import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseDocumentFile } from "../../../src/server/documents/parseDocumentFile.ts";

function parsed(json: unknown) {
	return parseDocumentFile(
		"f.json",
		typeof json === "string" ? json : JSON.stringify(json),
	);
}

const manifest = (operations: unknown) => ({
	format: "apollo-persisted-query-manifest",
	version: 1,
	operations,
});

describe("a document file", () => {
	test("is Relay's object of texts by id", () => {
		assert.deepEqual(parsed({ a: "{ x }", b: "{ y }" }), {
			documents: [
				{ id: "a", text: "{ x }" },
				{ id: "b", text: "{ y }" },
			],
			problems: [],
		});
	});

	test("is empty before Relay's compiler has run", () => {
		assert.deepEqual(parsed({}), { documents: [], problems: [] });
	});

	test("is Apollo's manifest", () => {
		const operation = { id: "a", body: "{ x }", name: "X", type: "query" };
		assert.deepEqual(parsed(manifest([operation])), {
			documents: [{ id: "a", text: "{ x }" }],
			problems: [],
		});
	});

	const refused: Record<string, [unknown, readonly string[]]> = {
		"no object": [
			[],
			[
				"f.json: must be Apollo's manifest or Relay's object of texts by id, got a list",
			],
		],
		"a manifest of another format": [
			{ format: "mine", version: 1, operations: [] },
			[
				'f.json: format must be "apollo-persisted-query-manifest", version 1, got "mine", version 1',
			],
		],
		"operations that are no list": [
			manifest({}),
			["f.json: operations must be a list, got an object"],
		],
		"ids that nobody could send, and texts that are none": [
			{ "a b": "{ x }", ["x".repeat(201)]: "{ x }", c: null },
			[
				'f.json: document 1: the id must have 1 to 200 visible ASCII characters, got "a b"',
				`f.json: document 2: the id must have 1 to 200 visible ASCII characters, got "${"x".repeat(200)}"`,
				"f.json: document c: the text must be a string, got nothing",
			],
		],
		"an operation without an id, and two with one": [
			manifest([
				{ body: "{ x }" },
				{ id: "a", body: "{ x }" },
				{ id: "a", body: "{ y }" },
				7,
			]),
			[
				"f.json: document 1: the id must have 1 to 200 visible ASCII characters, got nothing",
				"f.json: document a: occurs twice, with different texts",
				"f.json: document 4: the id must have 1 to 200 visible ASCII characters, got nothing",
			],
		],
	};
	for (const [which, [json, problems]] of Object.entries(refused)) {
		test(`is rejected with ${which}`, () => {
			assert.deepEqual(parsed(json).problems, problems);
		});
	}

	test("is rejected with the parser's message if it is not JSON", () => {
		assert.match(String(parsed("{,").problems), /^f\.json: not valid JSON: /);
	});
});
