import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storedFaults } from "../../src/graphql/input/storedFaults.ts";
import { model, schema } from "../helpers/resolving.ts";

const faultOf = storedFaults(schema);

describe("the values of an import", () => {
	it("are held to the rules of mutations", () => {
		for (const [type, field, value, fault] of [
			["User", "username", "ada_made_up", null],
			[
				"User",
				"username",
				"x y",
				'expected 3 to 30 of A-Z a-z 0-9 _ but got: "x y"',
			],
			["User", "name", "n".repeat(100), null],
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
			["Pin", "image", { url: "https://example.com/a.jpg", width: 640 }, null],
			[
				"Pin",
				"image",
				{ url: "a.jpg", width: 0 },
				'.url expected an http or https address but got: "a.jpg"; .width expected a positive number of pixels but got: 0',
			],
			["Interest", "slug", "home-decor", null],
			[
				"Interest",
				"slug",
				"Bread",
				'expected 1 to 100 of a-z 0-9 - but got: "Bread"',
			],
			["Board", "description", null, null],
		] as const) {
			assert.equal(faultOf(type, field, value), fault);
		}
	});

	it("are told first that their type is wrong", () => {
		assert.equal(faultOf("User", "username", 7), "must be String but got: 7");
	});

	it("have a rule wherever they are text of a client's", () => {
		const unruled = [...model.objects.values()].flatMap(
			({ name, stored, lookups }) =>
				[...stored, ...lookups]
					.filter(({ field }) => faultOf(name, field, "\0") === null)
					.map(({ field }) => `${name}.${field}`),
		);
		assert.deepEqual(unruled, []);
	});
});
