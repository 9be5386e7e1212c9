import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodingFor } from "../../../src/server/http/compression.ts";

describe("encodingFor", () => {
	it("takes an encoding by its whole name", () => {
		assert.equal(encodingFor("gzip, deflate, br"), "br");
		assert.equal(encodingFor("deflate,gzip"), "gzip");
		assert.equal(encodingFor("x-br, identity-gzip"), null);
	});

	it("leaves a header with weights to negotiation", () => {
		assert.equal(encodingFor("br;q=0.5, gzip"), undefined);
	});

	it("is none without a header", () => {
		assert.equal(encodingFor(undefined), null);
	});
});
