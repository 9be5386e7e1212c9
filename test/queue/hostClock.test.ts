import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { HostClock } from "../../src/queue/mysql/hostClock.ts";

const ATTEMPTS = 5;

/** A host whose answers take so long on their way back, each in turn; the last one from then on. */
function hostAnsweringAfter(...delays: readonly number[]) {
	const left = [...delays];
	return {
		async rows() {
			const now = Date.now() * 1_000;
			await sleep(left.length > 1 ? left.shift() : left[0]);
			return [[now]];
		},
	};
}

test("a host's clock is not put back by an answer that took long, as while the host or this process was paused", async () => {
	for (const delays of [
		[1_500, 0],
		[0, 1_500],
	]) {
		// This process may really be paused, so that the other answer takes long too: the best of a few.
		let wrongMs = Number.POSITIVE_INFINITY;
		for (let n = 0; n < ATTEMPTS && Math.abs(wrongMs) >= 400; n++) {
			const clock = new HostClock(hostAnsweringAfter(...delays), 60_000);
			await clock.now(0);
			await clock.measure(0);
			wrongMs = (await clock.now(0)) / 1_000 - Date.now();
		}
		assert.ok(Math.abs(wrongMs) < 400, `${delays}: ${wrongMs} ms`);
	}
});
