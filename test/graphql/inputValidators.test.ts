import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	boolean,
	id,
	idempotencyKey,
	slugs,
} from "../../src/graphql/input/validators.ts";
import { quoted } from "../../src/util/quoted.ts";
import { faults, passes } from "../helpers/validating.ts";

describe("an id", () => {
	it("is a canonical decimal of at most 64 bits", () => {
		assert.deepEqual(id("241294492511762325"), {
			value: "241294492511762325",
		});
	});

	it("is marked when it is well formed and names nothing", () => {
		passes(id, "18446744073709551615", "reserved");
	});

	it("is nothing else", () => {
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
			assert.deepEqual(faults(id, given), [
				`: expected an id: a decimal number, but got: ${quoted(given)}`,
			]);
		}
	});
});

describe("slugs", () => {
	it("are kept in order, each once", () => {
		assert.deepEqual(slugs(["bread", "home-decor", "bread", "90s"]), {
			value: ["bread", "home-decor", "90s"],
		});
	});

	it("are made of a-z 0-9 -, and every other one is told with its place", () => {
		assert.deepEqual(faults(slugs, ["Bread", "ok", "", "a b"]), [
			'[0]: expected 1 to 100 of a-z 0-9 - but got: "Bread"',
			'[2]: expected 1 to 100 of a-z 0-9 - but got: ""',
			'[3]: expected 1 to 100 of a-z 0-9 - but got: "a b"',
		]);
		assert.equal(faults(slugs, ["a".repeat(101)]).length, 1);
	});

	it("are at most 10", () => {
		const eleven = Array.from({ length: 11 }, (_, at) => `s${at}`);
		assert.deepEqual(slugs(eleven.slice(0, 10)), {
			value: eleven.slice(0, 10),
		});
		assert.deepEqual(faults(slugs, eleven), [
			": expected at most 10 slugs but got: 11",
		]);
	});

	it("are a list", () => {
		assert.deepEqual(faults(slugs, "bread"), [
			': expected a list of slugs but got: "bread"',
		]);
	});
});

describe("a flag", () => {
	it("is true or false", () => {
		passes(boolean, true, true);
		passes(boolean, false, false);
		assert.deepEqual(faults(boolean, "true"), [
			': expected true or false but got: "true"',
		]);
	});
});

describe("an idempotency key", () => {
	it("is 1 to 100 characters of printable ASCII, kept as it was given", () => {
		passes(idempotencyKey, " ~", " ~");
		passes(idempotencyKey, "k".repeat(100), "k".repeat(100));
		for (const given of ["", "k".repeat(101), "kü", "k\n", "k\0"]) {
			assert.deepEqual(faults(idempotencyKey, given), [
				`: expected 1 to 100 characters of printable ASCII but got: ${quoted(given)}`,
			]);
		}
	});
});
