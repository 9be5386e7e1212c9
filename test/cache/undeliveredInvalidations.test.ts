import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MAX_PENDING_KEYS } from "../../src/freshness/channel/invalidationChannel.ts";
import { ASK_MS } from "../../src/freshness/channel/invalidationSubscriber.ts";
import { A, B, openProcess } from "../helpers/channelProcess.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

/** As in production. */
const DEADLINE_MS = 100;
/** One that is skipped for twice as long each time is tried at 4 s, and not again before 7. */
const OUTAGE_MS = 4_500;

const ATTEMPTS = 5;

describe("pending invalidations of a process that cannot publish", () => {
	let server: Server;
	before(async () => {
		server = await startRedis();
		await allow("on nopass ~* &* +@all");
	});
	after(() => server.stop());

	type Process = ReturnType<typeof openProcess>;

	function open(name: string, at: { readonly port: number }, user = "") {
		return openProcess(at.port, name, { user, deadlineMs: DEADLINE_MS });
	}

	async function bothRestored(...processes: readonly Process[]) {
		await Promise.all(processes.map((process) => process.restored()));
	}

	/** It has the new value; without the invalidation, it would keep the old one for ten seconds. */
	/** Its clock is stopped, so what it has kept does not age: it is dropped because the invalidation arrived. */
	function isNew(reader: Process): Promise<void> {
		return until(
			"the new value",
			async () => (await reader.read("new")) === "new",
		);
	}

	test("reach the others when its connection, cut for long, works again", async () => {
		let attempts = 0;
		while (!(await reachesOthersLater())) {
			attempts += 1;
			assert.ok(attempts < ATTEMPTS, "no invalidation can reach it");
		}
	});

	/** Whether the attempt proved it: a reader that loses its own connection, as on a machine that is paused, keeps nothing. */
	async function reachesOthersLater(): Promise<boolean> {
		await using proxy = await TcpProxy.to(server.port);
		await using writer = open("writer", proxy);
		await using reader = open("reader", server);
		await bothRestored(writer, reader);
		assert.equal(await reader.read("old"), "old");
		proxy.cut();
		await sleep(OUTAGE_MS);
		assert.equal(await writer.channel.publish([A]), false);
		await sleep(ASK_MS);
		const read = await reader.read("new");
		if (reader.events.length > 2) return false;
		assert.equal(read, "old", "no invalidation can reach it");
		proxy.restore();
		await isNew(reader);
		await writer.restored();
		await sleep(2 * ASK_MS);
		const published = reader.events.filter((event) => event === `keys ${A}`);
		assert.deepEqual(published, [`keys ${A}`], "published once");
		return true;
	}

	test("reach readers that were cut off too, and restored before the change", async () => {
		await using ofWriter = await TcpProxy.to(server.port);
		await using ofReader = await TcpProxy.to(server.port);
		await using writer = open("writer", ofWriter);
		await using reader = open("reader", ofReader);
		await bothRestored(writer, reader);
		for (const proxy of [ofWriter, ofReader]) proxy.cut();
		await Promise.all([writer.lost(), reader.lost()]);
		ofReader.restore();
		await reader.restored();
		assert.equal(await reader.read("old"), "old");
		assert.equal(await writer.channel.publish([A]), false);
		assert.equal(await reader.read("new"), "old");
		ofWriter.restore();
		await isNew(reader);
	});

	test("reach the others after its connection stalled and lost what it sent", async () => {
		await using proxy = await TcpProxy.to(server.port);
		await using writer = open("writer", proxy);
		await using reader = open("reader", server);
		await bothRestored(writer, reader);
		assert.equal(await reader.read("old"), "old");
		proxy.hold();
		const { result, ownMs } = await timed(() => writer.channel.publish([A]));
		assert.equal(result, false);
		assert.ok(ownMs < 2 * DEADLINE_MS + 200, `it settled after ${ownMs} ms`);
		proxy.cut();
		proxy.restore();
		await isNew(reader);
	});

	test("reach the others after Redis hung for less than the silence limit", async () => {
		await using writer = open("writer", server);
		await using reader = open("reader", server);
		await bothRestored(writer, reader);
		assert.equal(await reader.read("old"), "old");
		server.pause();
		try {
			// Redis may read it when it wakes; what comes after is not even sent.
			assert.equal(await writer.channel.publish([B]), false);
			assert.equal(await writer.channel.publish([A]), false);
		} finally {
			server.resume();
		}
		await isNew(reader);
		assert.ok(!reader.events.includes("lost", 1), String(reader.events));
	});

	test("reach the others after it could subscribe and ask but not publish, which they notice meanwhile by the number that it took", async () => {
		await allow("+publish");
		await using writer = open("writer", server, "writer");
		await using reader = open("reader", server);
		await bothRestored(writer, reader);
		assert.equal(await reader.read("old"), "old");
		await allow("-publish");
		assert.equal(await writer.channel.publish([A]), false);
		await isNew(reader);
		assert.ok(!reader.events.includes(`keys ${A}`));
		await allow("+publish");
		await until("the key", () => reader.events.includes(`keys ${A}`));
	});

	test("are sent in messages of a hundred keys, and as one message for all keys above the limit", async () => {
		await using proxy = await TcpProxy.to(server.port);
		await using writer = open("writer", proxy);
		await using reader = open("reader", server);
		await bothRestored(writer, reader);
		const keys = Array.from({ length: MAX_PENDING_KEYS }, (_, at) => `o ${at}`);
		const cutOff = async (keys: readonly string[]) => {
			proxy.cut();
			assert.equal(await writer.channel.publish(keys), false);
			proxy.restore();
		};
		await cutOff(keys.slice(0, 250));
		await until("the messages", () => reader.events.length === 5);
		assert.deepEqual(reader.events.slice(2), [
			`keys ${keys.slice(0, 100)}`,
			`keys ${keys.slice(100, 200)}`,
			`keys ${keys.slice(200, 250)}`,
		]);

		assert.equal(await reader.read("old"), "old");
		await cutOff([...keys, "a"]);
		await isNew(reader);
		// One for each channel.
		assert.deepEqual([...new Set(reader.events.slice(5))], ["missed"]);
		assert.equal(await reader.read("not read"), "new", "it keeps again");
	});

	test("of others do not restore a process that has no answer to its questions: it used no cached value", async () => {
		await allow("-hmget");
		await using deaf = open("deaf", server, "writer");
		await using writer = open("writer", server);
		await writer.restored();
		await until("the key", async () => {
			await writer.channel.publish([B]);
			return deaf.events.includes(`keys ${B}`);
		});
		assert.ok(!deaf.events.includes("restored"), String(deaf.events));
		assert.equal(await deaf.read("old"), "old");
		assert.equal(await deaf.read("new"), "new");
		await allow("+hmget");
	});

	test("of hundreds of publications at once reach the others before the process ends, in few messages", async () => {
		await using reader = open("reader", server);
		const writer = open("writer", server);
		await bothRestored(writer, reader);
		const keys = Array.from({ length: 300 }, (_, at) => `o ${at}`);
		const published = keys.map((key) => writer.channel.publish([key]));
		await writer[Symbol.asyncDispose]();
		assert.ok(!(await Promise.all(published)).includes(false));
		const messages = () => reader.events.slice(2);
		const received = () =>
			messages().flatMap((line) => line.slice("keys ".length).split(","));
		await until("all keys", () => received().length === keys.length);
		assert.deepEqual(received().sort(), keys.toSorted());
		// What is published in one turn goes together, a hundred keys in a message.
		assert.equal(messages().length, 3);
	});

	test("do not keep a process from ending while Redis hangs", async () => {
		const writer = open("writer", server);
		await writer.restored();
		server.pause();
		try {
			void writer.channel.publish([A]);
			const { ownMs } = await timed(async () => writer[Symbol.asyncDispose]());
			assert.ok(ownMs < 2 * DEADLINE_MS + 300, `${ownMs} ms`);
		} finally {
			server.resume();
		}
	});

	/** What the user `writer` may do from now on, also over connections that are open. */
	async function allow(rules: string): Promise<void> {
		const answer = await ask(server, `ACL SETUSER writer ${rules}`, /\r\n$/);
		assert.equal(answer, "+OK\r\n");
	}
});
