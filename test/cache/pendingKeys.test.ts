import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type PendingBatch, PendingKeys } from "../../src/cache/pendingKeys.ts";

const MAX_AGE_MS = 10_000;
const MAX_KEYS = 50;

function open() {
	let now = 1_000;
	const pending = new PendingKeys({
		maxKeys: MAX_KEYS,
		maxAgeMs: MAX_AGE_MS,
		now: () => now,
	});
	return {
		pending,
		pass: (ms: number) => {
			now += ms;
		},
		/** Keys that are sent in vain just now. */
		fail: (...keys: string[]): void => pending.failed(pending.start(keys)),
	};
}

function numbered(from: number, count: number): string[] {
	return Array.from({ length: count }, (_, at) => `${from + at}`);
}

/** Its names alone. */
function names(batch: PendingBatch | null): unknown {
	return batch?.kind === "keys" ? batch.keys : (batch?.kind ?? null);
}

describe("PendingKeys", () => {
	test("returns each failed key once, oldest first, at most as many as requested", () => {
		const { pending, fail } = open();
		assert.equal(pending.next(2), null);
		fail("a", "b");
		fail("a", "c");
		assert.deepEqual(names(pending.next(2)), ["b", "a"]);
		assert.deepEqual(names(pending.next(2)), ["c"]);
		assert.equal(pending.next(2), null, "all on their way");
	});

	test("has a key from its start until it is acknowledged, on its way or failed", () => {
		const { pending } = open();
		const first = pending.start(["a", "b"]);
		assert.deepEqual([pending.has("a"), pending.has("c")], [true, false]);
		assert.equal(pending.next(9), null, "on its way");
		pending.failed(first);
		assert.ok(pending.has("a"));
		const again = pending.next(1) as PendingBatch;
		assert.ok(pending.has("a"));
		pending.done(again);
		assert.deepEqual([pending.has("a"), pending.has("b")], [false, true]);
		assert.equal(pending.isEmpty, false);
		pending.done(pending.next(9) as PendingBatch);
		assert.equal(pending.isEmpty, true);
	});

	test("keeps a key that changed again after the batch that was acknowledged had been sent", () => {
		const { pending } = open();
		const first = pending.start(["a"]);
		const second = pending.start(["a"]);
		pending.done(first);
		assert.ok(pending.has("a"));
		pending.failed(second);
		const again = pending.next(9) as PendingBatch;
		const third = pending.start(["a"]);
		pending.done(again);
		assert.ok(pending.has("a"), "the third is on its way");
		pending.done(third);
		assert.ok(pending.isEmpty);
	});

	test("forgets a key whose earlier batch fails after a later one was acknowledged", () => {
		const { pending } = open();
		const first = pending.start(["a"]);
		pending.done(pending.start(["a"]));
		pending.failed(first);
		assert.ok(pending.isEmpty);
	});

	test("drops a key once every value read before its change has expired, and not sooner", () => {
		const { pending, fail, pass } = open();
		fail("a", "again");
		pass(1);
		fail("again");
		pass(MAX_AGE_MS - 2);
		const taken = pending.next(9) as PendingBatch;
		assert.deepEqual(names(taken), ["a", "again"]);
		// Failed once more, it is no younger.
		pending.failed(taken);
		pass(1);
		assert.deepEqual(names(pending.next(9)), ["again"]);
		pending.failed(taken);
		pass(1);
		assert.equal(pending.next(9), null);
		assert.ok(pending.isEmpty);
	});

	test("stands for all keys above its limit, until the latest change has aged", () => {
		const { pending, fail, pass } = open();
		fail(...numbered(0, MAX_KEYS));
		const one = pending.next(1) as PendingBatch;
		assert.equal(one.kind, "keys");
		pending.failed(one);
		pass(5_000);
		fail("one too many");
		assert.ok(pending.has("any key"));
		fail("later");
		const all = pending.next(9) as PendingBatch;
		assert.equal(all.kind, "all");
		pending.failed(all);
		assert.equal(pending.next(9)?.kind, "all", "again");
		pass(MAX_AGE_MS - 1);
		assert.equal(pending.next(9)?.kind, "all");
		pass(1);
		assert.equal(pending.next(9), null, "aged");
		assert.ok(pending.isEmpty);
	});

	test("does not count keys on their way against its limit", () => {
		const { pending } = open();
		const batch = pending.start(numbered(0, 3 * MAX_KEYS));
		assert.equal(pending.has("other"), false);
		assert.equal(pending.next(9), null);
		pending.done(batch);
		assert.ok(pending.isEmpty);
	});

	test("keeps the keys that changed after all of them were sent, and only these", () => {
		const { pending, fail } = open();
		fail(...numbered(0, MAX_KEYS + 1));
		fail("before");
		const all = pending.next(9) as PendingBatch;
		fail("after");
		pending.done(all);
		assert.deepEqual(
			[pending.has("before"), pending.has("after")],
			[false, true],
		);
		assert.deepEqual(names(pending.next(9)), ["after"]);
	});

	test("does not count keys that have aged against its limit", () => {
		const { pending, fail, pass } = open();
		for (let at = 0; at < 3 * MAX_KEYS; at++) {
			fail(`${at}`);
			pass((2 * MAX_AGE_MS) / MAX_KEYS);
		}
		const taken = pending.next(MAX_KEYS);
		assert.equal(taken?.kind, "keys");
		assert.equal(taken.keys.length, MAX_KEYS / 2 - 1);
	});

	test("waits until the given keys are acknowledged, and not for others", async () => {
		const { pending, fail } = open();
		assert.equal(await pending.untilDone(["a"], 0), true);
		fail("other");
		const batch = pending.start(["a", "b"]);
		assert.equal(await pending.untilDone(["a"], 0), false);
		assert.equal(await pending.untilDone(["a"], 1), false, "in vain");
		const waiting = pending.untilDone(["a", "b"], 60_000);
		pending.done(batch);
		assert.equal(await waiting, true);
		assert.ok(pending.has("other"));
	});
});
