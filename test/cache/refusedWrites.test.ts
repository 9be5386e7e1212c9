import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { CACHE_CHANNELS, type CacheHost } from "../../src/cache/diagnostics.ts";
import { openMemcachedCache } from "../../src/cache/memcached/memcachedCache.ts";
import { openRedisCache } from "../../src/cache/redis/redisCache.ts";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import type { SharedCache } from "../../src/cache/sharedCache.ts";
import { PROVEN_MS, RESUME_MS } from "../../src/cache/writeProof.ts";
import { FakeMemcached } from "../helpers/fakeMemcached.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { startRedisReadProxy } from "../helpers/redisReadProxy.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startMemcached } from "../services/memcached.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";
import { hit, kindOf, leaseOf, withoutLeases } from "../suites/sharedCache.ts";

/** For what is not about the deadline, on a machine that runs much else. */
const PATIENT = 5_000;

/** Time that passes when a test says so. */
class Clock {
	ms = 0;
	readonly now = () => this.ms;

	pass(ms: number): void {
		this.ms += ms;
	}
}

describe("a Redis that answers reads and refuses writes", () => {
	let server: Server;
	before(async () => {
		server = await startRedis({ args: ["--enable-protected-configs", "yes"] });
		await say("ACL SETUSER app on >pw ~* &* +@all");
	});
	after(() => server.stop());

	async function say(...lines: readonly string[]): Promise<void> {
		for (const line of lines) {
			assert.match(await ask(server, line, /\r\n$/), /^\+/, line);
		}
	}

	const clock = new Clock();
	const open = (url = server.url.replace("redis://", "redis://app:pw@")) =>
		withoutLeases(
			openRedisCache({
				redis: new RedisConnections(url),
				deadlineMs: PATIENT,
				now: clock.now,
			}),
		);

	/** How writes come to be refused, and are taken again. */
	const WAYS: Readonly<
		Record<
			string,
			{ refuse(): Promise<void>; take(): Promise<void>; code: RegExp }
		>
	> = {
		"as it misses replicas": {
			refuse: () => say("CONFIG SET min-replicas-to-write 1"),
			take: () => say("CONFIG SET min-replicas-to-write 0"),
			code: /NOREPLICAS /,
		},
		"as its disk takes no snapshot": {
			async refuse() {
				using folder = temporaryFolder();
				const gone = join(folder.path, "gone");
				mkdirSync(gone);
				await say(`CONFIG SET dir ${gone}`);
				rmSync(gone, { recursive: true });
				await say('CONFIG SET save "3600 1"', "BGSAVE");
				await until("the snapshot to fail", async () =>
					(await ask(server, "INFO", /loading:\d[\s\S]*\r\n$/)).includes(
						"rdb_last_bgsave_status:err",
					),
				);
			},
			take: () => say('CONFIG SET save ""', "CONFIG SET dir /tmp"),
			code: /MISCONF /,
		},
		"as the user may only read": {
			refuse: () => say("ACL SETUSER app -@all +mget +info"),
			take: () => say("ACL SETUSER app +@all"),
			code: /NOPERM /,
		},
		"as the user may not delete": {
			refuse: () => say("ACL SETUSER app -del"),
			take: () => say("ACL SETUSER app +del"),
			code: /NOPERM /,
		},
	};

	for (const [way, { refuse, take, code }] of Object.entries(WAYS)) {
		test(`is not read by a process that changed nothing, ${way}, until it has taken writes for a while`, async () => {
			await using writer = open();
			await using reader = open();
			const key = `${way.length}`;
			await writer.fill([{ lease: await leaseOf(writer, key), value: "old" }]);
			assert.deepEqual(await reader.getOrLease([key]), [hit("old")]);
			await refuse();
			assert.equal(await writer.delete([key]), false);
			clock.pass(PROVEN_MS);
			const states = await publishedDuring<CacheHost>(
				CACHE_CHANNELS.cacheHost,
				async () => {
					for (let nth = 0; nth < 5; nth++) {
						assert.deepEqual(await reader.getOrLease([key]), [
							{ kind: "down" },
						]);
						clock.pass(300);
					}
				},
			);
			// It says so once, and holds the host for reachable.
			assert.deepEqual(
				states.map(({ state }) => state),
				["unread"],
			);
			assert.match(String(states[0]?.error), code);

			await take();
			await until("the delete to be repeated", async () =>
				writer.untilDeleted([key], 100),
			);
			const takenAt = clock.ms;
			await until("the reader to read it again", async () => {
				const [found] = await reader.getOrLease([key]);
				assert.notEqual(kindOf(found), "hit");
				clock.pass(300);
				return kindOf(found) === "lease";
			});
			assert.ok(clock.ms - takenAt > RESUME_MS);
		});
	}

	test("is read while it is full and deletes all the same", async () => {
		await using small = await startRedis({
			args: ["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"],
		});
		await using cache = open(small.url);
		await cache.fill([{ lease: await leaseOf(cache, "a"), value: "kept" }]);
		await ask(small, "CONFIG SET maxmemory 1", /^\+OK/);
		clock.pass(PROVEN_MS);
		assert.deepEqual(await cache.getOrLease(["a"]), [hit("kept")]);
		assert.equal(await cache.delete(["a"]), true);
		assert.deepEqual(await cache.getOrLease(["a"]), [{ kind: "down" }]);
	});

	test("is not read through a proxy that reads elsewhere", async () => {
		await using other = await startRedis();
		await using proxy = await startRedisReadProxy(server.port, other.port);
		await using cache = open(proxy.url);
		const states = await publishedDuring<CacheHost>(
			CACHE_CHANNELS.cacheHost,
			async () => {
				assert.deepEqual(await cache.getOrLease(["proxied"]), [
					{ kind: "down" },
				]);
			},
		);
		assert.match(String(states[0]?.error), /reads go to another server/);
	});
});

describe("a memcached that answers reads", () => {
	async function kindAfter(
		cache: SharedCache,
		clock: Clock,
	): Promise<string | undefined> {
		clock.pass(PROVEN_MS);
		return kindOf((await cache.getOrLease(["1.a"]))[0]);
	}

	test("is not read while it refuses deletes, as through a proxy", async () => {
		await using fake = await FakeMemcached.start();
		const clock = new Clock();
		await using cache = openMemcachedCache({
			hosts: [fake.address],
			deadlineMs: PATIENT,
			now: clock.now,
		});
		assert.equal(await kindAfter(cache, clock), "hit");
		fake.refusesDeletes = true;
		assert.equal(await kindAfter(cache, clock), "down");
		fake.refusesDeletes = false;
		await until("it to be read again", async () => {
			return (await kindAfter(cache, clock)) === "hit";
		});
	});

	test("is read as long as its deletes are done", async () => {
		await using server = await startMemcached();
		const clock = new Clock();
		await using cache = openMemcachedCache({
			hosts: [server.address],
			deadlineMs: PATIENT,
			now: clock.now,
		});
		assert.equal(await kindAfter(cache, clock), "lease");
		assert.equal(await kindAfter(cache, clock), "busy");
	});
});
