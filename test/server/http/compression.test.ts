import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodingFor } from "../../../src/server/http/content/compression.ts";

describe("encodingFor", () => {
	it("takes an encoding by its whole name", () => {
		assert.equal(encodingFor("gzip, deflate, br"), "br");
		assert.equal(encodingFor("deflate,gzip"), "gzip");
		assert.equal(encodingFor("x-br, identity-gzip"), null);
	});

	it("takes the one with the highest weight, of equal ones brotli", () => {
		assert.equal(encodingFor("br;q=0.5, gzip"), "gzip");
		assert.equal(encodingFor("gzip;q=0.8, br;q=0.8"), "br");
		assert.equal(encodingFor("GZIP ; q=0.2, br ; Q=0.1"), "gzip");
		assert.equal(encodingFor("deflate, gzip;q=0.001"), "gzip");
	});

	it("takes none that is refused", () => {
		assert.equal(encodingFor("br;q=0, gzip;q=0.0"), null);
		assert.equal(encodingFor("identity, gzip;q=0"), null);
		assert.equal(encodingFor("br;q=0, gzip"), "gzip");
	});

	it("takes gzip by its old name, and where any is accepted", () => {
		assert.equal(encodingFor("x-gzip"), "gzip");
		assert.equal(encodingFor("*"), "gzip");
		assert.equal(encodingFor("*;q=0.1, br;q=0.5"), "br");
	});

	it("is none without a header", () => {
		assert.equal(encodingFor(undefined), null);
	});
});
