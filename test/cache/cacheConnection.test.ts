// Runs in a process of its own: it looks at all timers of the process.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CacheConnection } from "../../src/cache/cacheConnection.ts";

const timers = () =>
	process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

describe("the connection to a host of a shared cache", () => {
	it("looks for late calls only while calls run, each with its own deadline", async () => {
		using connection = new CacheConnection({
			layer: "redis",
			host: "test",
			deadlineMs: 60_000,
			open: () => ({ close() {} }),
		});
		const before = timers();
		const answers = [
			Promise.withResolvers<string>(),
			Promise.withResolvers<string>(),
		] as const;
		const calls = answers.map(({ promise }) =>
			connection.call("get", 1, () => promise),
		);
		assert.equal(timers(), before + 1);
		answers[0].resolve("one");
		assert.equal(await calls[0], "one");
		assert.equal(timers(), before + 1);
		answers[1].resolve("two");
		assert.equal(await calls[1], "two");
		assert.equal(timers(), before);

		// A call after a rest is looked for again.
		const never = new Promise<string>(() => {});
		const late = await connection.call("get", 1, () => never, {
			deadlineMs: 20,
		});
		assert.equal(late, null);
		assert.equal(timers(), before);
	});
});
