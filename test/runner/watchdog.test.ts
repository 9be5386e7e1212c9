import assert from "node:assert/strict";
import { test } from "node:test";
import { Watchdog } from "./watchdog.ts";

test("a watchdog calls back once, after no progress for its time", (t) => {
	t.mock.timers.enable({ apis: ["setInterval"] });
	let stalls = 0;
	using watchdog = new Watchdog(100, () => stalls++);
	for (let n = 0; n < 5; n++) {
		t.mock.timers.tick(99);
		watchdog.progress();
	}
	assert.equal(stalls, 0);
	t.mock.timers.tick(105);
	assert.equal(stalls, 1);
	t.mock.timers.tick(1_000);
	assert.equal(stalls, 1);
});

test("a disposed watchdog never calls back", (t) => {
	t.mock.timers.enable({ apis: ["setInterval"] });
	let stalls = 0;
	new Watchdog(100, () => stalls++)[Symbol.dispose]();
	t.mock.timers.tick(1_000);
	assert.equal(stalls, 0);
});
