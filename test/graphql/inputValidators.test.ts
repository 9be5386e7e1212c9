import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { readInput, required } from "../../src/graphql/input/readInput.ts";
import { id, idempotencyKey } from "../../src/graphql/input/validators.ts";
import { quoted } from "../../src/util/quoted.ts";
import { assertValid, problemsOf } from "../helpers/validating.ts";

describe("an id", () => {
	it("must be a canonical decimal of at most 64 bits", () => {
		assert.deepEqual(id("241294492511762325"), {
			value: "241294492511762325",
		});
	});

	it('is "reserved" when it is well formed but cannot name an object', () => {
		assertValid(id, "18446744073709551615", "reserved");
	});

	it("must not be anything else", () => {
		for (const given of [
			"",
			"01",
			"-1",
			"1e3",
			"0x1",
			" 1",
			"18446744073709551616",
			"a\0",
			12,
		]) {
			assert.deepEqual(problemsOf(id, given), [
				`must be an id, which is a decimal number, got ${quoted(given)}`,
			]);
		}
	});
});

describe("an idempotency key", () => {
	it("must be 1 to 100 characters of printable ASCII and is stored as given", () => {
		assertValid(idempotencyKey, " ~", " ~");
		assertValid(idempotencyKey, "k".repeat(100), "k".repeat(100));
		for (const given of ["", "k".repeat(101), "kü", "k\n", "k\0"]) {
			assert.deepEqual(problemsOf(idempotencyKey, given), [
				`must be 1 to 100 characters of printable ASCII, got ${quoted(given)}`,
			]);
		}
	});
});

describe("an input with more problems than a message should list", () => {
	it("lists the first of them, says how many follow, and has them all in its fields", () => {
		const names = Array.from({ length: 60 }, (_, index) => `field${index}`);
		const shape = Object.fromEntries(names.map((name) => [name, required(id)]));
		const given = Object.fromEntries(
			names.map((name) => [name, "x".repeat(100)]),
		);
		assert.throws(
			() => readInput("AnInput", shape, given, () => []),
			(error) => {
				assert.ok(error instanceof CorkboardError);
				assert.ok(error.message.length <= 2_000, error.message);
				const [, more] = /; and (\d+) more\.$/.exec(error.message) ?? [];
				const listed = error.message.match(/field\d+ must be an id/g) ?? [];
				assert.equal(listed.length + Number(more), names.length);
				assert.equal(error.fields?.length, names.length);
				return true;
			},
		);
	});
});
