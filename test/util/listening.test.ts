// Runs in a process of its own: it looks at all timers of the process.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ListeningClock } from "../../src/util/listening.ts";
import { busyFor, nextTurn } from "../helpers/busy.ts";

describe("the listening clock", () => {
	it("counts a turn of the event loop as ten milliseconds, however long it took", async () => {
		const clock = new ListeningClock();
		let isOver = false;
		clock.after(100, () => {
			isOver = true;
		});
		const began = clock.now();
		for (let turn = 0; turn < 5; turn++) {
			busyFor(110);
			await sleep(0);
			await nextTurn();
		}
		assert.ok(clock.now() - began <= 60, `${clock.now() - began}`);
		assert.equal(isOver, false);
	});

	it("runs on while the process waits, and never back", async () => {
		const clock = new ListeningClock();
		const began = performance.now();
		let last = clock.now();
		let isOver = false;
		clock.after(50, () => {
			isOver = true;
		});
		while (!isOver) {
			await sleep(1);
			assert.ok(clock.now() >= last);
			last = clock.now();
		}
		assert.ok(performance.now() - began >= 49);
	});

	it("ends each wait once, in its order, and none that was canceled", async () => {
		const clock = new ListeningClock();
		const ended: string[] = [];
		const { promise, resolve } = Promise.withResolvers<void>();
		clock.after(40, () => {
			ended.push("later");
			resolve();
		});
		const cancel = clock.after(30, () => ended.push("canceled"));
		clock.after(5, () => {
			ended.push("sooner");
			cancel();
			clock.after(5, () => ended.push("next"));
		});
		await promise;
		assert.deepEqual(ended, ["sooner", "next", "later"]);
		assert.ok(!process.getActiveResourcesInfo().includes("Timeout"));
	});
});
