import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertGone, isAlive } from "./gone.ts";
import { startMemcached } from "./memcached.ts";
import { memjsClient } from "./memjs.ts";

async function get(address: string): Promise<string | undefined> {
	const client = memjsClient(address);
	try {
		return (await client.get("key")).value?.toString();
	} finally {
		client.close();
	}
}

async function set(address: string, value: string): Promise<void> {
	const client = memjsClient(address);
	try {
		await client.set("key", value, {});
	} finally {
		client.close();
	}
}

describe("a private memcached", () => {
	test("answers a client, and leaves no process and no file", async () => {
		const server = await startMemcached();
		await set(server.address, "value");
		assert.equal(await get(server.address), "value");
		assert.ok(isAlive(server.pid));
		await server.stop();
		await assertGone(server);
	});

	test("is separate from one started at the same time", async () => {
		await using one = await startMemcached();
		await using other = await startMemcached();
		await set(one.address, "one");
		assert.equal(await get(other.address), undefined);
	});

	test("comes back on its port, empty", async () => {
		await using server = await startMemcached();
		const { address, pid } = server;
		await set(address, "value");
		await server.restart();
		assert.equal(server.address, address);
		assert.equal(isAlive(pid), false);
		assert.equal(await get(address), undefined);
	});
});
