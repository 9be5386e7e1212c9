import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	Breaker,
	FIRST_PAUSE_MS,
	LONGEST_PAUSE_MS,
} from "../../src/cache/breaker.ts";

function open() {
	let now = 0;
	return {
		breaker: new Breaker(() => now),
		pass: (ms: number) => {
			now += ms;
		},
	};
}

describe("Breaker", () => {
	test("never pauses longer than its longest pause", () => {
		let now = 0;
		const breaker = new Breaker(() => now, 250);
		for (let failures = 0; failures < 5; failures++) {
			assert.equal(breaker.enter(), true, `after ${failures} failures`);
			breaker.failed();
			now += 250;
		}
	});

	test("lets all calls through while they succeed", () => {
		const { breaker } = open();
		assert.deepEqual([breaker.enter(), breaker.enter()], [true, true]);
		assert.equal(breaker.succeeded(), false);
		assert.equal(breaker.enter(), true);
	});

	test("lets no call through after a failure, then one, and all calls once that one succeeds", () => {
		const { breaker, pass } = open();
		breaker.enter();
		assert.equal(breaker.failed(), true);
		pass(FIRST_PAUSE_MS - 1);
		assert.equal(breaker.enter(), false);
		pass(1);
		assert.deepEqual([breaker.enter(), breaker.enter()], [true, false]);
		assert.equal(breaker.succeeded(), true);
		assert.deepEqual([breaker.enter(), breaker.enter()], [true, true]);
	});

	test("lets a probe through before its pause is over, and one at a time", () => {
		const { breaker } = open();
		breaker.enter();
		breaker.failed();
		assert.deepEqual(
			[breaker.enter(), breaker.enter(true), breaker.enter(true)],
			[false, true, false],
		);
		breaker.failed();
		assert.equal(breaker.enter(), false);
		assert.equal(breaker.enter(true), true);
		assert.equal(breaker.succeeded(), true);
		assert.equal(breaker.enter(), true);
	});

	test("doubles its pause after each failed attempt up to a limit, and starts over after it was closed for as long", () => {
		const { breaker, pass } = open();
		const pauses: number[] = [];
		breaker.enter();
		assert.equal(breaker.failed(), true);
		for (let probes = 0; probes < 8; probes++) {
			let waited = 0;
			while (!breaker.enter()) {
				pass(50);
				waited += 50;
			}
			pauses.push(waited);
			assert.equal(breaker.failed(), false);
		}
		assert.deepEqual(pauses, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
		assert.equal(pauses.at(-1), LONGEST_PAUSE_MS);

		// A host that is late with every other call stays away for long.
		pass(LONGEST_PAUSE_MS);
		breaker.enter();
		breaker.succeeded();
		pass(LONGEST_PAUSE_MS - 1);
		breaker.enter();
		breaker.failed();
		pass(LONGEST_PAUSE_MS - 1);
		assert.equal(breaker.enter(), false);

		pass(1);
		breaker.enter();
		breaker.succeeded();
		pass(LONGEST_PAUSE_MS);
		breaker.enter();
		breaker.failed();
		pass(FIRST_PAUSE_MS);
		assert.equal(breaker.enter(), true);
	});
});
