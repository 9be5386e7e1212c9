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
		unsent: new PendingInvalidations(() => now),
		pass: (ms: number) => {
			now += ms;
		},
		/** Told in vain just now. */
		keys: (...keys: string[]): PendingBatch => ({
			kind: "keys",
			keys: keys.map((key) => [key, now]),
		}),
	};
}

/** Its names alone. */
function names(untold: PendingBatch | null): unknown {
	return untold?.kind === "keys" ? untold.keys.map(([key]) => key) : untold;
}

describe("PendingInvalidations", () => {
	test("returns each key once, oldest first, at most as many as requested", () => {
		const { unsent, keys } = open();
		assert.equal(unsent.take(2), null);
		unsent.add(keys("a", "b"));
		unsent.add(keys("a", "c"));
		assert.deepEqual(names(unsent.take(2)), ["a", "b"]);
		assert.deepEqual(names(unsent.take(2)), ["c"]);
		assert.equal(unsent.take(2), null);
	});

	test("drops a key once every entry read before its change has expired, and not sooner", () => {
		const { unsent, keys, pass } = open();
		unsent.add(keys("a", "again"));
		pass(1);
		unsent.add(keys("again"));
		pass(MAX_AGE_MS - 2);
		const taken = unsent.take(9);
		assert.deepEqual(names(taken), ["a", "again"]);
		// Given back, it is no younger.
		unsent.add(taken as PendingBatch);
		pass(1);
		assert.deepEqual(names(unsent.take(9)), ["again"]);
		unsent.add(taken as PendingBatch);
		pass(1);
		assert.equal(unsent.take(9), null);
	});

	test("keeps the later time of a key that is added again", () => {
		const { unsent, keys, pass } = open();
		unsent.add(keys("a"));
		const taken = unsent.take(9) as PendingBatch;
		pass(5_000);
		unsent.add(keys("a"));
		unsent.add(taken);
		pass(MAX_AGE_MS - 1);
		assert.deepEqual(names(unsent.take(9)), ["a"]);
	});

	test("stands for all keys above its limit, until the latest change has aged", () => {
		const { unsent, keys, pass } = open();
		const many = (from: number, count: number) =>
			keys(...Array.from({ length: count }, (_, at) => `${from + at}`));
		unsent.add(many(0, MAX_PENDING_KEYS));
		assert.equal(unsent.take(1)?.kind, "keys");
		unsent.add(many(MAX_PENDING_KEYS, 1));
		pass(5_000);
		unsent.add(keys("one too many"));
		const all = { kind: "all", at: 6_000 } as const;
		assert.deepEqual(unsent.take(9), all);
		assert.equal(unsent.take(9), null, "taken once");
		unsent.add(keys("later"));
		unsent.add(all);
		pass(MAX_AGE_MS - 1);
		assert.deepEqual(unsent.take(9), all, "and what came after it is in it");
		unsent.add(all);
		unsent.add(keys("latest"));
		pass(MAX_AGE_MS - 1);
		assert.equal(unsent.take(9)?.kind, "all");
		unsent.add(all);
		assert.equal(unsent.take(9), null, "aged");
	});

	test("stands for all keys until the latest change has aged, even if an older one exceeded the limit", () => {
		const { unsent, keys, pass } = open();
		const older = keys("older");
		pass(5_000);
		unsent.add(
			keys(...Array.from({ length: MAX_PENDING_KEYS }, (_, at) => `${at}`)),
		);
		unsent.add(older);
		assert.deepEqual(unsent.take(9), { kind: "all", at: 6_000 });
	});

	test("does not count keys that have aged against its limit", () => {
		const { unsent, keys, pass } = open();
		for (let at = 0; at < 3 * MAX_PENDING_KEYS; at++) {
			unsent.add(keys(`${at}`));
			pass((2 * MAX_AGE_MS) / MAX_PENDING_KEYS);
		}
		const taken = unsent.take(MAX_PENDING_KEYS);
		assert.equal(taken?.kind, "keys");
		assert.equal(taken.keys.length, MAX_PENDING_KEYS / 2 - 1);
	});
});
