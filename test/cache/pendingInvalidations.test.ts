import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_AGE_MS } from "../../src/cache/localCache.ts";
import {
	MAX_PENDING_KEYS,
	type PendingBatch,
	PendingInvalidations,
} from "../../src/cache/pendingInvalidations.ts";

function open() {
	let now = 1_000;
	return {
		pending: new PendingInvalidations(() => now),
		pass: (ms: number) => {
			now += ms;
		},
		/** Keys that could not be published just now. */
		keys: (...keys: string[]): PendingBatch => ({
			kind: "keys",
			keys: keys.map((key) => [key, now]),
		}),
	};
}

/** Its names alone. */
function names(batch: PendingBatch | null): unknown {
	return batch?.kind === "keys" ? batch.keys.map(([key]) => key) : batch;
}

describe("PendingInvalidations", () => {
	test("returns each key once, oldest first, at most as many as requested", () => {
		const { pending, keys } = open();
		assert.equal(pending.take(2), null);
		pending.add(keys("a", "b"));
		pending.add(keys("a", "c"));
		assert.deepEqual(names(pending.take(2)), ["a", "b"]);
		assert.deepEqual(names(pending.take(2)), ["c"]);
		assert.equal(pending.take(2), null);
	});

	test("drops a key once every entry read before its change has expired, and not sooner", () => {
		const { pending, keys, pass } = open();
		pending.add(keys("a", "again"));
		pass(1);
		pending.add(keys("again"));
		pass(MAX_AGE_MS - 2);
		const taken = pending.take(9);
		assert.deepEqual(names(taken), ["a", "again"]);
		// Given back, it is no younger.
		pending.add(taken as PendingBatch);
		pass(1);
		assert.deepEqual(names(pending.take(9)), ["again"]);
		pending.add(taken as PendingBatch);
		pass(1);
		assert.equal(pending.take(9), null);
	});

	test("keeps the later time of a key that is added again", () => {
		const { pending, keys, pass } = open();
		pending.add(keys("a"));
		const taken = pending.take(9) as PendingBatch;
		pass(5_000);
		pending.add(keys("a"));
		pending.add(taken);
		pass(MAX_AGE_MS - 1);
		assert.deepEqual(names(pending.take(9)), ["a"]);
	});

	test("stands for all keys above its limit, until the latest change has aged", () => {
		const { pending, keys, pass } = open();
		const many = (from: number, count: number) =>
			keys(...Array.from({ length: count }, (_, at) => `${from + at}`));
		pending.add(many(0, MAX_PENDING_KEYS));
		assert.equal(pending.take(1)?.kind, "keys");
		pending.add(many(MAX_PENDING_KEYS, 1));
		pass(5_000);
		pending.add(keys("one too many"));
		const all = { kind: "all", at: 6_000 } as const;
		assert.deepEqual(pending.take(9), all);
		assert.equal(pending.take(9), null, "taken once");
		pending.add(keys("later"));
		pending.add(all);
		pass(MAX_AGE_MS - 1);
		assert.deepEqual(pending.take(9), all, "and what came after it is in it");
		pending.add(all);
		pending.add(keys("latest"));
		pass(MAX_AGE_MS - 1);
		assert.equal(pending.take(9)?.kind, "all");
		pending.add(all);
		assert.equal(pending.take(9), null, "aged");
	});

	test("stands for all keys until the latest change has aged, even if an older one exceeded the limit", () => {
		const { pending, keys, pass } = open();
		const older = keys("older");
		pass(5_000);
		pending.add(
			keys(...Array.from({ length: MAX_PENDING_KEYS }, (_, at) => `${at}`)),
		);
		pending.add(older);
		assert.deepEqual(pending.take(9), { kind: "all", at: 6_000 });
	});

	test("does not count keys that have aged against its limit", () => {
		const { pending, keys, pass } = open();
		for (let at = 0; at < 3 * MAX_PENDING_KEYS; at++) {
			pending.add(keys(`${at}`));
			pass((2 * MAX_AGE_MS) / MAX_PENDING_KEYS);
		}
		const taken = pending.take(MAX_PENDING_KEYS);
		assert.equal(taken?.kind, "keys");
		assert.equal(taken.keys.length, MAX_PENDING_KEYS / 2 - 1);
	});
});
