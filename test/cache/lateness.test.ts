import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CACHE_CHANNELS } from "../../src/cache/diagnostics.ts";
import { openMemcachedCache } from "../../src/cache/memcached/memcachedCache.ts";
import { openRedisCache } from "../../src/cache/redis/redisCache.ts";
import type { SharedCache } from "../../src/cache/sharedCache.ts";
import { BreakableProxy } from "../helpers/breakableProxy.ts";
import { busyFor, nextTurn } from "../helpers/busy.ts";
import { A, openProcess } from "../helpers/channelProcess.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import { startMemcached } from "../services/memcached.ts";
import { startRedis } from "../services/redis.ts";
import { redisClients } from "../services/redisClients.ts";
import type { Server } from "../services/server.ts";
import { kindOf } from "../suites/sharedCache.ts";

/** As in production. */
const DEADLINE_MS = 100;
/** Longer than deadlines, than the time between questions, and than a proof is good for. */
const STALLS_MS = [150, 700, 1_500, 300];
/** A server that gets no core for a tenth of a second is late indeed: then nothing is proven, and it is tried again. */
const ATTEMPTS = 5;

/** docs/consistency.md, "In the process", step 4. */
describe("a process whose event loop is busy", () => {
	let redis: Server;
	let memcached: Server;
	before(async () => {
		[redis, memcached] = await Promise.all([startRedis(), startMemcached()]);
	});
	after(() => Promise.all([redis.stop(), memcached.stop()]));

	async function onceOf(attempt: () => Promise<void>): Promise<void> {
		for (let left = ATTEMPTS - 1; ; left--) {
			try {
				return await attempt();
			} catch (error) {
				if (left === 0) throw error;
			}
		}
	}

	function openAll() {
		const stack = new AsyncDisposableStack();
		const one = stack.use(
			openProcess(redis.port, "one", { deadlineMs: DEADLINE_MS }),
		);
		const heads = stack.use(
			openRedisCache({ redis: one.redis, deadlineMs: DEADLINE_MS }),
		);
		const objects = stack.use(
			openMemcachedCache({
				hosts: [memcached.address],
				deadlineMs: DEADLINE_MS,
			}),
		);
		return { one, heads, objects, stack };
	}

	/** In a turn of its own: the call is on its way while the process is busy. */
	async function kindsWhileBusy(
		caches: readonly SharedCache[],
		key: string,
		ms: number,
	): Promise<readonly string[]> {
		const asked = caches.map((cache) => cache.getOrLease([key]));
		busyFor(ms);
		await nextTurn();
		busyFor(ms);
		return (await Promise.all(asked)).map(([result]) => kindOf(result));
	}

	it("takes no host for down, and keeps using what it has cached", () =>
		onceOf(async () => {
			const { one, heads, objects, stack } = openAll();
			await using _ = stack;
			await one.restored();
			assert.equal(await one.read("kept"), "kept");
			const reported = await publishedDuring(
				CACHE_CHANNELS.cacheHost,
				async () => {
					for (const [nth, ms] of STALLS_MS.entries()) {
						const key = `${performance.now()}-${nth}`;
						const kinds = await kindsWhileBusy([heads, objects], key, ms);
						assert.deepEqual(kinds, ["lease", "lease"], `after ${ms} ms`);
						assert.equal(
							await one.read("read again"),
							"kept",
							`after ${ms} ms`,
						);
					}
				},
			);
			assert.deepEqual(reported, []);
			assert.deepEqual(one.events, ["lost", "restored"]);
		}));

	it("shows what another one changed meanwhile", async () => {
		const { one, stack } = openAll();
		await using _ = stack;
		await using another = openProcess(redis.port, "another");
		await Promise.all([one.restored(), another.restored()]);
		for (const [nth, ms] of STALLS_MS.entries()) {
			await one.read(`old ${nth}`);
			// It goes out in this turn; what Redis sends then lies in the socket.
			const published = another.channel.publish([A]);
			await nextTurn();
			busyFor(ms);
			await Promise.all([
				published,
				until(
					"the change",
					async () => (await one.read(`new ${nth}`)) === `new ${nth}`,
				),
			]);
		}
	});

	it("connects without taking a host for down", () =>
		onceOf(async () => {
			const reported = await publishedDuring(
				CACHE_CHANNELS.cacheHost,
				async () => {
					const { one, heads, objects, stack } = openAll();
					await using _ = stack;
					const key = `start-${performance.now()}`;
					const first = [heads, objects].map((cache) =>
						cache.getOrLease([key]),
					);
					for (let turn = 0; turn < 8; turn++) {
						busyFor(DEADLINE_MS / 2);
						await nextTurn();
					}
					const kinds = (await Promise.all(first)).map(([one]) => kindOf(one));
					assert.deepEqual(kinds, ["lease", "lease"]);
					await one.restored();
				},
			);
			assert.deepEqual(reported, []);
		}));

	it("asks a host that answers for more at once than a host that hangs", async () => {
		const { heads, objects, stack } = openAll();
		await using _ = stack;
		for (const cache of [heads, objects]) {
			await until(
				"a lease",
				async () => kindOf((await cache.getOrLease(["many"]))[0]) !== "down",
			);
			await onceOf(async () => {
				const calls = Array.from({ length: 1_000 }, (_, n) =>
					cache.getOrLease([`${performance.now()}-${n}`]),
				);
				const kinds = (await Promise.all(calls)).map(([one]) => kindOf(one));
				assert.deepEqual([...new Set(kinds)], ["lease"]);
			});
		}
	});
});

describe("a process that is cut off from its channel", () => {
	it("lets readers wait for the proof until it is known to be, then reads past its cache, and is back with the subscription it has", async () => {
		await using redis = await startRedis();
		await using proxy = await TcpProxy.to(redis.port);
		await using one = openProcess(proxy.port, "one", { deadlineMs: 5_000 });
		await one.restored();
		assert.equal(await one.read("old"), "old");
		const { ids } = await redisClients(redis);
		proxy.hold();
		await until("it to be overdue", () => one.channel.isOverdue);
		// Now a reader waits, and reads past the cache.
		assert.equal(await one.read("new"), "new");
		assert.equal(one.channel.isOverdue, false);
		assert.equal(one.events.at(-1), "lost");
		assert.equal(await one.read("newer"), "newer");
		proxy.release();
		await one.restored();
		assert.deepEqual((await redisClients(redis)).ids, ids);
		assert.deepEqual(one.events, ["lost", "restored", "lost", "restored"]);
		assert.equal(await one.read("kept"), "kept");
		assert.equal(await one.read("not read"), "kept");
	});

	it("subscribes anew where the old subscription hangs", async () => {
		await using redis = await startRedis();
		await using proxy = await BreakableProxy.before(redis.port);
		await using one = openProcess(proxy.port, "one", {
			deadlineMs: DEADLINE_MS,
		});
		await one.restored();
		// It hears nothing more, and of no end either.
		proxy.forget();
		await one.lost();
		await one.restored();
		assert.equal(await one.read("kept"), "kept");
		assert.equal(await one.read("not read"), "kept");
	});
});
