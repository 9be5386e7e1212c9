import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { ALL_CHANNELS } from "../../src/cache/slotVersions.ts";
import {
	ASK_MS,
	TRUST_MS,
} from "../../src/freshness/channel/invalidationSubscriber.ts";
import { channelOfKey } from "../../src/freshness/publishedKeys.ts";
import { openProcess } from "../helpers/channelProcess.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

const keysOf = (parity: number) =>
	Array.from({ length: 100 }, (_, n) => `l ${n}`).filter(
		(key) => (channelOfKey(key) ?? 0) % 2 === parity,
	);
const EVEN = keysOf(0)[0] as string;
const ODD = keysOf(1)[0] as string;

describe("of several Redis, one that fails", () => {
	let even: Server;
	let odd: Server;
	before(async () => {
		[even, odd] = await Promise.all([startRedis(), startRedis()]);
	});
	after(() => Promise.all([even.stop(), odd.stop()]));

	/** The channels with even numbers are at one Redis, the others at the other. */
	function open(name: string) {
		const redis = [even, odd].map(({ url }) => new RedisConnections(url));
		return openProcess(even.port, name, {
			deadlineMs: 100,
			redisOf: (channel) => redis[channel % 2] as RedisConnections,
		});
	}

	/** Whether the process keeps what it reads of the key. */
	async function keeps(one: ReturnType<typeof open>, key: string) {
		const value = await one.read("first", key);
		return (await one.read("second", key)) === value;
	}

	const restored = (...processes: readonly ReturnType<typeof open>[]) =>
		until("all channels", async () => {
			const kept = processes.flatMap((one) => [
				keeps(one, EVEN),
				keeps(one, ODD),
			]);
			return (await Promise.all(kept)).every((isKept) => isKept);
		});

	const FAULTS: Readonly<
		Record<string, { begin(): Promise<void>; end(): Promise<void> }>
	> = {
		"is killed, and begins empty": {
			begin: () => odd.kill(),
			end: () => odd.restart(),
		},
		"is paused": {
			begin: async () => odd.pause(),
			end: async () => odd.resume(),
		},
	};
	for (const [fault, { begin, end }] of Object.entries(FAULTS)) {
		it(`bypasses its channels and no others, where it ${fault}`, async () => {
			await using reader = open("reader");
			await using writer = open("writer");
			await restored(reader, writer);
			for (const key of [EVEN, ODD]) {
				reader.cache.invalidateText(key);
				await reader.read("old", key);
			}
			await begin();
			try {
				const { ownMs } = await timed(() => reader.lost());
				assert.ok(ownMs < 2 * TRUST_MS, `after ${ownMs} ms`);
				assert.equal(await reader.read("new", ODD), "new");
				assert.equal(await reader.read("newer", ODD), "newer");
				assert.equal(await reader.read("new", EVEN), "old");
				assert.equal(await writer.channel.publish([ODD]), false);
				assert.equal(await writer.channel.publish([EVEN]), true);
				await until(
					"what is published elsewhere",
					async () => (await reader.read("new", EVEN)) === "new",
				);
				assert.equal(reader.channel.isOverdue, false);
			} finally {
				await end();
			}
			await restored(reader);
			// What was kept for it reaches it; a reader that is back later has dropped it anyway.
			assert.ok(await writer.channel.untilPublished([ODD], 60_000));
		});
	}

	it("takes what belongs to every channel, once for each", async () => {
		await using reader = open("reader");
		await using writer = open("writer");
		await restored(reader, writer);
		reader.events.length = 0;
		assert.equal(await writer.channel.publish(["*"]), true);
		await until("all", () => reader.events.length === ALL_CHANNELS.size);
		assert.deepEqual([...new Set(reader.events)], ["missed"]);
	});
});

describe("processes that do nothing", () => {
	it("cost Redis four questions a second each, and no delivery", async () => {
		await using server = await startRedis();
		const processes = [1, 2, 3].map((n) => openProcess(server.port, `${n}`));
		await Promise.all(processes.map((one) => one.restored()));
		await ask(server, "CONFIG RESETSTAT", /\r\n$/);
		const began = performance.now();
		await sleep(8 * ASK_MS);
		const text = await ask(server, "INFO commandstats", /cmdstat_eval.*\r\n/);
		const seconds = (performance.now() - began) / 1_000;
		const calls = (name: string) =>
			Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
		assert.equal(calls("publish"), 0);
		const most = 3 * (4 * seconds + 1);
		assert.ok(calls("eval") >= 3, text);
		assert.ok(calls("eval") <= most, `${calls("eval")} of ${most}`);
		assert.ok(calls("ping") <= most, `${calls("ping")} of ${most}`);
		for (const one of processes) await one[Symbol.asyncDispose]();
	});
});
