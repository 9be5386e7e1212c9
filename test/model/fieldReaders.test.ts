import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyFields } from "../../src/model/types.ts";
import type { JsonValue } from "../../src/util/json.ts";
import { theFieldReaders, theModel } from "../helpers/model.ts";

const { model } = theModel();

function read(type: string, field: string, given: JsonValue) {
	return theFieldReaders().readerOf(type, field)(given);
}

describe("field readers", () => {
	it("trim text and store nothing for blank text, as mutations do", () => {
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

	it("reject what mutations reject", () => {
		for (const [type, field, given, problem] of [
			[
				"User",
				"username",
				"x y",
				'must be 3 to 30 of A-Z a-z 0-9 _, got "x y"',
			],
			[
				"User",
				"name",
				"n".repeat(101),
				"must have at most 100 characters, got 101",
			],
			["User", "bio", "a\0b", "must not contain a NUL character"],
			[
				"User",
				"website",
				"ftp://example.com",
				'must be an http or https address, got "ftp://example.com"',
			],
			[
				"Pin",
				"image",
				{ url: "a.jpg", width: 0 },
				'.url must be an http or https address, got "a.jpg"; .width must be a positive number of pixels, got 0',
			],
			[
				"Interest",
				"slug",
				"Bread",
				'must be 1 to 100 of a-z 0-9 -, got "Bread"',
			],
		] as const) {
			assert.deepEqual(read(type, field, given), { problem });
		}
	});

	it("check the SDL's type before the validator", () => {
		assert.deepEqual(read("User", "username", 7), {
			problem: "must be String, got 7",
		});
	});

	it("have a validator for every stored text field", () => {
		const unruled = [...model.objects.values()].flatMap((type) =>
			[...type.stored, ...keyFields(type)]
				.filter(({ field }) => !("problem" in read(type.name, field, "\0")))
				.map(({ field }) => `${type.name}.${field}`),
		);
		assert.deepEqual(unruled, []);
	});
});
