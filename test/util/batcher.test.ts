import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Batcher } from "../../src/util/batcher.ts";

/** Records its batches, each of which is on its way until it is ended. */
function recorder() {
	const batches: (readonly number[])[] = [];
	const ends: (() => void)[] = [];
	const send = (batch: readonly number[]) => {
		batches.push(batch);
		return new Promise<void>((resolve) => ends.push(resolve));
	};
	const endOne = async () => {
		ends.shift()?.();
		await nextTurn();
	};
	return { batches, send, endOne };
}

test("items of one turn are sent together, and those that come meanwhile in the next batch", async () => {
	const { batches, send, endOne } = recorder();
	const batcher = new Batcher<number>({ send });
	batcher.add(1);
	batcher.add(2);
	assert.deepEqual(batches, []);
	await nextTurn();
	assert.deepEqual(batches, [[1, 2]]);
	batcher.add(3);
	await nextTurn();
	batcher.add(4, 5);
	await nextTurn();
	assert.equal(batcher.waiting, 3);
	await endOne();
	assert.deepEqual(batches, [
		[1, 2],
		[3, 4, 5],
	]);
});

test("the items of one step are sent before the turn ends where the turn is not gathered", async () => {
	const { batches, send } = recorder();
	const batcher = new Batcher<number>({ send, gathersTurn: false });
	let isOver = false;
	setImmediate(() => {
		isOver = true;
	});
	// As writes that share a COMMIT do: all go on when it is answered.
	const committed = Promise.resolve();
	await Promise.all([1, 2, 3].map((n) => committed.then(() => batcher.add(n))));
	await new Promise<void>((resolve) => process.nextTick(resolve));
	assert.deepEqual([batches, isOver], [[[1, 2, 3]], false]);
});

test("as many batches run as may, each of as many items as it takes", async () => {
	const { batches, send, endOne } = recorder();
	const batcher = new Batcher<number>({
		send,
		maxRunning: 2,
		countOf: () => 2,
	});
	batcher.add(1, 2, 3, 4, 5);
	await nextTurn();
	assert.deepEqual(batches, [
		[1, 2],
		[3, 4],
	]);
	await endOne();
	assert.deepEqual(batches.at(-1), [5]);
});

test("it is idle when all was sent and has ended, or what waits was dropped", async () => {
	const { send, endOne } = recorder();
	const batcher = new Batcher<number>({ send });
	await batcher.untilIdle();
	batcher.add(1);
	let isIdle = false;
	const idle = batcher.untilIdle().then(() => {
		isIdle = true;
	});
	await nextTurn();
	batcher.add(2);
	batcher.clear();
	await nextTurn();
	assert.equal(isIdle, false);
	await endOne();
	await idle;
	assert.equal(isIdle, true);
});

test("a batch that takes long delays the next by so long only, and none once it has ended", async () => {
	const { batches, send, endOne } = recorder();
	const apartMs = 20;
	const batcher = new Batcher<number>({
		send,
		maxRunning: 3,
		apartMs: () => apartMs,
	});
	batcher.add(1);
	await nextTurn();
	const began = performance.now();
	batcher.add(2);
	while (batches.length < 2 && performance.now() < began + 10_000) {
		await nextTurn();
	}
	assert.deepEqual(batches, [[1], [2]]);
	assert.ok(performance.now() - began >= apartMs - 2);
	batcher.add(3);
	// The first batch ends, of which nothing depends.
	await endOne();
	// The second ends too.
	await endOne();
	assert.deepEqual(batches, [[1], [2], [3]]);
});

test("no more batches run than may, however long they take", async () => {
	const { batches, send, endOne } = recorder();
	const batcher = new Batcher<number>({
		send,
		maxRunning: 2,
		apartMs: () => 1,
	});
	batcher.add(1);
	await nextTurn();
	batcher.add(2);
	const until = performance.now() + 10_000;
	while (batches.length < 2 && performance.now() < until) await nextTurn();
	batcher.add(3);
	const later = performance.now() + 5;
	while (performance.now() < later) await nextTurn();
	assert.deepEqual(batches, [[1], [2]]);
	await endOne();
	await endOne();
	assert.deepEqual(batches, [[1], [2], [3]]);
});
