import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { HostClock } from "../../src/queue/mysql/hostClock.ts";

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

test("a host's clock is not put back by an answer that took long, as while the host or this process stood still", async () => {
	for (const delays of [
		[1_500, 0],
		[0, 1_500],
	]) {
		const clock = new HostClock(hostAnsweringAfter(...delays), 60_000);
		await clock.now(0);
		await clock.measure(0);
		const wrongMs = (await clock.now(0)) / 1_000 - Date.now();
		assert.ok(Math.abs(wrongMs) < 400, `${delays}: ${wrongMs} ms`);
	}
});
