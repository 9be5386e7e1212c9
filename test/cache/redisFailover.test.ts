import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openRedisCache } from "../../src/cache/redis/redisCache.ts";
import { TRUST_MS } from "../../src/freshness/channel/invalidationSubscriber.ts";
import { A, openProcess } from "../helpers/channelProcess.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import { redisClients } from "../services/redisClients.ts";
import type { Server } from "../services/server.ts";
import { kindOf } from "../suites/sharedCache.ts";

/** As in production. */
const DEADLINE_MS = 100;

/** A Redis and its replica behind one name, and a process that reads. */
async function openPair() {
	const stack = new AsyncDisposableStack();
	const former = stack.use(await startRedis());
	const next = stack.use(await startRedis());
	await ask(next, `REPLICAOF 127.0.0.1 ${former.port}`, /\+OK\r\n$/);
	await until("the replica", async () =>
		(await ask(next, "INFO replication", /\r\n\r\n?$|repl_id2?:/)).includes(
			"master_link_status:up",
		),
	);
	const name = stack.use(await TcpProxy.to(former.port));
	const reader = stack.use(
		openProcess(name.port, "reader", { deadlineMs: DEADLINE_MS }),
	);
	const heads = stack.use(
		openRedisCache({ redis: reader.redis, deadlineMs: DEADLINE_MS }),
	);
	await reader.restored();
	return { former, next, name, reader, heads, stack };
}

async function connectionsOf(server: Server): Promise<number> {
	const { normal, pubsub } = await redisClients(server);
	return normal + pubsub;
}

describe("a name that leads to another Redis, while open connections stay", () => {
	it("is followed with all connections once the former one is a replica, and nothing is shown that another process changed since", async () => {
		const { former, next, name, reader, heads, stack } = await openPair();
		await using _ = stack;
		assert.equal(await reader.read("old"), "old");
		const key = "list";
		const [taken] = await heads.getOrLease([key]);
		assert.ok(taken?.kind === "lease");
		await heads.fill([{ lease: taken.lease, value: "old" }]);
		assert.equal(kindOf((await heads.getOrLease([key]))[0]), "hit");

		name.redirect(next.port);
		await ask(next, "REPLICAOF NO ONE", /\+OK\r\n$/);
		await using writer = openProcess(name.port, "writer", {
			deadlineMs: DEADLINE_MS,
		});
		await until("the writer to publish", () => writer.channel.publish([A]));
		const { ownMs } = await timed(async () => {
			await ask(former, `REPLICAOF 127.0.0.1 ${next.port}`, /\+OK\r\n$/);
			await until(
				"the change",
				async () => (await reader.read("new")) === "new",
			);
			await until(
				"the head of the new server",
				async () => kindOf((await heads.getOrLease([key]))[0]) !== "hit",
			);
		});
		assert.ok(ownMs < TRUST_MS, `after ${ownMs} ms`);
		await until("all connections to move", async () => {
			const [left, moved] = await Promise.all([
				connectionsOf(former),
				redisClients(next),
			]);
			return left === 0 && moved.normal === 2 && moved.pubsub === 2;
		});
		await reader.restored();
		assert.equal(await writer.channel.publish([A]), true);
		await until("the key", () => reader.events.includes(`keys ${A}`));
	});

	it("is followed with all connections as soon as one of them finds it", async () => {
		const { former, next, name, reader, heads, stack } = await openPair();
		await using _ = stack;
		name.redirect(next.port);
		// Both take writes, as when the former one was cut off from those who promoted the other.
		await ask(next, "REPLICAOF NO ONE", /\+OK\r\n$/);
		await ask(former, "CLIENT KILL TYPE normal", /\r\n$/);
		// Sooner than its silence would be noticed.
		const { ownMs } = await timed(() =>
			until("it to be lost", async () => {
				await heads.getOrLease(["any"]);
				return reader.events.at(-1) === "lost";
			}),
		);
		assert.ok(ownMs < TRUST_MS / 2, `after ${ownMs} ms`);
		await until("all connections to move", async () => {
			const [left, moved] = await Promise.all([
				connectionsOf(former),
				redisClients(next),
			]);
			return left === 0 && moved.normal === 1 && moved.pubsub === 1;
		});
		await reader.restored();
	});
});
