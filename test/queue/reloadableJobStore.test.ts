import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { JobStore } from "../../src/queue/jobStore.ts";
import { reloadableJobStore } from "../../src/queue/reloadableJobStore.ts";
import type { RotationStore } from "../../src/queue/rotationStore.ts";

/** A store whose `count` ends when the test says so. */
function counting() {
	const { promise, resolve } = Promise.withResolvers<void>();
	const state = { isClosed: false, end: resolve };
	const store = {
		shards: [0],
		async missingTables() {
			await promise;
			return [];
		},
		async [Symbol.asyncDispose]() {
			state.isClosed = true;
		},
	} as unknown as JobStore & RotationStore;
	return { state, store };
}

test("a replaced job store says the version on which its calls run, and is closed after the last of them", async () => {
	const [first, second] = [counting(), counting()];
	let retired = 0;
	const store = reloadableJobStore(first.store, () => retired++);
	assert.equal(store.oldestVersion, null);
	const running = store.missingTables();
	store.switchTo(second.store, 5);
	await nextTurn();
	assert.equal(store.oldestVersion, 4);
	assert.equal(first.state.isClosed, false);
	first.state.end();
	await running;
	await nextTurn();
	assert.equal(store.oldestVersion, null);
	assert.equal(first.state.isClosed, true);
	assert.equal(retired, 1);
	second.state.end();
	await store[Symbol.asyncDispose]();
	assert.equal(second.state.isClosed, true);
});
