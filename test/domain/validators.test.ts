import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	email,
	image,
	text,
	username,
	webAddress,
} from "../../src/model/validation.ts";
import { quoted } from "../../src/util/quoted.ts";
import { faults, passes } from "../helpers/validating.ts";

describe("text", () => {
	it("is trimmed", () => {
		passes(text(5), " \n hello\t", "hello");
	});

	it("is null when it is blank", () => {
		passes(text(5), "", null);
		passes(text(5), "  \n", null);
	});

	it("is measured after trimming, in code points", () => {
		passes(text(3), " 🍞🧈🍯 ", "🍞🧈🍯");
		assert.deepEqual(faults(text(3), "🍞🧈🍯."), [
			": expected at most 3 characters but got: 4",
		]);
	});

	it("may be exactly as long as is allowed", () => {
		passes(text(1_000), "a".repeat(1_000), "a".repeat(1_000));
		assert.deepEqual(faults(text(1_000), "a".repeat(1_001)), [
			": expected at most 1000 characters but got: 1001",
		]);
	});

	it("has no NUL", () => {
		assert.deepEqual(faults(text(9), "a\0b"), [
			": expected text but got a NUL character",
		]);
	});

	it("keeps line breaks and other characters within", () => {
		passes(text(9), "a\n\tb", "a\n\tb");
	});

	it("has no unpaired surrogate", () => {
		assert.deepEqual(faults(text(9), "a\ud83c"), [
			": expected text but got an unpaired surrogate",
		]);
	});

	it("is a string", () => {
		assert.deepEqual(faults(text(9), 3), [": expected text but got: 3"]);
	});
});

describe("a web address", () => {
	it("is http or https, and kept as it was given", () => {
		for (const given of [
			"http://example.com",
			"https://example.com/a?b=c#d",
			"HTTPS://EXAMPLE.com:8443/",
			"https://example.com/schöne-küche",
		]) {
			passes(webAddress, given, given);
		}
	});

	it("is trimmed, and null when blank", () => {
		passes(webAddress, " https://example.com ", "https://example.com");
		passes(webAddress, " ", null);
	});

	it("is no other scheme and nothing that only looks like an address", () => {
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
			assert.deepEqual(faults(webAddress, given), [
				`: expected an http or https address but got: ${quoted(given)}`,
			]);
		}
	});

	it("has at most 2,048 characters", () => {
		const longest = `https://example.com/${"a".repeat(2_028)}`;
		passes(webAddress, longest, longest);
		assert.deepEqual(faults(webAddress, `${longest}a`), [
			": expected at most 2048 characters but got: 2049",
		]);
	});
});

describe("a username", () => {
	it("is 3 to 30 of A-Z a-z 0-9 _, kept as it was given", () => {
		for (const given of ["abc", "Ada_Made_Up", "_09", "x".repeat(30)]) {
			passes(username, given, given);
		}
	});

	it("is nothing else", () => {
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
			assert.deepEqual(faults(username, given), [
				`: expected 3 to 30 of A-Z a-z 0-9 _ but got: ${quoted(given)}`,
			]);
		}
	});
});

describe("an e-mail address", () => {
	it("is plausible, trimmed and otherwise kept as it was given", () => {
		passes(email, " Ada@Example.com ", "Ada@Example.com");
		passes(email, "", null);
	});

	it("has one @ with something on both sides, and no spaces", () => {
		for (const given of ["ada", "@b", "a@", "a@b@c", "a b@c", "a@b\u0007"]) {
			assert.deepEqual(faults(email, given), [
				": expected an e-mail address (one @, no spaces) but got something else",
			]);
		}
	});

	it("has at most 254 characters", () => {
		const longest = `${"a".repeat(252)}@b`;
		passes(email, longest, longest);
		assert.deepEqual(faults(email, `${longest}b`), [
			": expected at most 254 characters but got: 255",
		]);
	});
});

describe("an image", () => {
	it("is stored with what was given of it, and nothing for what was not", () => {
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

	it("tells the faults of all its parts", () => {
		assert.deepEqual(
			faults(image, {
				url: "ftp://example.com",
				width: 0,
				height: -1,
				alt: "a".repeat(501),
			}),
			[
				'.url: expected an http or https address but got: "ftp://example.com"',
				".width: expected a positive number of pixels but got: 0",
				".height: expected a positive number of pixels but got: -1",
				".alt: expected at most 500 characters but got: 501",
			],
		);
	});

	it("has an address, and whole pixels", () => {
		assert.deepEqual(faults(image, { url: " ", width: 1.5 }), [
			".url: must not be empty",
			".width: expected a positive number of pixels but got: 1.5",
		]);
		assert.deepEqual(faults(image, "a.jpg"), [
			': expected an image but got: "a.jpg"',
		]);
	});
});
