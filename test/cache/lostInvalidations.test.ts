import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
	encodeHeartbeat,
	encodeKeys,
} from "../../src/freshness/invalidationMessage.ts";
import { HEARTBEAT_MS } from "../../src/freshness/invalidationSubscriber.ts";
import { openProcess } from "../helpers/channelProcess.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

/** docs/consistency.md "Freshness by protocol", on a real Redis. What is cached does not age here: the clock stands still. */
describe("a process that caches for minutes", () => {
	let server: Server;
	before(async () => {
		server = await startRedis();
	});
	after(() => server.stop());

	/** Publishes as another process. */
	async function say(text: string): Promise<void> {
		await ask(server, `PUBLISH corkboard.changed.2 '${text}'`, /\r\n$/);
	}
	const number = (from: string, number: number, series = 0, base = 0) => ({
		...{ from, series, base, number },
	});

	it("drops what it kept within a heartbeat or two if an invalidation is lost", async () => {
		let isLost = false;
		await using writer = openProcess(server.port, "writer");
		await using reader = openProcess(server.port, "reader", {
			receives: ({ sentAt }) => sentAt !== undefined || !isLost,
		});
		await Promise.all([writer.restored(), reader.restored()]);
		assert.equal(await reader.read("old"), "old");
		isLost = true;
		assert.equal(await writer.channel.publish(["a"]), true);
		await until("the gap", () => reader.events.includes("missed"));
		assert.equal(await reader.read("new"), "new");
		isLost = false;
		// Once: the next ones follow.
		assert.equal(await writer.channel.publish(["b"]), true);
		await until("the key", () => reader.events.at(-1) === "keys b");
		await sleep(2 * HEARTBEAT_MS);
		assert.deepEqual(reader.events.slice(2), ["missed", "keys b"]);
	});

	const stories: readonly {
		readonly name: string;
		readonly messages: readonly string[];
		readonly events: readonly string[];
	}[] = [
		{
			name: "keeps everything else where an invalidation arrives twice",
			messages: [
				encodeKeys(number("twice", 1), ["b"]),
				encodeKeys(number("twice", 1), ["b"]),
				encodeHeartbeat(number("twice", 1), 1),
			],
			events: ["keys b", "keys b"],
		},
		{
			name: "drops everything where invalidations change places",
			messages: [
				encodeKeys(number("late", 1), ["b"]),
				encodeKeys(number("late", 3), ["d"]),
				encodeKeys(number("late", 2), ["c"]),
				encodeHeartbeat(number("late", 3), 1),
			],
			events: ["keys b", "missed", "keys d", "keys c"],
		},
		{
			name: "counts the invalidations of two publishers apart",
			messages: [
				encodeKeys(number("first", 1), ["b"]),
				encodeKeys(number("second", 1), ["c"]),
				encodeKeys(number("second", 2), ["d"]),
				encodeHeartbeat(number("first", 1), 1),
				encodeHeartbeat(number("second", 2), 1),
			],
			events: ["keys b", "keys c", "keys d"],
		},
		{
			name: "keeps everything else where a publisher is restarted, under a new epoch",
			messages: [
				encodeKeys(number("before", 1), ["b"]),
				encodeHeartbeat(number("after", 0), 1),
				encodeKeys(number("after", 1), ["c"]),
			],
			events: ["keys b", "keys c"],
		},
		{
			name: "drops everything where an unknown publisher has published",
			messages: [encodeHeartbeat(number("unknown", 3), 1)],
			events: ["missed"],
		},
		{
			name: "keeps everything else where a publisher repeats what Redis may not have taken",
			messages: [
				encodeKeys(number("again", 1), ["b"]),
				encodeKeys(number("again", 2), ["c"]),
				encodeKeys(number("again", 2, 1, 1), ["c"]),
				encodeHeartbeat(number("again", 2, 1, 1), 1),
			],
			events: ["keys b", "keys c", "keys c"],
		},
	];
	for (const { name, messages, events } of stories) {
		it(name, async () => {
			await using reader = openProcess(server.port, "reader");
			await reader.restored();
			assert.equal(await reader.read("old"), "old");
			for (const message of messages) await say(message);
			await say(encodeKeys(number(`end of ${name}`, 1), ["end"]));
			await until("the end", () => reader.events.at(-1) === "keys end");
			assert.deepEqual(reader.events.slice(2, -1), events);
			const isEmptied = events.includes("missed");
			assert.equal(await reader.read("new"), isEmptied ? "new" : "old");
		});
	}
});
