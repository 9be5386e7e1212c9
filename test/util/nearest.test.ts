import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean, nearest } from "../../src/util/nearest.ts";

test("the nearest word is found over a slip or two, without regard to case", () => {
	const words = ["import", "verify", "init"];
	assert.equal(nearest("improt", words), "import");
	assert.equal(nearest("VERIFI", words), "verify");
	assert.equal(nearest("int", words), "init");
});

test("a word that is like none of them has no nearest", () => {
	assert.equal(nearest("serve", ["import", "token"]), undefined);
	assert.equal(nearest("x", []), undefined);
});

test("a sentence goes on with the word that was probably meant, or not at all", () => {
	assert.equal(didYouMean("idd", ["id"]), " Did you mean id?");
	assert.equal(didYouMean("zzz", ["id"]), "");
});
