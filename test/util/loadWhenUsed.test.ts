// Runs in a process of its own: once V8 has made String.prototype fast again, no class slows it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { loadWhenUsed } from "../../src/util/loadWhenUsed.ts";

test("leaves the methods of strings as fast as they were, whatever a driver extends", () => {
	class Extended extends String {}
	assert.equal(
		isFast(),
		false,
		`This V8 keeps them fast beside ${Extended.name}: the test shows nothing.`,
	);
	loadWhenUsed<unknown>("ioredis")();
	assert.equal(isFast(), true);
});

/** Whether V8 compiles calls of strings' methods without a look for the method. */
function isFast(): boolean {
	setFlagsFromString("--allow-natives-syntax");
	// `tsc` and the formatter cannot parse V8's own syntax.
	const call = new Function("return %HasFastProperties(String.prototype)");
	return call() as boolean;
}
