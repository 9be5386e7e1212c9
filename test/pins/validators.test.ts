import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { email, image, slugs, username } from "../../pins/validators.ts";
import { boolean, text, webAddress } from "../../src/model/validation.ts";
import { quoted } from "../../src/util/quoted.ts";
import { assertValid, problemsOf } from "../helpers/validating.ts";

describe("text", () => {
	it("is trimmed", () => {
		assertValid(text(5), " \n hello\t", "hello");
	});

	it("is stored as null when it is blank", () => {
		assertValid(text(5), "", null);
		assertValid(text(5), "  \n", null);
	});

	it("is measured in code points after trimming", () => {
		assertValid(text(3), " 🍞🧈🍯 ", "🍞🧈🍯");
		assert.deepEqual(problemsOf(text(3), "🍞🧈🍯."), [
			"must have at most 3 characters, got 4",
		]);
	});

	it("may have exactly the maximum length", () => {
		assertValid(text(1_000), "a".repeat(1_000), "a".repeat(1_000));
		assert.deepEqual(problemsOf(text(1_000), "a".repeat(1_001)), [
			"must have at most 1000 characters, got 1001",
		]);
	});

	it("must not contain NUL", () => {
		assert.deepEqual(problemsOf(text(9), "a\0b"), [
			"must not contain a NUL character",
		]);
	});

	it("keeps line breaks and other characters inside", () => {
		assertValid(text(9), "a\n\tb", "a\n\tb");
	});

	it("must not contain an unpaired surrogate", () => {
		assert.deepEqual(problemsOf(text(9), "a\ud83c"), [
			"must not contain an unpaired surrogate",
		]);
	});

	it("must be a string", () => {
		assert.deepEqual(problemsOf(text(9), 3), ["must be text, got 3"]);
	});
});

describe("a web address", () => {
	it("must be http or https and is stored as given", () => {
		for (const given of [
			"http://example.com",
			"https://example.com/a?b=c#d",
			"HTTPS://EXAMPLE.com:8443/",
			"https://example.com/schöne-küche",
		]) {
			assertValid(webAddress, given, given);
		}
	});

	it("is trimmed, and stored as null when blank", () => {
		assertValid(webAddress, " https://example.com ", "https://example.com");
		assertValid(webAddress, " ", null);
	});

	it("must not have another scheme or be malformed", () => {
		for (const given of [
			"javascript:alert(1)",
			"ftp://example.com",
			"data:text/html,hi",
			"//example.com",
			"example.com",
			"http:example.com",
			"http://",
			"http://exa mple.com",
			"http://exam\nple.com",
			"https://[::1",
		]) {
			assert.deepEqual(problemsOf(webAddress, given), [
				`must be an http or https address, got ${quoted(given)}`,
			]);
		}
	});

	it("must have at most 2,048 characters", () => {
		const longest = `https://example.com/${"a".repeat(2_028)}`;
		assertValid(webAddress, longest, longest);
		assert.deepEqual(problemsOf(webAddress, `${longest}a`), [
			"must have at most 2048 characters, got 2049",
		]);
	});
});

describe("a username", () => {
	it("must be 3 to 30 of A-Z a-z 0-9 _ and is stored as given", () => {
		for (const given of ["abc", "Ada_Made_Up", "_09", "x".repeat(30)]) {
			assertValid(username, given, given);
		}
	});

	it("must not be anything else", () => {
		for (const given of [
			"",
			"ab",
			"x".repeat(31),
			"ada-made-up",
			"ada made up",
			" ada",
			"ada\n",
			"adä",
			"ad\0a",
			7,
		]) {
			assert.deepEqual(problemsOf(username, given), [
				`must be 3 to 30 of A-Z a-z 0-9 _, got ${quoted(given)}`,
			]);
		}
	});
});

describe("an e-mail address", () => {
	it("is trimmed and otherwise stored as given", () => {
		assertValid(email, " Ada@Example.com ", "Ada@Example.com");
		assertValid(email, "", null);
	});

	it("must have one @ with text on both sides and no spaces", () => {
		for (const given of ["ada", "@b", "a@", "a@b@c", "a b@c", "a@b\u0007"]) {
			assert.deepEqual(problemsOf(email, given), [
				"must be an e-mail address: one @, no spaces",
			]);
		}
	});

	it("must have at most 254 characters", () => {
		const longest = `${"a".repeat(252)}@b`;
		assertValid(email, longest, longest);
		assert.deepEqual(problemsOf(email, `${longest}b`), [
			"must have at most 254 characters, got 255",
		]);
	});
});

describe("an image", () => {
	it("is stored with its given parts only", () => {
		assert.deepEqual(
			image({
				url: " https://example.com/a.jpg ",
				width: 640,
				height: 480,
				alt: " A loaf ",
			}),
			{
				value: {
					url: "https://example.com/a.jpg",
					width: 640,
					height: 480,
					alt: "A loaf",
				},
			},
		);
		assert.deepEqual(
			image({ url: "https://example.com/a.jpg", width: null, alt: " " }),
			{ value: { url: "https://example.com/a.jpg" } },
		);
	});

	it("has the problems of all its parts", () => {
		assert.deepEqual(
			problemsOf(image, {
				url: "ftp://example.com",
				width: 0,
				height: -1,
				alt: "a".repeat(501),
			}),
			[
				'.url must be an http or https address, got "ftp://example.com"',
				".width must be a positive number of pixels, got 0",
				".height must be a positive number of pixels, got -1",
				".alt must have at most 500 characters, got 501",
			],
		);
	});

	it("must have a URL and whole numbers of pixels", () => {
		assert.deepEqual(problemsOf(image, { url: " ", width: 1.5 }), [
			".url must not be empty",
			".width must be a positive number of pixels, got 1.5",
		]);
		assert.deepEqual(problemsOf(image, "a.jpg"), [
			'must be an image, got "a.jpg"',
		]);
	});
});

describe("slugs", () => {
	it("are stored in order without repetition", () => {
		assert.deepEqual(slugs(["bread", "home-decor", "bread", "90s"]), {
			value: ["bread", "home-decor", "90s"],
		});
	});

	it("must consist of a-z 0-9 -, and each that does not is reported with its index", () => {
		assert.deepEqual(problemsOf(slugs, ["Bread", "ok", "", "a b"]), [
			'[0] must be 1 to 100 of a-z 0-9 -, got "Bread"',
			'[2] must be 1 to 100 of a-z 0-9 -, got ""',
			'[3] must be 1 to 100 of a-z 0-9 -, got "a b"',
		]);
		assert.equal(problemsOf(slugs, ["a".repeat(101)]).length, 1);
	});

	it("must be at most 10", () => {
		const eleven = Array.from({ length: 11 }, (_, at) => `s${at}`);
		assert.deepEqual(slugs(eleven.slice(0, 10)), {
			value: eleven.slice(0, 10),
		});
		assert.deepEqual(problemsOf(slugs, eleven), [
			"must have at most 10 slugs, got 11",
		]);
	});

	it("must be a list", () => {
		assert.deepEqual(problemsOf(slugs, "bread"), [
			'must be a list of slugs, got "bread"',
		]);
	});
});

describe("a boolean", () => {
	it("must be true or false", () => {
		assertValid(boolean, true, true);
		assertValid(boolean, false, false);
		assert.deepEqual(problemsOf(boolean, "true"), [
			'must be true or false, got "true"',
		]);
	});
});
