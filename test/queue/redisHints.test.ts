import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { GROUP, openRedisHints } from "../../src/queue/redisHints.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

describe("hints over Redis", () => {
	let server: Server;
	before(async () => {
		server = await startRedis();
	});
	after(() => server.stop());

	function open(...queues: readonly string[]) {
		const received: string[] = [];
		const hints = openRedisHints({
			redis: new RedisConnections(server.url),
			onHint: (hint) => received.push(hint),
		});
		const end = queues.length > 0 ? hints.listen(queues) : () => {};
		return { hints, received, end };
	}

	const connected = (one: ReturnType<typeof open>) =>
		until("it to listen", () => one.hints.isConnected);

	it("reach the workers of a channel and no others, each worker as often as another", async () => {
		await using stack = new AsyncDisposableStack();
		const workers: ReturnType<typeof open>[] = [];
		// One after the other, as the channel that one joins depends on the others.
		for (let n = 0; n < GROUP + 4; n++) {
			const worker = open("many", `own${n}`);
			stack.use(worker.hints);
			await connected(worker);
			workers.push(worker);
		}
		const sender = open();
		stack.use(sender.hints);
		const times = 300;
		for (let n = 0; n < times; n++) {
			sender.hints.publish("many", `many.${n}`);
			const receivers = (hint: string) =>
				workers.filter(({ received }) => received.includes(hint)).length;
			await until("a channel", () =>
				[GROUP, 4].includes(receivers(`many.${n}`)),
			);
		}
		const counts = workers.map(({ received }) => received.length);
		const first = counts[0] as number;
		assert.equal(first + (counts.at(-1) as number), times);
		// Four of twenty get a fifth of them.
		assert.ok(first > 0.65 * times && first < 0.95 * times, `${first}`);
		assert.equal(
			sender.hints.isConnected,
			false,
			"who only sends receives none",
		);
	});

	it("reach a worker that serves the queue, whichever else there are, and none that has left", async () => {
		await using stack = new AsyncDisposableStack();
		const [one, both, left] = [open("a"), open("a", "b"), open("b")] as const;
		const sender = open();
		for (const { hints } of [one, both, left, sender]) stack.use(hints);
		await Promise.all([one, both, left].map(connected));
		left.end();
		await until("it to have left", async () =>
			/\r\n:1\r\n$/.test(
				await ask(server, "PUBSUB NUMSUB corkboard.jobs.2.b.1", /:\d\r\n$/),
			),
		);
		for (let n = 0; n < 20; n++) {
			sender.hints.publish("b", `b.${n}`);
			sender.hints.publish("a", `a.${n}`);
			sender.hints.publish("nobody", `nobody.${n}`);
		}
		await until("all", () => both.received.length === 40);
		assert.equal(
			one.received.filter((hint) => hint.startsWith("a.")).length,
			20,
		);
		assert.equal(one.received.length, 20);
		assert.deepEqual(left.received, []);
	});

	it("are received again after the subscription was ended", async () => {
		await using stack = new AsyncDisposableStack();
		const worker = open("ended");
		const sender = open();
		for (const { hints } of [worker, sender]) stack.use(hints);
		await connected(worker);
		await ask(server, "CLIENT KILL TYPE pubsub", /\r\n$/);
		await until("its end", () => !worker.hints.isConnected);
		await connected(worker);
		sender.hints.publish("ended", "ended.1");
		await until("the hint", () => worker.received.includes("ended.1"));
	});
});
