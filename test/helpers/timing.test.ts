import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { busyFor } from "./busy.ts";
import { assertAtOnce, assertCpuWithin, timed } from "./timing.ts";

/** Uses CPU time in proportion to `units`. */
function work(units: number): number {
	let sum = 0;
	for (let n = 0; n < units * 300_000; n++) sum += Math.sqrt(n);
	return sum;
}

describe("assertCpuWithin", () => {
	test("accepts work that uses less CPU time than the limit", async () => {
		await assertCpuWithin(
			4,
			() => work(10),
			() => work(10),
		);
	});

	test("rejects work that uses more CPU time than the limit, and reports the ratio", async () => {
		await assert.rejects(
			assertCpuWithin(
				2,
				() => work(2),
				() => work(20),
			),
			/^Error: expected less than 2 times the CPU time of the reference work but got: \d+\.\d times/,
		);
	});

	test("does not count time spent waiting", async () => {
		await assertCpuWithin(
			4,
			() => work(10),
			() => sleep(100),
		);
	});
});

describe("timed", () => {
	test("measures the time of a timer in both ms and ownMs", async () => {
		const { result, ms, ownMs } = await timed(() => sleep(200, "done"));
		assert.equal(result, "done");
		assert.ok(ms >= 199, `${ms} ms`);
		assert.ok(ownMs > 100 && ownMs <= ms, `${ownMs} of ${ms} ms`);
	});

	test("excludes from ownMs the time for which the event loop was blocked", async () => {
		const { ms, ownMs } = await timed(async () => {
			await sleep(50);
			busyFor(500);
			await sleep(50);
		});
		assert.ok(ms >= 599, `${ms} ms`);
		assert.ok(ownMs < ms - 400, `${ownMs} of ${ms} ms`);
	});

	test("rejects with the error of the measured call", async () => {
		await assert.rejects(
			timed(() => Promise.reject(new Error("no"))),
			/^Error: no$/,
		);
	});
});

describe("assertAtOnce", () => {
	test("returns a result that needs promise jobs only", async () => {
		const result = (async () => {
			for (let n = 0; n < 100; n++) await null;
			return "done";
		})();
		assert.equal(await assertAtOnce(result), "done");
	});

	test("rejects a result that waits for a timer or for file reads", async () => {
		for (const late of [sleep(1_000), readLater()]) {
			await assert.rejects(
				assertAtOnce(late),
				/^Error: expected a result at once but got: none in \d+ turns/,
			);
		}
	});
});

/** Resolves after several turns of the event loop. */
async function readLater(): Promise<void> {
	for (let n = 0; n < 50; n++) await readFile(import.meta.filename);
}
