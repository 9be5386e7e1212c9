import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FIRST_PAUSE_MS } from "../../src/cache/breaker.ts";
import {
	CACHE_CHANNELS,
	type CacheCall,
	type CacheHost,
} from "../../src/cache/diagnostics.ts";
import { openMemcachedCache as openWhole } from "../../src/cache/memcached/memcachedCache.ts";
import { serverLists } from "../../src/cache/serverList.ts";
import { busyFor } from "../helpers/busy.ts";
import { FakeMemcached, type Manner } from "../helpers/fakeMemcached.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { assertAtOnce, timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { startMemcached } from "../services/memcached.ts";
import type { Server } from "../services/server.ts";
import {
	asLease,
	hit,
	kindOf,
	leaseOf,
	sharedCacheTests,
	withoutLeases,
} from "../suites/sharedCache.ts";

/** Its hits compare equal to `hit`. */
const openMemcachedCache = (options: Parameters<typeof openWhole>[0]) =>
	withoutLeases(openWhole(options));

const DOWN = { kind: "down" } as const;
/** For what is not about the deadline, on a machine that runs much else. */
const PATIENT = 5_000;

describe("the shared cache on memcached", () => {
	let server: Server;
	before(async () => {
		server = await startMemcached();
	});
	after(() => server.stop());

	sharedCacheTests({
		port: () => server.port,
		startSmall: () => startMemcached({ args: ["--memory-limit=4"] }),
		open: ({ port = server.port, ...options } = {}) =>
			openWhole({
				hosts: [`127.0.0.1:${server.port}`],
				connectTo: () => `127.0.0.1:${port}`,
				...options,
			}),
	});

	test("a key that memcached rejects is never sent, is down for readers and needs no delete", async () => {
		await using cache = openMemcachedCache({
			hosts: [server.address],
			deadlineMs: PATIENT,
		});
		const bad = ["a b", "a\nb", "a\u0000", "\u007f", "", "ä", "x".repeat(250)];
		assert.deepEqual(
			await cache.getOrLease(bad),
			bad.map(() => DOWN),
		);
		assert.equal(await cache.delete(bad), true);
		const longest = "x".repeat(210);
		const [looked, ...others] = await cache.getOrLease([longest, ...bad]);
		assert.deepEqual(
			others,
			bad.map(() => DOWN),
		);
		await cache.fill([{ lease: asLease(looked), value: "kept" }]);
		assert.deepEqual(await cache.getOrLease([longest]), [hit("kept")]);
	});
});

describe("several memcached hosts", () => {
	let servers: readonly Server[];
	before(async () => {
		servers = await Promise.all([1, 2, 3].map(() => startMemcached()));
	});
	after(() => Promise.all(servers.map((server) => server.stop())));
	const hosts = () => servers.map(({ address }) => address);
	const keys = Array.from({ length: 300 }, (_, at) => `1.object.${at}`);

	test("each host gets one batch with about the same number of keys", async () => {
		await using cache = openMemcachedCache({
			hosts: hosts(),
			deadlineMs: PATIENT,
		});
		const leases = (await cache.getOrLease(keys)).map(asLease);
		await cache.fill(leases.map((lease) => ({ lease, value: "kept" })));
		const calls = await publishedDuring<CacheCall>(
			CACHE_CHANNELS.cacheCall,
			async () => {
				assert.deepEqual(
					await cache.getOrLease(keys),
					keys.map(() => hit("kept")),
				);
			},
		);
		assert.deepEqual(
			calls.map(({ host, verb }) => [verb, host]).toSorted(),
			hosts()
				.map((host) => ["get", host])
				.toSorted(),
		);
		for (const call of calls) {
			assert.ok(call.keys > 70 && call.keys < 130, `${call.keys} of 300`);
		}
	});

	test("the order of the host list does not matter; another list starts empty", async () => {
		const all = hosts();
		await using cache = openMemcachedCache({ hosts: all, deadlineMs: PATIENT });
		const key = "1.order";
		await cache.fill([{ lease: await leaseOf(cache, key), value: "kept" }]);
		await using same = openMemcachedCache({
			hosts: [...all.toReversed(), all[1] as string],
			deadlineMs: PATIENT,
		});
		assert.deepEqual(await same.getOrLease([key]), [hit("kept")]);
		for (const host of all) {
			await using fewer = openMemcachedCache({
				hosts: all.filter((other) => other !== host),
				deadlineMs: PATIENT,
			});
			assert.equal(kindOf((await fewer.getOrLease([key]))[0]), "lease");
		}
	});

	test("keys of a host that is down are skipped, not read from another host, and their deletes are not acknowledged", async () => {
		await using cache = openMemcachedCache({
			hosts: hosts(),
			deadlineMs: PATIENT,
		});
		const many = keys.map((key) => `dead.${key}`);
		const leases = (await cache.getOrLease(many)).map(asLease);
		await cache.fill(leases.map((lease) => ({ lease, value: "kept" })));
		const dead = servers[1] as Server;
		await dead.kill();
		const looked = await cache.getOrLease(many);
		const down = many.filter((_, at) => kindOf(looked[at]) === "down");
		assert.equal(
			looked.filter((one) => kindOf(one) === "hit").length,
			300 - down.length,
		);
		assert.ok(down.length > 70, `${down.length} of 300`);
		assert.equal(await cache.delete(down.slice(0, 1)), false);
		const alive = many.filter((key) => !down.includes(key));
		assert.equal(await cache.delete(alive), true);
		await dead.restart();
		await until("the host to be used again, empty", async () =>
			(await cache.getOrLease(down)).every((one) => kindOf(one) === "lease"),
		);
	});
});

describe("a memcached that fails", () => {
	test("a lease from before a restart matches no marker from after it, though CAS numbers start over", async () => {
		await using server = await startMemcached();
		const hosts = [server.address];
		await using far = openMemcachedCache({ hosts, deadlineMs: PATIENT });
		await using near = openMemcachedCache({ hosts, deadlineMs: PATIENT });
		const old = await leaseOf(far, "a");
		await server.kill();
		await server.restart();
		let fresh = await near.getOrLease(["a"]);
		await until("a lease", async () => {
			if (kindOf(fresh[0]) === "lease") return true;
			fresh = await near.getOrLease(["a"]);
			return false;
		});
		const lease = asLease(fresh[0]);
		const casOf = ({ token }: { token: unknown }) =>
			(token as { cas: Buffer }).cas.toString("hex");
		assert.equal(casOf(lease), casOf(old));

		await far.fill([{ lease: old, value: "old" }]);
		await until(
			"the far one to be connected again",
			async () => kindOf((await far.getOrLease(["a"]))[0]) === "busy",
		);
		await far.fill([{ lease: old, value: "old" }]);
		assert.deepEqual(await near.getOrLease(["a"]), [{ kind: "busy" }]);
		await near.fill([{ lease, value: "new" }]);
		assert.deepEqual(await far.getOrLease(["a"]), [hit("new")]);
	});

	test("a hanging server costs one read its deadline and the next ones nothing, and is used again when it responds", async () => {
		await using server = await startMemcached();
		await using cache = openMemcachedCache({
			hosts: [server.address],
			deadlineMs: 200,
		});
		await until("the value to be kept", async () => {
			const [looked] = await cache.getOrLease(["a"]);
			if (kindOf(looked) !== "lease") return kindOf(looked) === "hit";
			await cache.fill([{ lease: asLease(looked), value: "kept" }]);
			return false;
		});
		server.pause();
		const reported = await publishedDuring<CacheHost>(
			CACHE_CHANNELS.cacheHost,
			async () => {
				const first = await timed(() => cache.getOrLease(["a"]));
				assert.deepEqual(first.result, [DOWN]);
				assert.ok(first.ms >= 190, `took ${first.ms} ms`);
				assert.deepEqual(await assertAtOnce(cache.getOrLease(["a"])), [DOWN]);
				assert.equal(await cache.delete(["b"]), false);
				server.resume();
				await until(
					"the value to be found again",
					async () => kindOf((await cache.getOrLease(["a"]))[0]) === "hit",
				);
			},
		);
		assert.deepEqual(
			reported.map(({ state, host }) => [state, host]),
			[
				["down", server.address],
				["up", server.address],
			],
		);
	});

	test("a killed server is down at once, and is used again after its restart", async () => {
		await using server = await startMemcached();
		await using cache = openMemcachedCache({
			hosts: [server.address],
			deadlineMs: PATIENT,
		});
		await leaseOf(cache, "a");
		await server.kill();
		const killed = await timed(() => cache.getOrLease(["a", "b"]));
		assert.deepEqual(killed.result, [DOWN, DOWN]);
		assert.ok(killed.ownMs < 1_000, `took ${killed.ownMs} ms`);
		await server.restart();
		await until(
			"a lease",
			async () => kindOf((await cache.getOrLease(["a"]))[0]) === "lease",
		);
	});

	const hangs: readonly (readonly [string, Manner])[] = [
		["answers nothing", "keep"],
		["answers half", "half"],
		["drips", "drip"],
		["announces more than it sends", { instead: response("VA 1000 f1 c1") }],
	];
	for (const [how, manner] of hangs) {
		test(`a server that ${how} is given up after the deadline, and its late response reaches no caller`, async () => {
			await using fake = await FakeMemcached.start();
			await using cache = openMemcachedCache({
				hosts: [fake.address],
				deadlineMs: 300,
			});
			fake.manner = manner;
			const { result, ms, ownMs } = await timed(() =>
				cache.getOrLease(["a", "b"]),
			);
			assert.deepEqual(result, [DOWN, DOWN]);
			assert.ok(ms >= 290 && ownMs < 2_000, `took ${ms} ms`);
			const kept = fake.kept;
			fake.manner = "keep";
			await sleep(FIRST_PAUSE_MS + 20);
			const next = cache.getOrLease(["c", "d"]);
			// Now responses to both batches lie there, the old one first.
			await until("the next batch to come in", () => fake.kept > kept);
			fake.release();
			assert.deepEqual(await next, [hit("c of 2"), hit("d of 2")]);
			assert.equal(fake.open, 1);
		});
	}

	const deaths: readonly (readonly [string, Manner])[] = [
		["dies half-way", "halfThenDie"],
		["closes without an answer", "die"],
		["has no meta commands", { instead: response("ERROR") }],
		["answers more than was asked", { instead: values(3) }],
		["answers less than was asked", { instead: response("MN") }],
		["answers with a request", { instead: response("mg a v") }],
		["never ends its line", { instead: Buffer.alloc(5_000, "VA 1") }],
		["sends more than it announced", { instead: response("VA 1 f1 c1\r\nab") }],
	];
	for (const [how, manner] of deaths) {
		test(`a server that ${how} is given up at once, and the next connection starts clean`, async () => {
			await using fake = await FakeMemcached.start();
			await using cache = openMemcachedCache({
				hosts: [fake.address],
				deadlineMs: PATIENT,
			});
			fake.manner = manner;
			const { result: both, ownMs } = await timed(() =>
				Promise.all([cache.getOrLease(["a"]), cache.getOrLease(["b"])]),
			);
			assert.deepEqual(both, [[DOWN], [DOWN]]);
			assert.ok(ownMs < 2_000, `took ${ownMs} ms`);
			// Once for both, and then not again for a while.
			assert.deepEqual(await assertAtOnce(cache.getOrLease(["c"])), [DOWN]);
			assert.equal(fake.connections, 1);
			fake.manner = "whole";
			await sleep(FIRST_PAUSE_MS + 20);
			assert.deepEqual(await cache.getOrLease(["c"]), [hit("c of 2")]);
		});
	}

	test("responses that arrive byte by byte are assembled", async () => {
		await using fake = await FakeMemcached.start();
		await using cache = openMemcachedCache({
			hosts: [fake.address],
			deadlineMs: PATIENT,
		});
		fake.manner = "trickle";
		assert.deepEqual(await cache.getOrLease(["a", "b", "c"]), [
			hit("a of 1"),
			hit("b of 1"),
			hit("c of 1"),
		]);
	});

	test("an idle connection that is lost counts as no failure", async () => {
		await using fake = await FakeMemcached.start();
		await using cache = openMemcachedCache({
			hosts: [fake.address],
			deadlineMs: PATIENT,
		});
		assert.deepEqual(await cache.getOrLease(["a"]), [hit("a of 1")]);
		fake.hangUp();
		await until("the connection to be closed", () => fake.open === 0);
		// Its end reaches the cache in a turn of the event loop after that.
		await sleep(50);
		assert.deepEqual(await cache.getOrLease(["a"]), [hit("a of 2")]);
	});

	test("a response that arrived while the process was busy past the deadline is used", async () => {
		await using server = await startMemcached();
		await using real = openMemcachedCache({
			hosts: [server.address],
			deadlineMs: 100,
		});
		await until(
			"a lease",
			async () => kindOf((await real.getOrLease(["a"]))[0]) !== "down",
		);
		const looking = real.getOrLease(["a"]);
		await new Promise((resolve) => setImmediate(resolve));
		busyFor(300);
		assert.deepEqual(await looking, [{ kind: "busy" }]);
	});

	test("an absent key is leased although the process was busy past the deadline", async () => {
		await using server = await startMemcached();
		await using real = openMemcachedCache({
			hosts: [server.address],
			deadlineMs: 100,
		});
		await until(
			"a lease",
			async () => kindOf((await real.getOrLease(["a"]))[0]) !== "down",
		);
		const reported = await publishedDuring(
			CACHE_CHANNELS.cacheHost,
			async () => {
				const looking = real.getOrLease(["b"]);
				await new Promise((resolve) => setImmediate(resolve));
				busyFor(300);
				assert.equal(kindOf((await looking)[0]), "lease");
			},
		);
		assert.deepEqual(reported, []);
	});

	test("nothing is printed, and the user of memjs environment variables is ignored", async (t) => {
		const log = t.mock.method(console, "log", () => {});
		process.env.MEMCACHE_USERNAME = "somebody";
		process.env.MEMCACHE_PASSWORD = "something";
		try {
			await using fake = await FakeMemcached.start();
			await using cache = openMemcachedCache({
				hosts: [fake.address],
				deadlineMs: PATIENT,
			});
			assert.deepEqual(await cache.getOrLease(["a"]), [hit("a of 1")]);
			assert.deepEqual(fake.commands, ["mg", "mn"]);
			fake.manner = "die";
			assert.deepEqual(await cache.getOrLease(["a"]), [DOWN]);
		} finally {
			delete process.env.MEMCACHE_USERNAME;
			delete process.env.MEMCACHE_PASSWORD;
		}
		assert.equal(log.mock.callCount(), 0);
	});

	test("an invalid host is refused", () => {
		for (const host of [
			"cache",
			":11211",
			"a:b",
			"a:0",
			"a:65536",
			"u@a:1",
			"",
		]) {
			assert.throws(() => openMemcachedCache({ hosts: [host] }), {
				code: "BAD_CONFIG",
				message: `A memcached host must look like cache1.example.com:11211, got ${JSON.stringify(host)}.`,
			});
		}
		assert.throws(() => openMemcachedCache({ hosts: [] }), {
			code: "BAD_CONFIG",
		});
	});
});

function response(text: string): Buffer {
	return Buffer.from(`${text}\r\n`);
}

function values(count: number): Buffer {
	return Buffer.from("VA 1 f1 c1\r\na\r\n".repeat(count));
}

describe("a memcached that wants a password", () => {
	test("is logged in to from the URL of the map, with the password of a file as it is now", async () => {
		using folder = temporaryFolder();
		const allowed = join(folder.path, "allowed");
		const secret = join(folder.path, "secret");
		writeFileSync(allowed, "corkboard:right\n");
		writeFileSync(secret, "wrong\n");
		await using server = await startMemcached({ args: ["-Y", allowed] });
		const url = `memcached://corkboard@${server.address}?password-file=${secret}`;
		const caches = { objects: [url], lists: ["redis://unused:6379"] };
		const none = { memcached: [], redis: null };
		await using cache = openMemcachedCache({
			lists: serverLists(caches, none, "objects"),
			deadlineMs: PATIENT,
		});
		assert.deepEqual(await cache.getOrLease(["1.object.1"]), [DOWN]);
		writeFileSync(secret, "right\n");
		await until("the login", async () => {
			const [result] = await cache.getOrLease(["1.object.2"]);
			return result?.kind === "lease" || result?.kind === "busy";
		});
	});
});
