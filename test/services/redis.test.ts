import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { Redis } from "ioredis";
import { until } from "../helpers/until.ts";
import { assertGone, isAlive } from "./gone.ts";
import { startRedis } from "./redis.ts";

function connect(url: string, commandTimeout = 60_000) {
	const redis = new Redis(url, {
		commandTimeout,
		retryStrategy: () => null,
		maxRetriesPerRequest: 0,
	});
	// The command itself reports its errors.
	redis.on("error", () => {});
	return { redis, [Symbol.dispose]: () => redis.disconnect() };
}

async function get(url: string, key: string): Promise<string | null> {
	using client = connect(url);
	return await client.redis.get(key);
}

async function set(url: string, key: string, value: string): Promise<void> {
	using client = connect(url);
	await client.redis.set(key, value);
}

describe("a private Redis", () => {
	test("answers a client, and leaves no process and no file", async () => {
		const server = await startRedis();
		assert.match(server.url, /^redis:\/\/127\.0\.0\.1:\d+$/);
		await set(server.url, "key", "value");
		assert.equal(await get(server.url, "key"), "value");
		assert.ok(isAlive(server.pid) && existsSync(server.folder));
		await server.stop();
		await assertGone(server);
	});

	test("is separate from one started at the same time", async () => {
		await using one = await startRedis();
		await using other = await startRedis();
		await set(one.url, "key", "one");
		assert.equal(await get(other.url, "key"), null);
		assert.notEqual(one.address, other.address);
		assert.notEqual(one.folder, other.folder);
	});

	test("restarts on its port with the snapshot it saved before it was killed", async () => {
		await using server = await startRedis();
		const { url, pid } = server;
		{
			using client = connect(url);
			await client.redis.set("key", "saved");
			await client.redis.save();
			await client.redis.set("key", "not saved");
		}
		await server.kill();
		assert.equal(isAlive(pid), false);
		await assert.rejects(get(url, "key"));
		await server.restart();
		assert.equal(server.url, url);
		assert.notEqual(server.pid, pid);
		assert.equal(await get(url, "key"), "saved");
	});

	test("answers nothing while it is paused, and every command after it resumes", async () => {
		await using server = await startRedis();
		using client = connect(server.url, 2_000);
		await until("the value to be stored", () =>
			client.redis.set("key", "value").then(
				() => true,
				() => false,
			),
		);
		server.pause();
		await assert.rejects(client.redis.get("key"), /timed out/i);
		server.resume();
		assert.equal(await get(server.url, "key"), "value");
	});

	test("stops even while it is paused", async () => {
		const server = await startRedis();
		server.pause();
		await server.stop();
		await assertGone(server);
	});

	test("accepts further options", async () => {
		await using server = await startRedis({ args: ["--maxmemory", "5mb"] });
		using client = connect(server.url);
		assert.deepEqual(await client.redis.config("GET", "maxmemory"), [
			"maxmemory",
			"5242880",
		]);
	});

	test("reports its output if it does not start, and leaves no file", async () => {
		await assert.rejects(
			startRedis({ args: ["--no-such-option", "1"] }),
			/^Error: expected redis to answer on port \d+ but got: its end, exit code 1\. It printed:[\s\S]*no-such-option/,
		);
	});
});
