import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFieldReaders } from "../../src/model/fieldReaders.ts";
import type { JsonValue } from "../../src/util/json.ts";
import { theModel } from "../helpers/model.ts";

const { model, schema } = theModel();

function read(type: string, field: string, given: JsonValue) {
	return createFieldReaders(schema)(type, field)(given);
}

describe("the values of an import", () => {
	it("are stored as a mutation stores them: trimmed, nothing for a blank", () => {
		for (const [type, field, given, value] of [
			["User", "username", "ada_made_up", "ada_made_up"],
			["User", "email", " Ada@example.com ", "Ada@example.com"],
			["User", "bio", " \n", null],
			["Board", "name", " Bread\t", "Bread"],
			["Board", "name", "  ", null],
			["Board", "description", null, null],
			["Board", "secret", true, true],
			["Pin", "link", " https://example.com ", "https://example.com"],
			[
				"Pin",
				"image",
				{ url: " https://example.com/a.jpg", width: 640, alt: " " },
				{ url: "https://example.com/a.jpg", width: 640 },
			],
			["Interest", "slug", "home-decor", "home-decor"],
			["User", "name", "n".repeat(100), "n".repeat(100)],
		] as const) {
			assert.deepEqual(read(type, field, given), { value });
		}
	});

	it("are held to the rules of mutations", () => {
		for (const [type, field, given, fault] of [
			[
				"User",
				"username",
				"x y",
				'expected 3 to 30 of A-Z a-z 0-9 _ but got: "x y"',
			],
			[
				"User",
				"name",
				"n".repeat(101),
				"expected at most 100 characters but got: 101",
			],
			["User", "bio", "a\0b", "expected text but got a NUL character"],
			[
				"User",
				"website",
				"ftp://example.com",
				'expected an http or https address but got: "ftp://example.com"',
			],
			[
				"Pin",
				"image",
				{ url: "a.jpg", width: 0 },
				'.url expected an http or https address but got: "a.jpg"; .width expected a positive number of pixels but got: 0',
			],
			[
				"Interest",
				"slug",
				"Bread",
				'expected 1 to 100 of a-z 0-9 - but got: "Bread"',
			],
		] as const) {
			assert.deepEqual(read(type, field, given), { fault });
		}
	});

	it("are told first that their type is wrong", () => {
		assert.deepEqual(read("User", "username", 7), {
			fault: "must be String but got: 7",
		});
	});

	it("have a rule wherever they are text of a client's", () => {
		const unruled = [...model.objects.values()].flatMap(
			({ name, stored, lookups }) =>
				[...stored, ...lookups]
					.filter(({ field }) => !("fault" in read(name, field, "\0")))
					.map(({ field }) => `${name}.${field}`),
		);
		assert.deepEqual(unruled, []);
	});
});
