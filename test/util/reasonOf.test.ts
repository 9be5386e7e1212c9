import assert from "node:assert/strict";
import { parse } from "node:querystring";
import { describe, it } from "node:test";
import { asError, namedReasonOf, reasonOf } from "../../src/util/reasonOf.ts";

/** What code that nobody of ours wrote may throw. */
const ODD_THROWS: readonly unknown[] = [
	undefined,
	null,
	"text",
	7n,
	Symbol("s"),
	() => {},
	Object.create(null),
	parse("code=7"),
	{
		toString() {
			throw new Error("no text");
		},
	},
	{ [Symbol.toPrimitive]: 1, toString: 2 },
	Object.assign(new Error("m"), { message: Object.create(null) }),
	Object.defineProperty(new Error("m"), "message", {
		get() {
			throw new Error("no message");
		},
	}),
	revoked(),
];

function revoked(): unknown {
	const { proxy, revoke } = Proxy.revocable({}, {});
	revoke();
	return proxy;
}

describe("the reason of what was thrown", () => {
	it("is the message of an Error, or its name if that is empty", () => {
		assert.equal(reasonOf(new TypeError("no")), "no");
		assert.equal(reasonOf(new TypeError()), "TypeError");
		assert.equal(namedReasonOf(new TypeError("no")), "TypeError: no");
	});

	it("shows what is no Error", () => {
		assert.equal(reasonOf("text"), "text");
		assert.match(reasonOf(parse("code=7")), /code: '7'/);
		assert.match(asError({ code: 7 }).message, /code: 7/);
	});

	it("is a text whatever was thrown", () => {
		for (const thrown of ODD_THROWS) {
			assert.ok(typeof reasonOf(thrown) === "string");
			assert.ok(typeof namedReasonOf(thrown) === "string");
			assert.ok(asError(thrown) instanceof Error);
		}
	});
});
