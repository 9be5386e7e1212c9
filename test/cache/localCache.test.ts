// Runs in a process of its own: it measures the heap.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	INVALIDATED_MAX_AGE_MS,
	MAX_AGE_MS,
} from "../../src/cache/entryAges.ts";
import { ENTRY_BYTES } from "../../src/cache/heapEntries.ts";
import { KeptEntries } from "../../src/cache/keptEntries.ts";
import type { CallOptions } from "../../src/trace.ts";
import { leftBytes } from "../helpers/heldBytes.ts";
import { TextCache } from "../helpers/textCache.ts";

function open(maxWeight = 1_000_000) {
	let now = 0;
	let overdue = false;
	const loads: string[][] = [];
	const cache = new TextCache({
		kept: new KeptEntries(maxWeight),
		now: () => now,
		isOverdue: () => overdue,
	});
	return {
		cache,
		loads,
		setOverdue: (is: boolean) => {
			overdue = is;
		},
		pass: (ms: number) => {
			now += ms;
		},
		read: (...keys: string[]) =>
			cache.readTexts(keys, async (missing) => {
				const wanted = missing.map((at) => keys[at] as string);
				if (maxWeight > 0) loads.push(wanted);
				return wanted.map((key) => `value of ${key}`);
			}),
	};
}

/** Reads that end when the test says so, or when they are given up. */
function heldLoad() {
	const { promise, resolve, reject } = Promise.withResolvers<string[]>();
	const signals: AbortSignal[] = [];
	return {
		signals,
		end: (...values: string[]) => resolve(values),
		load: (_: readonly number[], call: CallOptions | undefined) => {
			const { signal } = call ?? {};
			if (signal === undefined) return assert.fail("it has a signal");
			signals.push(signal);
			signal.addEventListener("abort", () => reject(signal.reason));
			return promise;
		},
	};
}

describe("LocalCache", () => {
	it("loads all missing keys at once and returns values in the order of the keys", async () => {
		const { read, loads } = open();
		await read("b");
		assert.deepEqual(await read("a", "b", "c"), [
			"value of a",
			"value of b",
			"value of c",
		]);
		assert.deepEqual(loads, [["b"], ["a", "c"]]);
	});

	it("leaves nothing of what it does not keep to the collector of old garbage", async () => {
		const { read } = open(0);
		const keys = (at: number) =>
			Array.from({ length: 100 }, (_, n) => `key ${at * 100 + n}`);
		for (let n = 0; n < 100; n++) await read(...keys(n));
		const left = await leftBytes(400, (at) => read(...keys(at)));
		assert.ok(left < 8_000, `${left} bytes`);
	});

	it("caches a value for at most ten seconds, counted from before its read", async () => {
		const { cache, pass } = open();
		await cache.readTexts(["a"], async () => {
			pass(4_000);
			return ["old"];
		});
		pass(MAX_AGE_MS - 4_001);
		assert.equal(cache.text("a"), "old");
		pass(1);
		assert.equal(cache.text("a"), undefined);
	});

	it("caches a value for as long as it is said, and for ten seconds while ages are limited", async () => {
		let now = 0;
		const cache = new TextCache({
			kept: new KeptEntries(1_000_000),
			maxAgeMs: INVALIDATED_MAX_AGE_MS,
			now: () => now,
		});
		const read = async (value: string) =>
			(await cache.readTexts(["a"], async () => [value]))[0];
		await read("old");
		now += INVALIDATED_MAX_AGE_MS / 2 - 1;
		assert.equal(await read("new"), "old");
		cache.limitAge(true);
		assert.equal(await read("new"), "new", "what was kept for longer is gone");
		now += MAX_AGE_MS - 1;
		assert.equal(await read("newer"), "new");
		now++;
		assert.equal(await read("newer"), "newer");
		cache.limitAge(false);
		now += MAX_AGE_MS - 1;
		assert.equal(await read("newest"), "newer");
		now++;
		assert.equal(await read("newest"), "newest");
		now += MAX_AGE_MS;
		assert.equal(await read("last"), "newest");
	});

	it("lets values that were read together live between half of the longest age and all of it, and not end together", async () => {
		let now = 0;
		const cache = new TextCache({
			kept: new KeptEntries(10_000_000),
			maxAgeMs: INVALIDATED_MAX_AGE_MS,
			now: () => now,
		});
		const keys = Array.from({ length: 1_000 }, (_, n) => `key ${n}`);
		await cache.readTexts(keys, async () => keys);
		const living = () =>
			keys.filter((key) => cache.text(key) !== undefined).length;
		now = INVALIDATED_MAX_AGE_MS / 2;
		assert.ok(living() > 990);
		for (let tenth = 1; tenth < 10; tenth++) {
			now = (INVALIDATED_MAX_AGE_MS / 2) * (1 + tenth / 10);
			const expected = 1_000 - tenth * 100;
			assert.ok(Math.abs(living() - expected) < 50, `${tenth}: ${living()}`);
		}
		now = INVALIDATED_MAX_AGE_MS;
		assert.equal(living(), 0);
	});

	it("reads keys that are bypassed past it, and uses its entries again afterwards", async () => {
		const { cache, read, loads } = open();
		await read("a", "b");
		cache.bypassKeys((key) => key === "a", new Set([0]));
		assert.equal(cache.text("a"), undefined);
		await read("a", "b");
		assert.deepEqual(loads, [["a", "b"], ["a"]]);
		cache.bypassKeys(null, new Set());
		await read("a", "b");
		assert.equal(loads.length, 2);
	});

	it("uses, joins and keeps nothing while invalidations are overdue, and its entries again afterwards", async () => {
		const { cache, read, loads, setOverdue } = open();
		await read("a");
		const { promise, resolve } = Promise.withResolvers<void>();
		const before = cache.readTexts(["b"], async () => {
			await promise;
			return ["read before"];
		});
		setOverdue(true);
		assert.equal(cache.text("a"), undefined);
		assert.deepEqual(await read("a", "b"), ["value of a", "value of b"]);
		assert.deepEqual(loads, [["a"], ["a", "b"]]);
		resolve();
		assert.deepEqual(await before, ["read before"]);
		setOverdue(false);
		assert.equal(cache.text("a"), "value of a");
		assert.equal(cache.text("b"), undefined);
	});

	it("joins a read of the same key that already runs", async () => {
		const { cache } = open();
		let loads = 0;
		const load = async () => {
			loads++;
			await new Promise((resolve) => setImmediate(resolve));
			return ["one"];
		};
		const answers = await Promise.all([
			cache.readTexts(["a"], load),
			cache.readTexts(["a"], load),
		]);
		assert.deepEqual(answers, [["one"], ["one"]]);
		assert.equal(loads, 1);
	});

	it("reads on for those who joined when the reader who came first gives up", async () => {
		const { cache } = open();
		const { load, end, signals } = heldLoad();
		const first = new AbortController();
		const early = cache.readTexts(["a"], load, { call: first });
		const joined = cache.readTexts(["a"], load, {
			call: { signal: new AbortController().signal },
		});
		first.abort(new Error("The client disconnected."));
		await assert.rejects(early, /disconnected/);
		end("one");
		assert.deepEqual(await joined, ["one"]);
		assert.equal(signals.length, 1);
		assert.equal(cache.text("a"), "one");
	});

	it("ends a read for one who joined and gives up, and for nobody else", async () => {
		const { cache } = open();
		const { load, end } = heldLoad();
		const early = cache.readTexts(["a", "b"], load);
		const leaving = new AbortController();
		const joined = cache.readTexts(["b"], load, { call: leaving });
		leaving.abort(new Error("too late"));
		await assert.rejects(joined, /too late/);
		end("one", "two");
		assert.deepEqual(await early, ["one", "two"]);
	});

	it("ends a read that nobody waits for any more, and lets nobody join it", async () => {
		const { cache } = open();
		const { load, signals } = heldLoad();
		const [one, other] = [new AbortController(), new AbortController()];
		const gone = Promise.allSettled([
			cache.readTexts(["a"], load, { call: one }),
			cache.readTexts(["a"], load, { call: other }),
		]);
		one.abort(new Error("gone"));
		other.abort(new Error("gone"));
		assert.deepEqual(
			signals.map(({ aborted }) => aborted),
			[true],
		);
		const next = await cache.readTexts(["a"], async () => ["one"]);
		assert.deepEqual(next, ["one"]);
		const statuses = (await gone).map(({ status }) => status);
		assert.deepEqual(statuses, ["rejected", "rejected"]);
		assert.equal(cache.text("a"), "one");
	});

	it("asks for the signal of a reader while the reader waits: what is read beside an answer may outlive its request", async () => {
		const { cache, read } = open();
		let asked = 0;
		const call = {
			get signal() {
				asked++;
				return new AbortController().signal;
			},
		};
		const reading = cache.readTexts(["a"], async () => ["one"], { call });
		assert.equal(asked, 1);
		await reading;
		await cache.readTexts(["a"], () => assert.fail("it is cached"), { call });
		assert.equal(asked, 1, "what is in memory needs none");
		await read("b");
	});

	it("does not cache a value whose read began before an invalidation and ended after it", async () => {
		const { cache } = open();
		const database = Promise.withResolvers<string[]>();
		const reading = cache.readTexts(["a"], () => database.promise);
		cache.invalidateText("a"); // the write commits while the read is on its way
		database.resolve(["before the write"]);
		assert.deepEqual(await reading, ["before the write"]);
		assert.equal(cache.text("a"), undefined);
	});

	it("keeps nothing of reads that ran when the keys of whole shards were dropped, whatever their keys, and lets nobody join them", async () => {
		for (const drop of [
			(cache: TextCache) => cache.invalidateWhere((key) => key === "other"),
			(cache: TextCache) => cache.invalidateChannels(new Set([31])),
			(cache: TextCache) =>
				cache.bypassKeys((key) => key === "other", new Set()),
		]) {
			const { cache } = open();
			const early = heldLoad();
			const first = cache.readTexts(["a"], early.load);
			drop(cache);
			const later = await cache.readTexts(["a"], async () => ["new"]);
			early.end("old");
			assert.deepEqual([await first, later], [["old"], ["new"]]);
			assert.equal(cache.text("a"), "new");
		}
	});

	it("does not let a read after an invalidation join one from before it", async () => {
		const { cache } = open();
		const database = Promise.withResolvers<string[]>();
		const early = cache.readTexts(["a"], () => database.promise);
		cache.invalidateText("a");
		const late = cache.readTexts(["a"], async () => ["after the write"]);
		database.resolve(["before the write"]);
		assert.deepEqual(await late, ["after the write"]);
		await early;
		assert.equal(cache.text("a"), "after the write");
	});

	it("neither caches a value that is not kept nor gives it to a reader that came later", async () => {
		const cache = new TextCache({
			kept: new KeptEntries(1_000),
			isKept: ({ text }) => text !== "absent",
		});
		const database = Promise.withResolvers<string[]>();
		const early = cache.readTexts(["a"], () => database.promise);
		// Created now, by a write that invalidates nothing.
		const late = cache.readTexts(["a"], async () => ["created"]);
		database.resolve(["absent"]);
		assert.deepEqual(await early, ["absent"]);
		assert.deepEqual(await late, ["created"]);
		assert.equal(cache.text("a"), undefined);
		const created = await cache.readTexts(["a"], async () => ["created"]);
		assert.deepEqual(created, ["created"]);
		assert.equal(cache.text("a"), "created");
	});

	it("returns errors and does not cache them", async () => {
		const { cache, read } = open();
		const failed = await cache.readTexts(["a"], async () => [
			new Error("down"),
		]);
		assert.ok(failed[0] instanceof Error);
		assert.deepEqual(await read("a"), ["value of a"]);
	});

	it("reads a key again if the cached value does not suffice", async () => {
		const { cache } = open();
		await cache.readTexts(["a"], async () => ["short"]);
		const longer = await cache.readTexts(["a"], async () => ["much longer"], {
			suffices: (value) => value.length > 5,
		});
		assert.deepEqual(longer, ["much longer"]);
		assert.equal(cache.text("a"), "much longer");
	});

	it("stays within its weight by evicting the oldest entry", async () => {
		const { cache, read } = open(3 * (ENTRY_BYTES + 10));
		await read("a");
		await read("b");
		await read("c");
		await read("d");
		await read("d");
		assert.deepEqual(
			["a", "b", "c", "d"].map((key) => cache.text(key) !== undefined),
			[false, true, true, true],
		);
	});

	it("keeps what it has no room for at its second miss only", async () => {
		const { cache, read, loads } = open(3 * (ENTRY_BYTES + 10));
		await read("a");
		await read("b");
		await read("c");
		await read("d");
		await read("a", "b", "c");
		assert.equal(loads.length, 4, "what was read once has ended nothing");
		cache.invalidateText("c");
		await read("e");
		await read("e", "a", "b");
		assert.equal(loads.length, 5, "there was room again");
		cache.invalidateText("e");
		await read("c");
		await read("c", "a", "b");
		assert.equal(loads.length, 6);
	});

	it("keeps at once what comes in the place of what has changed, also where there is no room", async () => {
		const { cache, read, loads } = open(40 * (ENTRY_BYTES + 10));
		const keys = Array.from({ length: 39 }, (_, n) => `key ${n}`);
		await read(...keys);
		await read("new");
		await read("new");
		assert.equal(loads.length, 3, "it was full");
		cache.invalidateText("key 7");
		await read("key 7");
		await read("key 7");
		assert.equal(loads.length, 4);
	});

	it("evicts what was not read since it was added before what was", async () => {
		const { cache, read } = open(3 * (ENTRY_BYTES + 10));
		await read("a");
		await read("b");
		await read("c");
		assert.ok(cache.text("a"));
		for (const key of ["d", "d", "e", "e"]) await read(key);
		assert.deepEqual(
			["a", "b", "c", "d", "e"].map((key) => cache.text(key) !== undefined),
			[true, false, false, true, true],
		);
	});

	it("caches nothing while it is bypassed, nor values whose read ran when the bypass began or ended", async () => {
		const { cache, read, loads } = open();
		await read("a");
		const database = Promise.withResolvers<string[]>();
		const before = cache.readTexts(["b"], () => database.promise);
		cache.bypass(new Set([0]), true);
		assert.equal(cache.text("a"), undefined);
		await read("a");
		await read("a");
		assert.equal(loads.length, 3);
		const during = cache.readTexts(["c"], () => database.promise);
		cache.bypass(new Set([0]), false);
		database.resolve(["late"]);
		await Promise.all([before, during]);
		assert.deepEqual(
			["a", "b", "c"].map((key) => cache.text(key)),
			[undefined, undefined, undefined],
		);
		await read("a");
		assert.equal(cache.text("a"), "value of a");
	});

	it("reports hits and misses to the trace", async () => {
		const { cache, read } = open();
		await read("a");
		const reported: unknown[] = [];
		await cache.readTexts(["a", "b"], async () => ["b"], {
			call: {
				trace: {
					statement() {},
					hiddenEdges() {},
					cache: (...answer) => reported.push(answer),
					startWrite: () => assert.fail("it only read"),
				},
			},
		});
		assert.deepEqual(reported, [["process", 1, 1]]);
	});
});
