import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CACHE_CHANNELS, type CacheCall } from "../../src/cache/diagnostics.ts";
import type {
	FillLease,
	GetOrLeaseResult,
	SharedCache,
} from "../../src/cache/sharedCache.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import type { Server } from "../services/server.ts";

export interface CacheOptions {
	/** The port of the server, or of a proxy in front of it. */
	readonly port?: number;
	readonly deadlineMs?: number;
	readonly leaseSeconds?: number;
	readonly ttlSeconds?: number;
}

export interface OpenCache {
	readonly port: () => number;
	/** A cache with its own connection, as in another process. */
	readonly open: (options?: CacheOptions) => SharedCache;
	/** A server that has room for about four megabytes. */
	readonly startSmall: () => Promise<Server>;
}

/** Long, as these tests are not about the deadline and a busy machine delays answers. */
const PATIENT = { deadlineMs: 5_000 };
/** Longer than a lease of one second lasts in memcached, which counts whole seconds. */
const OVER_A_SECOND_MS = 2_200;

let keys = 0;
/** A key that no other test uses. */
function newKey(): string {
	return `1.test.${++keys}`;
}

export function sharedCacheTests({
	open: openWith,
	port,
	startSmall,
}: OpenCache): void {
	const openWhole = (options?: CacheOptions) =>
		openWith({ ...PATIENT, ...options });
	const open = (options?: CacheOptions) => withoutLeases(openWhole(options));

	test("an absent key is leased to the first reader, and busy for the others until it is filled", async () => {
		await using one = open();
		await using other = open();
		const key = newKey();
		const lease = await leaseOf(one, key);
		assert.deepEqual(await other.getOrLease([key]), [{ kind: "busy" }]);
		assert.deepEqual(await one.getOrLease([key]), [{ kind: "busy" }]);
		await one.fill([{ lease, value: "new" }]);
		assert.deepEqual(await other.getOrLease([key]), [hit("new")]);
		assert.deepEqual(await one.getOrLease([key]), [hit("new")]);
	});

	test("the cache says how full its host is, and what left it for want of room, and nothing of one that does not answer", async () => {
		await using small = await startSmall();
		await using proxy = await TcpProxy.to(small.port);
		await using cache = open({ port: proxy.port });
		const levelNow = async () => {
			const levels = await cache.levels();
			assert.equal(levels.length, 1);
			return levels[0] as (typeof levels)[number];
		};
		const before = await levelNow();
		assert.deepEqual(
			[before.layer, before.host, before.entries, before.evictions],
			[cache.layer, cache.hostOf("1.x"), 0, 0],
		);
		const fill = async (count: number) => {
			for (let n = 0; n < count; n++) {
				const { key, lease } = await anyLease(cache);
				await cache.fill([{ lease, value: key.padEnd(50_000) }]);
			}
		};
		await fill(5);
		const some = await levelNow();
		assert.equal(some.entries, 5);
		const grown = some.bytes - before.bytes;
		assert.ok(grown > 250_000 && grown < 1_000_000, `${grown}`);
		assert.equal(some.evictions, 0);
		await fill(150);
		const full = await levelNow();
		assert.equal(full.evictions, 155 - full.entries);
		assert.ok(full.evictions > 0);
		const { maxBytes } = full;
		assert.ok(maxBytes !== null && maxBytes > 1e6 && maxBytes < 1e7);

		proxy.cut();
		assert.deepEqual(await cache.levels(), []);
		await using hung = await TcpProxy.to(small.port);
		hung.hold();
		await using late = open({ port: hung.port, deadlineMs: 50 });
		assert.deepEqual(await late.levels(), []);
	});

	test("one of two concurrent readers gets the lease", async () => {
		await using one = open();
		await using other = open();
		for (let round = 0; round < 20; round++) {
			const key = newKey();
			const looked = await Promise.all([
				one.getOrLease([key]),
				other.getOrLease([key]),
			]);
			assert.deepEqual(looked.flat().map(kindOf).toSorted(), ["busy", "lease"]);
		}
	});

	test("results come in the order of the keys, whatever the state of each", async () => {
		await using cache = open();
		const [held, leased, absent] = [1, 2, 3].map(newKey) as [
			string,
			string,
			string,
		];
		await cache.fill([{ lease: await leaseOf(cache, held), value: "held" }]);
		await leaseOf(cache, leased);
		const looked = await cache.getOrLease([absent, leased, held]);
		assert.deepEqual(looked.map(kindOf), ["lease", "busy", "hit"]);
		assert.deepEqual(looked[2], hit("held"));
	});

	test("a fill is refused after the key was deleted", async () => {
		await using cache = open();
		const key = newKey();
		const lease = await leaseOf(cache, key);
		assert.equal(await cache.delete([key]), true);
		await cache.fill([{ lease, value: "old" }]);
		assert.equal(kindOf((await cache.getOrLease([key]))[0]), "lease");
	});

	test("a delete also removes what was filled before it", async () => {
		await using cache = open();
		const key = newKey();
		await cache.fill([{ lease: await leaseOf(cache, key), value: "old" }]);
		assert.deepEqual(await cache.getOrLease([key]), [hit("old")]);
		assert.equal(await cache.delete([key]), true);
		assert.equal(kindOf((await cache.getOrLease([key]))[0]), "lease");
	});

	test("a fill is refused over a newer lease, whose own fill is accepted", async () => {
		await using cache = open();
		const key = newKey();
		const first = await leaseOf(cache, key);
		await cache.delete([key]);
		const second = await leaseOf(cache, key);
		await cache.fill([{ lease: first, value: "old" }]);
		assert.deepEqual(await cache.getOrLease([key]), [{ kind: "busy" }]);
		await cache.fill([{ lease: second, value: "new" }]);
		await cache.fill([{ lease: first, value: "old" }]);
		assert.deepEqual(await cache.getOrLease([key]), [hit("new")]);
	});

	// They wait for the clock, so they wait together.
	describe("expiry", { concurrency: true }, () => {
		test("a fill is refused once its lease has expired", async () => {
			await using cache = open({ leaseSeconds: 1 });
			const key = newKey();
			const lease = await leaseOf(cache, key);
			await sleep(OVER_A_SECOND_MS);
			await cache.fill([{ lease, value: "old" }]);
			assert.equal(kindOf((await cache.getOrLease([key]))[0]), "lease");
		});

		test("a value expires after its TTL", async () => {
			await using cache = open({ ttlSeconds: 1 });
			const key = newKey();
			await cache.fill([{ lease: await leaseOf(cache, key), value: "old" }]);
			await sleep(OVER_A_SECOND_MS);
			assert.equal(kindOf((await cache.getOrLease([key]))[0]), "lease");
		});
	});

	test("a second fill under the same lease is refused", async () => {
		await using cache = open();
		const key = newKey();
		const lease = await leaseOf(cache, key);
		await cache.fill([{ lease, value: "first" }]);
		await cache.fill([{ lease, value: "second" }]);
		assert.deepEqual(await cache.getOrLease([key]), [hit("first")]);
	});

	describe("a value that was read", () => {
		const held = async (cache: SharedCache, value = "few") => {
			const key = newKey();
			await cache.fill([{ lease: await leaseOf(cache, key), value }]);
			const [looked] = await cache.getOrLease([key]);
			return { key, lease: hitLease(looked) };
		};
		const heldBy = async (cache: SharedCache, key: string) => {
			const [looked] = await cache.getOrLease([key]);
			return looked?.kind === "hit" ? looked.value : kindOf(looked);
		};

		test("can be replaced once", async () => {
			await using cache = openWhole();
			const { key, lease } = await held(cache);
			await cache.fill([{ lease, value: "more" }]);
			assert.equal(await heldBy(cache, key), "more");
			await cache.fill([{ lease, value: "again" }]);
			assert.equal(await heldBy(cache, key), "more");
		});

		test("is replaced by the first of two who mean to", async () => {
			await using one = openWhole();
			await using other = openWhole();
			const { key, lease } = await held(one);
			const [looked] = await other.getOrLease([key]);
			await other.fill([{ lease: hitLease(looked), value: "most" }]);
			await one.fill([{ lease, value: "more" }]);
			assert.equal(await heldBy(one, key), "most");
		});

		test("is not replaced after a delete", async () => {
			await using cache = openWhole();
			const { key, lease } = await held(cache);
			await cache.delete([key]);
			await cache.fill([{ lease, value: "old" }]);
			assert.equal(await heldBy(cache, key), "lease");
		});

		test("is not replaced after it was deleted and filled again, also with the same text", async () => {
			await using one = openWhole();
			await using other = openWhole();
			const { key, lease } = await held(one, "same");
			await other.delete([key]);
			await other.fill([{ lease: await leaseOf(other, key), value: "same" }]);
			await one.fill([{ lease, value: "old" }]);
			assert.equal(await heldBy(one, key), "same");
		});
	});

	test("a delete of an absent key is acknowledged, and so is one of no key", async () => {
		await using cache = open();
		assert.equal(await cache.delete([newKey(), newKey()]), true);
		assert.equal(await cache.delete([]), true);
		assert.deepEqual(await cache.getOrLease([]), []);
		await cache.fill([]);
	});

	for (const between of ["finds no value", "finds the new value"] as const) {
		test(`a fill delayed on the network until after a write ${between}, and is rejected`, async () => {
			await using proxy = await TcpProxy.to(port());
			await using far = open({ port: proxy.port });
			await using near = open();
			const key = newKey();
			const lease = await leaseOf(far, key);
			proxy.hold();
			const filling = far.fill([{ lease, value: "old" }]);
			await until("the fill to be held", () => proxy.held > 0);
			assert.equal(await near.delete([key]), true);
			if (between === "finds the new value") {
				await near.fill([{ lease: await leaseOf(near, key), value: "new" }]);
			}
			proxy.release();
			await filling;
			const [looked] = await near.getOrLease([key]);
			if (between === "finds no value") assert.equal(kindOf(looked), "lease");
			else assert.deepEqual(looked, hit("new"));
		});
	}

	test("a fill that was given up and arrives later is refused", async () => {
		await using proxy = await TcpProxy.to(port());
		await using far = open({ port: proxy.port, deadlineMs: 300 });
		await using near = open();
		const { key, lease } = await anyLease(far);
		proxy.hold();
		await far.fill([{ lease, value: "old" }]);
		await until("the fill to be held", () => proxy.held > 0);
		assert.equal(await near.delete([key]), true);
		proxy.release();
		for (let look = 0; look < 10; look++) {
			const [looked] = await near.getOrLease([key]);
			assert.notEqual(kindOf(looked), "hit");
			await sleep(10);
		}
	});

	test("values come back unchanged", async () => {
		await using cache = open();
		const values = [
			"",
			"null",
			"V",
			"Lx",
			"T",
			'{"name":"Änne 🌍"}',
			"\u0000\r\n\t END\r\n",
			"\ufeffmark",
			"line\u2028paragraph\u2029",
			"é́ 한글 ‮ rtl 👩‍👩‍👧",
			"\u{10ffff}\uffff\u007f\u0080",
			"🌍".repeat(50_000),
		];
		const all = values.map(newKey);
		const leases = (await cache.getOrLease(all)).map(asLease);
		await cache.fill(
			values.map((value, at) => ({ lease: leases[at] as FillLease, value })),
		);
		assert.deepEqual(await cache.getOrLease(all), values.map(hit));
	});

	test("a lease that is given back is free for the next reader, and gives back no other", async () => {
		await using cache = open();
		const key = newKey();
		const lease = await leaseOf(cache, key);
		await cache.fill([{ lease, value: null }]);
		const next = await leaseOf(cache, key);
		await cache.fill([{ lease, value: null }]);
		await cache.fill([{ lease: next, value: "kept" }]);
		await cache.fill([{ lease, value: null }]);
		assert.deepEqual(await cache.getOrLease([key]), [hit("kept")]);
	});

	test("a value with a lone surrogate, which UTF-8 cannot encode, is not cached and blocks no reader", async () => {
		await using cache = open();
		const key = newKey();
		const lease = await leaseOf(cache, key);
		await cache.fill([{ lease, value: "half \ud83c" }]);
		assert.equal(kindOf((await cache.getOrLease([key]))[0]), "lease");
	});

	test("a value that is too large is not cached and blocks no reader; the others of its batch are cached", async () => {
		await using cache = open();
		const [large, small, largest] = [newKey(), newKey(), newKey()];
		const whole = "y".repeat(1_000_000);
		const fills = [
			{ lease: await leaseOf(cache, largest), value: whole },
			{ lease: await leaseOf(cache, large), value: "x".repeat(1_000_001) },
			{ lease: await leaseOf(cache, small), value: "small" },
		];
		await cache.fill(fills);
		const looked = await cache.getOrLease([large, small, largest]);
		assert.equal(kindOf(looked[0]), "lease");
		assert.deepEqual(looked[1], hit("small"));
		assert.deepEqual(looked[2], hit(whole));
	});

	test("hundreds of keys are read and leased in one batch, and filled in another", async () => {
		await using cache = open();
		const all = Array.from({ length: 400 }, newKey);
		const calls = await publishedDuring<CacheCall>(
			CACHE_CHANNELS.cacheCall,
			async () => {
				const leases = (await cache.getOrLease(all)).map(asLease);
				await cache.fill(
					leases.map((lease, at) => ({ lease, value: `v${at}` })),
				);
				assert.deepEqual(
					await cache.getOrLease(all),
					all.map((_, at) => hit(`v${at}`)),
				);
			},
		);
		assert.deepEqual(
			calls
				// Asked ahead of the first read, and once a second.
				.filter(({ verb }) => verb !== "try")
				.map(({ verb, keys, ok }) => ({ verb, keys, ok })),
			["get", "set", "get"].map((verb) => ({ verb, keys: 400, ok: true })),
		);
	});

	test("thousands of keys and megabytes of values are split into batches and come back whole", async () => {
		await using cache = open();
		const all = Array.from({ length: 2_345 }, newKey);
		const values = all.map((_, at) => `${at} `.padEnd(1_500, "é"));
		const leases = (await cache.getOrLease(all)).map(asLease);
		await cache.fill(
			leases.map((lease, at) => ({ lease, value: values[at] as string })),
		);
		assert.deepEqual(await cache.getOrLease(all), values.map(hit));
		assert.equal(await cache.delete(all), true);
		assert.deepEqual(
			new Set((await cache.getOrLease(all)).map(kindOf)),
			new Set(["lease"]),
		);
	});

	test("what is asked in one turn is one batch, and so are its fills, and each reader gets its own results", async () => {
		await using cache = open();
		const readers = Array.from({ length: 50 }, (_, n) =>
			Array.from({ length: (n % 3) + 1 }, newKey),
		);
		const keys = readers.flat().length;
		const calls = await publishedDuring<CacheCall>(
			CACHE_CHANNELS.cacheCall,
			async () => {
				const leases = await Promise.all(
					readers.map((own) => cache.getOrLease(own)),
				);
				await Promise.all(
					leases.map((own) =>
						cache.fill(
							own.map(asLease).map((lease) => ({ lease, value: lease.key })),
						),
					),
				);
				const found = await Promise.all(
					readers.map((own) => cache.getOrLease(own)),
				);
				for (const [at, own] of readers.entries()) {
					assert.deepEqual(
						found[at],
						own.map((_, nth) => hit(asLease(leases[at]?.[nth]).key)),
					);
				}
			},
		);
		assert.deepEqual(
			calls
				.filter(({ verb }) => verb !== "try")
				.map(({ verb, keys }) => ({ verb, keys })),
			["get", "set", "get"].map((verb) => ({ verb, keys })),
		);
	});

	test("of two readers of one key in one turn of a process, one gets the lease", async () => {
		await using cache = open();
		const key = newKey();
		const [one, other] = await Promise.all([
			cache.getOrLease([key]),
			cache.getOrLease([key]),
		]);
		assert.deepEqual([one, other].flat().map(kindOf), ["lease", "busy"]);
	});

	test("concurrent batches each get their own results", async () => {
		await using cache = open();
		const batches = Array.from({ length: 100 }, () => [newKey(), newKey()]);
		await Promise.all(
			batches.map(async (batch) => {
				const leases = (await cache.getOrLease(batch)).map(asLease);
				await cache.fill(
					leases.map((lease, at) => ({ lease, value: `of ${batch[at]}` })),
				);
			}),
		);
		const looked = await Promise.all(
			batches.map((batch) => cache.getOrLease(batch)),
		);
		assert.deepEqual(
			looked,
			batches.map((batch) => batch.map((key) => hit(`of ${key}`))),
		);
	});

	test("a key that occurs twice in one batch is leased once", async () => {
		await using cache = open();
		const key = newKey();
		const looked = await cache.getOrLease([key, key]);
		assert.deepEqual(looked.map(kindOf), ["lease", "busy"]);
	});

	test("a key whose delete was not acknowledged is down for this process, also while its link works again, until the delete is retried with success", async () => {
		await using proxy = await TcpProxy.to(port());
		await using far = open({ port: proxy.port });
		await using near = open();
		const [key, other] = [newKey(), newKey()];
		for (const one of [key, other]) {
			await near.fill([{ lease: await leaseOf(near, one), value: "old" }]);
		}
		assert.deepEqual(await far.getOrLease([key]), [hit("old")]);
		proxy.cut();
		assert.equal(await far.delete([key]), false);
		assert.equal(await far.untilDeleted([key], 0), false);
		assert.equal(await far.untilDeleted([other], 0), true);
		proxy.restore();
		const deleted = far.untilDeleted([key], 60_000);
		// Whichever comes first: never the old value.
		for (let isDown = true; isDown; ) {
			const [looked] = await far.getOrLease([key]);
			assert.notEqual(kindOf(looked), "hit");
			isDown = kindOf(looked) === "down";
			await sleep(1);
		}
		assert.equal(await deleted, true);
		assert.notEqual(kindOf((await near.getOrLease([key]))[0]), "hit");
		const found = async () =>
			kindOf((await far.getOrLease([other, key]))[0]) === "hit";
		await until("other keys to be read", found);
	});

	test("a retry does not forget a delete that was started after it was sent", async () => {
		await using proxy = await TcpProxy.to(port());
		await using far = open({ port: proxy.port });
		await using near = open();
		const key = newKey();
		await near.fill([{ lease: await leaseOf(near, key), value: "old" }]);
		assert.deepEqual(await far.getOrLease([key]), [hit("old")]);
		proxy.hold();
		const first = far.delete([key]);
		await until("the delete to be held", () => proxy.held > 0);
		const second = far.delete([key]);
		await until("both to be held", () => proxy.held > 1);
		proxy.release();
		assert.deepEqual(await Promise.all([first, second]), [true, true]);
		assert.equal(await far.untilDeleted([key], 0), true);
	});

	test("a cache that was disposed of is down at once", async () => {
		const cache = open();
		const key = newKey();
		const lease = await leaseOf(cache, key);
		await cache[Symbol.asyncDispose]();
		assert.deepEqual(await cache.getOrLease([key]), [{ kind: "down" }]);
		await cache.fill([{ lease, value: "late" }]);
		assert.equal(await cache.delete([key]), false);
	});
}

export function hit(value: string) {
	return { kind: "hit", value };
}

/** Its hits compare equal to `hit`. */
export function withoutLeases(cache: SharedCache): SharedCache {
	return {
		...cache,
		async getOrLease(keys) {
			const results = await cache.getOrLease(keys);
			return results.map((result) =>
				result.kind === "hit"
					? (hit(result.value) as unknown as GetOrLeaseResult)
					: result,
			);
		},
	};
}

function hitLease(looked: GetOrLeaseResult | undefined): FillLease {
	if (looked?.kind !== "hit") {
		throw new Error(`expected a hit but got: ${kindOf(looked)}`);
	}
	return looked.lease;
}

export function kindOf(looked: GetOrLeaseResult | undefined): string {
	return looked?.kind ?? "nothing";
}

export function asLease(looked: GetOrLeaseResult | undefined): FillLease {
	if (looked?.kind !== "lease") {
		throw new Error(`expected a lease but got: ${kindOf(looked)}`);
	}
	return looked.lease;
}

/** Retries, as a cache with a short deadline may be down at first on a busy machine. */
async function anyLease(cache: SharedCache) {
	for (;;) {
		const key = newKey();
		const [looked] = await cache.getOrLease([key]);
		if (looked?.kind === "lease") return { key, lease: looked.lease };
		await sleep(10);
	}
}

export async function leaseOf(
	cache: SharedCache,
	key: string,
): Promise<FillLease> {
	return asLease((await cache.getOrLease([key]))[0]);
}
