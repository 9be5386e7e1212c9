import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_AGE_MS } from "../../src/cache/local.ts";
import { MOST_UNSENT, Unsent, type Untold } from "../../src/cache/unsent.ts";

function open() {
	let now = 1_000;
	return {
		unsent: new Unsent(() => now),
		pass: (ms: number) => {
			now += ms;
		},
		/** Told in vain just now. */
		keys: (...keys: string[]): Untold => ({
			kind: "keys",
			keys: keys.map((key) => [key, now]),
		}),
	};
}

/** Its names alone. */
function names(untold: Untold | null): unknown {
	return untold?.kind === "keys" ? untold.keys.map(([key]) => key) : untold;
}

describe("what the channel could not send", () => {
	test("is taken once, the first first, as much as is asked for", () => {
		const { unsent, keys } = open();
		assert.equal(unsent.take(2), null);
		unsent.keep(keys("a", "b"));
		unsent.keep(keys("a", "c"));
		assert.deepEqual(names(unsent.take(2)), ["a", "b"]);
		assert.deepEqual(names(unsent.take(2)), ["c"]);
		assert.equal(unsent.take(2), null);
	});

	test("is dropped when every entry from before it has aged, and not sooner", () => {
		const { unsent, keys, pass } = open();
		unsent.keep(keys("a", "again"));
		pass(1);
		unsent.keep(keys("again"));
		pass(MAX_AGE_MS - 2);
		const taken = unsent.take(9);
		assert.deepEqual(names(taken), ["a", "again"]);
		// Given back, it is no younger.
		unsent.keep(taken as Untold);
		pass(1);
		assert.deepEqual(names(unsent.take(9)), ["again"]);
		unsent.keep(taken as Untold);
		pass(1);
		assert.equal(unsent.take(9), null);
	});

	test("given back does not make older what was told in vain meanwhile", () => {
		const { unsent, keys, pass } = open();
		unsent.keep(keys("a"));
		const taken = unsent.take(9) as Untold;
		pass(5_000);
		unsent.keep(keys("a"));
		unsent.keep(taken);
		pass(MAX_AGE_MS - 1);
		assert.deepEqual(names(unsent.take(9)), ["a"]);
	});

	test("is all, when it is more than is kept, for as long as the latest of it counts", () => {
		const { unsent, keys, pass } = open();
		const many = (from: number, count: number) =>
			keys(...Array.from({ length: count }, (_, at) => `${from + at}`));
		unsent.keep(many(0, MOST_UNSENT));
		assert.equal(unsent.take(1)?.kind, "keys");
		unsent.keep(many(MOST_UNSENT, 1));
		pass(5_000);
		unsent.keep(keys("one too many"));
		const all = { kind: "all", at: 6_000 } as const;
		assert.deepEqual(unsent.take(9), all);
		assert.equal(unsent.take(9), null, "taken once");
		unsent.keep(keys("later"));
		unsent.keep(all);
		pass(MAX_AGE_MS - 1);
		assert.deepEqual(unsent.take(9), all, "and what came after it is in it");
		unsent.keep(all);
		unsent.keep(keys("latest"));
		pass(MAX_AGE_MS - 1);
		assert.equal(unsent.take(9)?.kind, "all");
		unsent.keep(all);
		assert.equal(unsent.take(9), null, "aged");
	});

	test("is all for as long as the latest counts, also when an older one was too many", () => {
		const { unsent, keys, pass } = open();
		const older = keys("older");
		pass(5_000);
		unsent.keep(
			keys(...Array.from({ length: MOST_UNSENT }, (_, at) => `${at}`)),
		);
		unsent.keep(older);
		assert.deepEqual(unsent.take(9), { kind: "all", at: 6_000 });
	});

	test("is not all because of keys that have aged", () => {
		const { unsent, keys, pass } = open();
		for (let at = 0; at < 3 * MOST_UNSENT; at++) {
			unsent.keep(keys(`${at}`));
			pass((2 * MAX_AGE_MS) / MOST_UNSENT);
		}
		const taken = unsent.take(MOST_UNSENT);
		assert.equal(taken?.kind, "keys");
		assert.equal(taken.keys.length, MOST_UNSENT / 2 - 1);
	});
});
