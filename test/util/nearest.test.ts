import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean, nearest } from "../../src/util/nearest.ts";

test("nearest finds a word with up to two wrong letters, in any case", () => {
	const words = ["import", "verify", "init"];
	assert.equal(nearest("improt", words), "import");
	assert.equal(nearest("VERIFI", words), "verify");
	assert.equal(nearest("int", words), "init");
});

test("nearest is undefined for a word unlike all candidates", () => {
	assert.equal(nearest("serve", ["import", "token"]), undefined);
	assert.equal(nearest("x", []), undefined);
});

test("didYouMean suggests the nearest word, or nothing", () => {
	assert.equal(didYouMean("idd", ["id"]), " Did you mean id?");
	assert.equal(didYouMean("zzz", ["id"]), "");
});
