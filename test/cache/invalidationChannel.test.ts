import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { channelName } from "../../src/freshness/channel/invalidationMessage.ts";
import {
	ASK_MS,
	TRUST_MS,
} from "../../src/freshness/channel/invalidationSubscriber.ts";
import { channelOfLookup } from "../../src/freshness/channels.ts";
import { busyFor } from "../helpers/busy.ts";
import { A, B, openProcess } from "../helpers/channelProcess.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

describe("the invalidation channel", () => {
	let server: Server;
	before(async () => {
		server = await startRedis();
	});
	after(() => server.stop());

	test("starts lost, and is restored once it has a proof", async () => {
		await using one = openProcess(server.port);
		assert.deepEqual(one.events, ["lost"]);
		await one.restored();
		assert.deepEqual(one.events, ["lost", "restored"]);
		// It stays so, quietly.
		await sleep(TRUST_MS + 2 * ASK_MS);
		assert.deepEqual(one.events, ["lost", "restored"]);
	});

	test("delivers the keys that one process changed to the others, and not to itself", async () => {
		await using one = openProcess(server.port, "one");
		await using other = openProcess(server.port, "other");
		await Promise.all([one.restored(), other.restored()]);
		assert.equal(await other.read("old"), "old");
		assert.equal(await other.read("not read"), "old");
		assert.equal(await one.channel.publish([A, "o 7"]), true);
		await until("the message", () => other.events.length === 4);
		assert.deepEqual(other.events, [
			"lost",
			"restored",
			`keys ${A}`,
			"keys o 7",
		]);
		assert.equal(await other.read("new"), "new");
		// Its own messages have numbers too.
		await sleep(2 * ASK_MS);
		assert.deepEqual(one.events, ["lost", "restored"]);
	});

	test("sends the keys of a large write in messages of a hundred", async () => {
		await using one = openProcess(server.port, "one");
		await using other = openProcess(server.port, "other");
		await Promise.all([one.restored(), other.restored()]);
		const keys = Array.from({ length: 250 }, (_, at) => `o ${at}`);
		assert.equal(await one.channel.publish(keys), true);
		await until("the messages", () => other.events.length === 5);
		assert.deepEqual(other.events.slice(2), [
			`keys ${keys.slice(0, 100)}`,
			`keys ${keys.slice(100, 200)}`,
			`keys ${keys.slice(200)}`,
		]);
		assert.equal(await one.channel.publish([]), true);
	});

	test("sends a key that is too long for a message as one for all keys of its channel", async () => {
		await using one = openProcess(server.port, "one");
		await using other = openProcess(server.port, "other");
		await Promise.all([one.restored(), other.restored()]);
		assert.equal(await one.channel.publish([`l ${"x".repeat(500)}`]), true);
		await until("the message", () => other.events.includes("missed"));
	});

	test("counts messages that are not in its format, and drops what is cached of the channel: they may name anything", async () => {
		await using one = openProcess(server.port);
		await one.restored();
		assert.equal(await one.read("old"), "old");
		assert.equal(await one.read("old", B), "old");
		for (const text of ["hello", '{"v":3}']) {
			await ask(
				server,
				`PUBLISH ${channelName(channelOfLookup("a"))} '${text}'`,
				/\r\n$/,
			);
		}
		await until("both to be counted", () => one.channel.ignoredMessages === 2);
		assert.deepEqual(one.events, ["lost", "restored", "missed", "missed"]);
		assert.equal(await one.read("new"), "new");
		assert.equal(await one.read("not read", B), "old");
	});

	test("is lost as soon as the server ends its subscription, and restored by a new one", async () => {
		await using one = openProcess(server.port);
		await one.restored();
		assert.equal(await one.read("old"), "old");
		await ask(server, "CLIENT KILL TYPE pubsub", /\r\n$/);
		// Sooner than its silence would be noticed.
		const { ownMs } = await timed(() => one.lost());
		assert.ok(ownMs < TRUST_MS - ASK_MS - 100, `after ${ownMs} ms`);
		assert.equal(await one.read("newer"), "newer");
		assert.equal(await one.read("newest"), "newest");
		await one.restored();
		assert.deepEqual(one.events, ["lost", "restored", "lost", "restored"]);
		assert.equal(await one.read("kept"), "kept");
		assert.equal(await one.read("not read"), "kept");
	});

	test("is not trusted by a process that was paused when its own messages from before arrive: others' may lie behind them", async () => {
		await using one = openProcess(server.port);
		for (let n = 0; n < 3; n++) {
			await one.restored();
			assert.equal(await one.read("kept"), "kept");
			const published = one.channel.publish([A]);
			// The message is sent in this turn of the event loop, and received in another one.
			await new Promise(process.nextTick);
			busyFor(TRUST_MS + ASK_MS);
			assert.equal(await published, true);
			assert.equal(one.channel.isOverdue, true);
			// It is, once it has a proof by a question since: it has read what lay in its socket.
			await one.channel.untilProven();
			await one.restored();
			assert.equal(one.channel.isOverdue, false);
		}
	});

	test("does not cache a value whose read began while it was lost", async () => {
		await using one = openProcess(server.port);
		const database = Promise.withResolvers<string[]>();
		const reading = one.cache.readTexts(["a"], () => database.promise);
		await one.restored();
		database.resolve(["old"]);
		await reading;
		assert.equal(one.cache.text("a"), undefined);
	});

	test("is lost after a second of silence on a stalled connection, and cached values are not used", async () => {
		await using proxy = await TcpProxy.to(server.port);
		await using one = openProcess(proxy.port, "one");
		await one.restored();
		assert.equal(await one.read("old"), "old");
		const { ms, ownMs } = await timed(() => {
			proxy.hold();
			return one.lost();
		});
		assert.ok(ms >= TRUST_MS - ASK_MS - 50, `after ${ms} ms`);
		assert.ok(ownMs < 3 * TRUST_MS, `after ${ownMs} ms`);
		assert.equal(await one.read("new"), "new");
		proxy.release();
		await one.restored();
	});
});

describe("the invalidation channel of a Redis that fails", () => {
	test("is lost when Redis is killed, reports failed publishes, and is restored after a restart", async () => {
		await using server = await startRedis();
		await using one = openProcess(server.port);
		await one.restored();
		await server.kill();
		await one.lost();
		assert.equal(await one.channel.publish([A]), false);
		await server.restart();
		await one.restored();
		assert.equal(await one.channel.publish([A]), true);
	});

	test("opens lost without a Redis, and is restored when one starts", async () => {
		await using server = await startRedis();
		await server.kill();
		await using one = openProcess(server.port);
		await sleep(TRUST_MS);
		assert.deepEqual(one.events, ["lost"]);
		await server.restart();
		await one.restored();
	});

	test("reports nothing and leaves no connection after it is disposed of", async () => {
		await using server = await startRedis();
		const one = openProcess(server.port);
		await one.restored();
		await one[Symbol.asyncDispose]();
		assert.equal(await one.channel.publish([A]), false);
		await sleep(2 * ASK_MS);
		assert.deepEqual(one.events, ["lost", "restored", "lost"]);
		await until("no client to be left", async () =>
			(
				await ask(server, "INFO clients", /\r\n\r\n?$|pubsub_clients:\d+\r\n/)
			).includes("connected_clients:1\r\n"),
		);
	});
});
