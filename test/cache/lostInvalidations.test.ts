import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
	channelName,
	NUMBERS_KEY,
} from "../../src/freshness/channel/invalidationMessage.ts";
import { ASK_MS } from "../../src/freshness/channel/invalidationSubscriber.ts";
import { channelOfKey } from "../../src/freshness/publishedKeys.ts";
import { LossyRedis } from "../freshness/lossyRedis.ts";
import { A, B, openProcess } from "../helpers/channelProcess.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

const CHANNEL = channelOfKey(A);
/** Another key on the channel of A. */
const BESIDE = Array.from({ length: 1_000 }, (_, n) => `l ${n}`).find(
	(key) => channelOfKey(key) === CHANNEL,
) as string;

/** docs/consistency.md "Freshness by protocol", on a real Redis. What is cached does not age here: the clock is stopped. */
describe("a process that caches for minutes", () => {
	let server: Server;
	let run: string;
	before(async () => {
		server = await startRedis();
		const info = await command("INFO server", /\r\nrun_id:[0-9a-f]{40}\r\n/);
		run = /run_id:([0-9a-f]{40})/.exec(info)?.[1] ?? "";
	});
	after(() => server.stop());

	function command(line: string, end = /\r\n$/): Promise<string> {
		return ask(server, line, end);
	}

	/** Where the numbers of the channel are. */
	let number: number;
	beforeEach(async () => {
		await using one = openProcess(server.port);
		await one.restored();
		const reply = await command(
			`HGET ${NUMBERS_KEY} ${CHANNEL}`,
			/^\$\d+\r\n\d+\r\n$/,
		);
		number = Number(reply.split("\r\n")[1]);
	});

	/** Publishes with a number that Redis has not given. */
	async function say(
		number: number,
		keys: readonly string[] | "all",
		from = "another",
		ofRun = run,
	): Promise<void> {
		const text = `${ofRun} ${number} ${from} ${JSON.stringify(keys)}`;
		await command(`PUBLISH ${channelName(CHANNEL as number)} '${text}'`);
	}
	const count = (by = 1) => command(`HINCRBY ${NUMBERS_KEY} ${CHANNEL} ${by}`);

	it("drops what it kept within a question if an invalidation is lost, and nothing of other channels", async () => {
		await using lossy = await LossyRedis.before(server.port);
		await using writer = openProcess(server.port, "writer");
		await using reader = openProcess(lossy.port, "reader");
		await Promise.all([writer.restored(), reader.restored()]);
		for (const key of [A, B, BESIDE]) await reader.read("old", key);
		lossy.isLosing = true;
		assert.equal(await writer.channel.publish([A]), true);
		const { ownMs } = await timed(() =>
			until("the gap", () => reader.events.includes("missed")),
		);
		assert.ok(ownMs < 2 * ASK_MS, `after ${ownMs} ms`);
		assert.equal(lossy.lost, 1);
		assert.equal(await reader.read("new"), "new");
		assert.equal(await reader.read("new", BESIDE), "new");
		assert.equal(await reader.read("new", B), "old");
		lossy.isLosing = false;
		// Once: the next ones follow.
		assert.equal(await writer.channel.publish([A]), true);
		await until("the key", () => reader.events.at(-1) === `keys ${A}`);
		await sleep(2 * ASK_MS);
		assert.deepEqual(reader.events.slice(2), ["missed", `keys ${A}`]);
	});

	it("drops what it kept at the next invalidation of the channel, if that comes sooner", async () => {
		await using lossy = await LossyRedis.before(server.port);
		await using writer = openProcess(server.port, "writer");
		await using reader = openProcess(lossy.port, "reader");
		await Promise.all([writer.restored(), reader.restored()]);
		await reader.read("old");
		lossy.isLosing = true;
		assert.equal(await writer.channel.publish([A]), true);
		await until("it to be lost", () => lossy.lost === 1);
		lossy.isLosing = false;
		assert.equal(await writer.channel.publish([BESIDE]), true);
		await until("the key", () => reader.events.at(-1) === `keys ${BESIDE}`);
		assert.deepEqual(reader.events.slice(2), ["missed", `keys ${BESIDE}`]);
		assert.equal(await reader.read("new"), "new");
	});

	const stories: readonly {
		readonly name: string;
		readonly happens: () => Promise<unknown>;
		/** Whether what is cached of the channel is dropped. */
		readonly isDropped: boolean;
	}[] = [
		{
			name: "keeps everything else where a publisher repeats, under a new number, what Redis may have taken",
			happens: async () => {
				await count(2);
				await say(number + 1, [BESIDE]);
				await say(number + 2, [BESIDE]);
			},
			isDropped: false,
		},
		{
			name: "keeps everything else where several publish, and one is restarted",
			happens: async () => {
				await count(4);
				await say(number + 1, [BESIDE], "one");
				await say(number + 2, [BESIDE], "two");
				await say(number + 3, [BESIDE], "one-restarted");
				await say(number + 4, [BESIDE], "two");
			},
			isDropped: false,
		},
		{
			name: "drops the channel where an invalidation arrives twice under one number: it is no number of Redis",
			happens: async () => {
				await count();
				await say(number + 1, [BESIDE]);
				await say(number + 1, [BESIDE]);
			},
			isDropped: true,
		},
		{
			name: "drops the channel where invalidations change places",
			happens: async () => {
				await count(2);
				await say(number + 2, [BESIDE]);
				await say(number + 1, [BESIDE]);
			},
			isDropped: true,
		},
		{
			name: "drops the channel where another run numbered an invalidation",
			happens: async () => {
				await count();
				await say(number + 1, [BESIDE], "another", "0".repeat(40));
			},
			isDropped: true,
		},
		{
			name: "drops the channel where all that a publisher names is everything",
			happens: async () => {
				await count();
				await say(number + 1, "all");
			},
			isDropped: true,
		},
		{
			name: "drops the channel where Redis has lost its numbers, and begins elsewhere",
			happens: () => command(`DEL ${NUMBERS_KEY}`),
			isDropped: true,
		},
		{
			name: "drops the channel where the numbers of Redis went back",
			happens: () => count(-7),
			isDropped: true,
		},
	];
	for (const { name, happens, isDropped } of stories) {
		it(name, async () => {
			await using reader = openProcess(server.port, "reader");
			await reader.restored();
			assert.equal(await reader.read("old"), "old");
			await happens();
			if (isDropped) {
				await until("the gap", () => reader.events.includes("missed"));
			}
			await sleep(2 * ASK_MS);
			assert.equal(await reader.read("new"), isDropped ? "new" : "old");
			assert.ok(isDropped || !reader.events.includes("missed"));
			await sleep(2 * ASK_MS);
			const before = reader.events.length;
			await sleep(2 * ASK_MS);
			assert.equal(reader.events.length, before, "it is quiet afterwards");
		});
	}
});
