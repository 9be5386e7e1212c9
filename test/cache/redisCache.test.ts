import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { openRedisCache } from "../../src/cache/redis/redisCache.ts";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { assertAtOnce, timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";
import {
	asLease,
	hit,
	kindOf,
	leaseOf,
	sharedCacheTests,
	withoutLeases,
} from "../suites/sharedCache.ts";

/** For what is not about the deadline, on a machine that runs much else. */
const PATIENT = 5_000;

describe("the shared cache on Redis", () => {
	let server: Server;
	before(async () => {
		server = await startRedis();
	});
	after(() => server.stop());

	sharedCacheTests({
		port: () => server.port,
		startSmall: () =>
			startRedis({
				args: ["--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru"],
			}),
		open: ({ port = server.port, deadlineMs, leaseSeconds, ttlSeconds } = {}) =>
			openRedisCache({
				redis: new RedisConnections(`redis://127.0.0.1:${port}`),
				...(deadlineMs !== undefined && { deadlineMs }),
				...(leaseSeconds !== undefined && { leaseMs: leaseSeconds * 1_000 }),
				...(ttlSeconds !== undefined && { ttlMs: ttlSeconds * 1_000 }),
			}),
	});
});

describe("a Redis that fails", () => {
	test("a deleted head does not come back when Redis restarts from a snapshot", async () => {
		await using server = await startRedis();
		await using cache = openRedisCache({
			redis: new RedisConnections(server.url),
			deadlineMs: PATIENT,
		});
		await cache.fill([{ lease: await leaseOf(cache, "a"), value: "old" }]);
		const lease = await leaseOf(cache, "b");
		const before = await names(server);
		await command(server, "SAVE");
		assert.equal(await cache.delete(["a", "b"]), true);
		await server.kill();
		await server.restart();

		// The old head is there, under the name it had.
		assert.deepEqual(await names(server), before);
		assert.ok(before.some((name) => name.endsWith(".a")));
		await until("the cache to come back", async () => {
			const [looked] = await cache.getOrLease(["a"]);
			assert.notEqual(kindOf(looked), "hit");
			return kindOf(looked) === "lease";
		});
		// A lease of before the restart, whose token the snapshot holds, fills nothing that is asked for.
		await cache.fill([{ lease, value: "old" }]);
		assert.equal(kindOf((await cache.getOrLease(["b"]))[0]), "lease");
	});

	test("a replica is not read, and a promoted one starts empty", async () => {
		await using master = await startRedis({
			args: ["--repl-diskless-sync-delay", "0"],
		});
		await using replica = await startRedis();
		await using first = openRedisCache({
			redis: new RedisConnections(master.url),
			deadlineMs: PATIENT,
		});
		await using second = openRedisCache({
			redis: new RedisConnections(replica.url),
			deadlineMs: PATIENT,
		});
		await first.fill([{ lease: await leaseOf(first, "a"), value: "old" }]);
		await command(replica, `REPLICAOF 127.0.0.1 ${master.port}`);
		await until("the replica to have what its master has", async () =>
			(await names(replica)).some((name) => name.endsWith(".a")),
		);
		assert.deepEqual(await second.getOrLease(["a"]), [{ kind: "down" }]);
		await command(replica, "REPLICAOF NO ONE");
		await until("the promoted one to be used", async () => {
			const [looked] = await second.getOrLease(["a"]);
			assert.notEqual(kindOf(looked), "hit");
			return kindOf(looked) === "lease";
		});
	});

	test("a master that was demoted is given up at the first write it refuses", async () => {
		await using server = await startRedis();
		await using cache = openRedisCache({
			redis: new RedisConnections(server.url),
			deadlineMs: PATIENT,
		});
		await cache.fill([{ lease: await leaseOf(cache, "a"), value: "old" }]);
		await command(server, "REPLICAOF 127.0.0.1 1");
		assert.equal(await cache.delete(["a"]), false);
		await sleep(150);
		assert.deepEqual(await cache.getOrLease(["a"]), [{ kind: "down" }]);
	});

	test("a hanging server costs one read its deadline and the next ones nothing, and is used again when it responds", async () => {
		await using server = await startRedis();
		await using cache = openRedisCache({
			redis: new RedisConnections(server.url),
			deadlineMs: 200,
		});
		await until("a lease", async () => {
			const [looked] = await cache.getOrLease(["a"]);
			if (kindOf(looked) !== "lease") return false;
			await cache.fill([{ lease: asLease(looked), value: "kept" }]);
			return kindOf((await cache.getOrLease(["a"]))[0]) === "hit";
		});
		server.pause();
		const first = await timed(() => cache.getOrLease(["a"]));
		assert.deepEqual(first.result, [{ kind: "down" }]);
		assert.ok(first.ms >= 190, `took ${first.ms} ms`);
		assert.deepEqual(await assertAtOnce(cache.getOrLease(["a"])), [
			{ kind: "down" },
		]);
		assert.equal(await cache.delete(["b"]), false);
		server.resume();
		await until("the value to be found again", async () =>
			isDeepStrictEqual(await withoutLeases(cache).getOrLease(["a"]), [
				hit("kept"),
			]),
		);
	});

	test("a killed server is down at once, and is used again after its restart", async () => {
		await using server = await startRedis();
		await using cache = openRedisCache({
			redis: new RedisConnections(server.url),
			deadlineMs: PATIENT,
		});
		await leaseOf(cache, "a");
		await server.kill();
		const killed = await timed(() => cache.getOrLease(["a", "b"]));
		assert.deepEqual(killed.result, [{ kind: "down" }, { kind: "down" }]);
		assert.ok(killed.ownMs < 1_000, `took ${killed.ownMs} ms`);
		assert.equal(await cache.delete(["a"]), false);
		await server.restart();
		await until(
			"a lease",
			async () => kindOf((await cache.getOrLease(["a"]))[0]) === "lease",
		);
	});

	test("a fill on a stalled connection is given up after one deadline", async () => {
		await using server = await startRedis();
		await using proxy = await TcpProxy.to(server.port);
		await using cache = openRedisCache({
			redis: new RedisConnections(`redis://127.0.0.1:${proxy.port}`),
			deadlineMs: 200,
		});
		await using near = openRedisCache({
			redis: new RedisConnections(server.url),
			deadlineMs: PATIENT,
		});
		const lease = await leaseOf(near, "a");
		await until(
			"the cache connected",
			async () => kindOf((await cache.getOrLease(["a"]))[0]) === "busy",
		);
		proxy.hold();
		const { ms, ownMs } = await timed(() =>
			cache.fill([{ lease, value: "x" }]),
		);
		assert.ok(ms >= 190 && ownMs < 1_500, `took ${ms} ms`);
	});

	test("a full Redis refuses fills and leases, and still serves hits and deletes", async () => {
		await using server = await startRedis();
		await using cache = openRedisCache({
			redis: new RedisConnections(server.url),
			deadlineMs: PATIENT,
		});
		await cache.fill([{ lease: await leaseOf(cache, "held"), value: "kept" }]);
		const lease = await leaseOf(cache, "leased");
		await command(server, "CONFIG SET maxmemory-policy noeviction");
		await command(server, "CONFIG SET maxmemory 1");
		await cache.fill([{ lease, value: "refused" }]);
		const looked = withoutLeases(cache);
		assert.deepEqual(await looked.getOrLease(["held", "leased", "absent"]), [
			hit("kept"),
			{ kind: "busy" },
			{ kind: "down" },
		]);
		assert.equal(await cache.delete(["held"]), true);
		await command(server, "CONFIG SET maxmemory 0");
		assert.equal(kindOf((await cache.getOrLease(["held"]))[0]), "lease");
	});

	test("a server with a password is down without it, and used with it", async () => {
		await using server = await startRedis();
		await command(server, "CONFIG SET requirepass pw");
		await using without = openRedisCache({
			redis: new RedisConnections(server.url),
			deadlineMs: PATIENT,
		});
		assert.deepEqual(await without.getOrLease(["a"]), [{ kind: "down" }]);
		await using authorized = openRedisCache({
			redis: new RedisConnections(`redis://:pw@${server.address}`),
			deadlineMs: PATIENT,
		});
		await leaseOf(authorized, "a");
	});

	test("an invalid URL is refused with a message that does not repeat it", () => {
		for (const url of ["", "cache:6379", "http://cache", "redis://"]) {
			assert.throws(
				() => openRedisCache({ redis: new RedisConnections(url) }),
				{
					code: "BAD_CONFIG",
					message:
						"The Redis URL: it must look like redis://cache1.example.com:6379.",
				},
			);
		}
	});
});

/** As the server reports it, on a connection of its own. */
function command(server: Server, line: string): Promise<string> {
	return ask(server, line, /\r\n$/);
}

async function names(server: Server): Promise<readonly string[]> {
	const answer = await command(server, "KEYS *");
	return answer
		.split("\r\n")
		.filter((line) => /^[^*$]/.test(line))
		.toSorted();
}
