import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { assertAtOnce, assertCpuWithin, timed } from "./timing.ts";

/** So many units of work for the processor. */
function work(units: number): number {
	let sum = 0;
	for (let n = 0; n < units * 300_000; n++) sum += Math.sqrt(n);
	return sum;
}

describe("a comparison of CPU time", () => {
	test("passes work that takes less than its limit of the reference work", async () => {
		await assertCpuWithin(
			4,
			() => work(10),
			() => work(10),
		);
	});

	test("rejects work that takes more, and says how much", async () => {
		await assert.rejects(
			assertCpuWithin(
				2,
				() => work(2),
				() => work(20),
			),
			/^Error: expected less than 2 times the CPU time of the reference work but got: \d+\.\d times/,
		);
	});

	test("does not count the time of a wait", async () => {
		await assertCpuWithin(
			4,
			() => work(10),
			() => sleep(100),
		);
	});
});

describe("a timed wait", () => {
	test("counts what a timer takes, on both clocks", async () => {
		const { result, ms, ownMs } = await timed(() => sleep(200, "done"));
		assert.equal(result, "done");
		assert.ok(ms >= 199, `${ms} ms`);
		assert.ok(ownMs > 100 && ownMs <= ms, `${ownMs} of ${ms} ms`);
	});

	test("does not count on the process's own clock what this process was stopped for", async () => {
		const { ms, ownMs } = await timed(async () => {
			await sleep(50);
			const until = performance.now() + 500;
			while (performance.now() < until);
			await sleep(50);
		});
		assert.ok(ms >= 599, `${ms} ms`);
		assert.ok(ownMs < ms - 400, `${ownMs} of ${ms} ms`);
	});

	test("rejects as the wait does", async () => {
		await assert.rejects(
			timed(() => Promise.reject(new Error("no"))),
			/^Error: no$/,
		);
	});
});

describe("a result at once", () => {
	test("may take turns of promises, and is handed on", async () => {
		const result = (async () => {
			for (let n = 0; n < 100; n++) await null;
			return "done";
		})();
		assert.equal(await assertAtOnce(result), "done");
	});

	test("is not one that waits for a timer, or for another process", async () => {
		for (const late of [sleep(1_000), readLater()]) {
			await assert.rejects(
				assertAtOnce(late),
				/^Error: expected a result at once but got: none in \d+ turns/,
			);
		}
	});
});

/** After more turns of the event loop than one. */
async function readLater(): Promise<void> {
	for (let n = 0; n < 50; n++) await readFile(import.meta.filename);
}
