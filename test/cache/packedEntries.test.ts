import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { INVALIDATED_MAX_AGE_MS } from "../../src/cache/entryAges.ts";
import { ENTRY_BYTES } from "../../src/cache/heapEntries.ts";
import { KeptEntries } from "../../src/cache/keptEntries.ts";
import { ALL_CHANNELS, versionsFor } from "../../src/cache/slotVersions.ts";
import { type Random, seededRandom } from "../../src/util/random.ts";
import { TextCache, unpackText } from "../helpers/textCache.ts";

// Only what has an id for its key is packed. These are on channel 1.
const [A, B, C] = ["1", "2", "3"];

/** Those from 10 on are on channel 0. */
const other = (n: number) => `${n < 10 ? 100 : 1_000}${n}`;

/** A cache with room for a few texts in its map. */
function open({ packedBytes = 1_000_000, mapBytes = 2_000 } = {}) {
	const clock = { now: 0, isOverdue: false };
	const kept = new KeptEntries(mapBytes + packedBytes, packedBytes);
	const cache = new TextCache({
		kept,
		unpack: unpackText,
		maxAgeMs: INVALIDATED_MAX_AGE_MS,
		channelOf: (key) => key.length % 2,
		now: () => clock.now,
		isOverdue: () => clock.isOverdue,
	});
	const fillOthers = async (count = 50) => {
		for (let n = 0; n < count; n++) await cache.fill(other(n), "other");
	};
	return { cache, clock, kept, fillOthers };
}

/** Some read of many gets it a place there. */
function readIntoHeap(cache: TextCache, key: string): void {
	const { bytes } = cache.level();
	for (let n = 0; cache.level().bytes <= bytes; n++) {
		assert.ok(n < 1_000, "no read brings it into the heap");
		assert.notEqual(cache.text(key), undefined);
	}
}

/** What is in the heap is not made again at each read. */
function readsTheSame(cache: TextCache, key: string): void {
	assert.equal(cache.entry(key), cache.entry(key));
}

describe("an entry that is packed", () => {
	for (const [what, text] of [
		["of ASCII letters", JSON.stringify({ details: "a" })],
		["that is empty", ""],
		["of Latin-1 letters", "für ÿ"],
		["of letters beyond", "доска ☕ 🍰 漢字"],
		["with half of a pair of surrogates", "a\ud83c, \udf70b"],
		["that is long", "é".repeat(30_000)],
	] as const) {
		it(`comes back with its text ${what}, if at all`, async () => {
			const { cache, fillOthers } = open({ mapBytes: 70_000 });
			await cache.fill(A, text);
			await fillOthers(2_000);
			for (let n = 0; n < 500; n++) await cache.fill(`other ${n}`, "other");
			const isPacked = text.isWellFormed();
			assert.equal(cache.text(A), isPacked ? text : undefined);
		});
	}

	for (const key of ["a", "", "01", "-1", "4611686018427387904"]) {
		it(`has an id for its key, which "${key}" is not`, async () => {
			const { cache, fillOthers } = open();
			await cache.fill(key, "value");
			await fillOthers();
			assert.equal(cache.text(key), "value", "in the heap");
			for (let n = 0; n < 50; n++) await cache.fill(`other ${n}`, "other");
			assert.equal(cache.text(key), undefined);
			assert.equal(cache.text(other(0)), "other");
		});
	}

	const changes: Record<string, (cache: TextCache) => void> = {
		"the change of its key": (cache) => cache.invalidateText(A),
		"a change of everything": (cache) => cache.invalidateAll(),
		"a change on its channel": (cache) =>
			cache.invalidateChannels(new Set([1])),
		"a change of keys that it is one of": (cache) =>
			cache.invalidateWhere((key) => key === A),
		"a time without invalidations": (cache) => {
			cache.bypass(new Set([1]), true);
			cache.bypass(new Set([1]), false);
		},
		"a limit of ages": (cache) => cache.limitAge(true),
		"a limit of its channel's ages": (cache) =>
			cache.limitAgeOf(new Set([1]), true),
	};
	for (const [what, change] of Object.entries(changes)) {
		it(`is not used after ${what}`, async () => {
			const { cache, fillOthers } = open();
			await cache.fill(A, "old");
			await fillOthers();
			change(cache);
			assert.equal(cache.text(A), undefined);
		});

		it(`is not used after ${what} where it is in the heap too`, async () => {
			const { cache, fillOthers } = open();
			await cache.fill(A, "old");
			readIntoHeap(cache, A);
			assert.equal(cache.text(A), "old");
			change(cache);
			assert.equal(cache.text(A), undefined);
			await cache.fill(A, "new");
			await fillOthers();
			assert.equal(cache.text(A), "new");
		});
	}

	it("is in the heap once it was read often, until others need the room, and good again after keys of its channel were read past the cache", async () => {
		const { cache, fillOthers } = open();
		await cache.fill(A, "value");
		await fillOthers();
		const packed = cache.level();
		readIntoHeap(cache, A);
		const inHeap = cache.level();
		assert.ok(inHeap.bytes > packed.bytes + ENTRY_BYTES);
		assert.equal(inHeap.entries, packed.entries);
		cache.bypassKeys(null, ALL_CHANNELS);
		for (let n = 0; n < 50 * 100; n++) {
			assert.equal(cache.text(other(n % 50)), "other");
		}
		assert.ok(cache.level().bytes <= packed.bytes + 2_000);
		assert.equal(cache.text(A), "value");
		assert.equal(cache.level().evictions, 0);
	});

	it("has a place in the heap after one read in sixteen, so most that are read once have none", async () => {
		const { cache, fillOthers } = open({ mapBytes: 1_000_000 });
		await fillOthers(1_600);
		const before = cache.level().bytes;
		for (let n = 0; n < 1_600; n++) cache.text(other(n));
		const inHeap = (cache.level().bytes - before) / (ENTRY_BYTES + 5);
		assert.ok(inHeap > 50 && inHeap < 150, `${inHeap} of 1600`);
		// In whatever order.
		for (let n = 0; n < 64 * 400; n++) cache.text(other(n % 64));
		for (let n = 0; n < 64; n++) readsTheSame(cache, other(n));
	});

	it("is found where it moved to while it was in the heap", async () => {
		const { cache, kept } = open({ packedBytes: 20_000 });
		await cache.fill(A, "value");
		for (let n = 0; n < 2_000; n++) {
			assert.equal(cache.text(A), "value");
			const misses = kept.packed?.isFull === true ? 2 : 1;
			for (let miss = 0; miss < misses; miss++)
				await cache.fill(`${10_000 + n}`, "other");
		}
		assert.equal(kept.packed?.isFull, true);
		cache.invalidateText(A);
		assert.equal(cache.text(A), undefined);
		await cache.fill(A, "changed");
		assert.equal(cache.text(A), "changed");
	});

	it("leaves its room when no channel is received", async () => {
		const { cache, kept, fillOthers } = open({ packedBytes: 4_000 });
		await fillOthers(200);
		assert.equal(kept.packed?.isFull, true);
		cache.invalidateChannels(new Set(ALL_CHANNELS));
		assert.equal(kept.packed?.isFull, false);
		const { entries, bytes } = cache.level();
		assert.deepEqual({ entries, bytes }, { entries: 0, bytes: 0 });
		await fillOthers(50);
		assert.equal(cache.level().entries, 50);
	});

	it("is used after a change on another channel", async () => {
		const { cache, fillOthers } = open();
		await cache.fill(A, "value");
		await fillOthers();
		cache.invalidateChannels(new Set([0]));
		assert.equal(cache.text(A), "value");
		await fillOthers();
		cache.invalidateWhere((key) => key === other(10), new Set([0]));
		assert.equal(cache.text(A), "value");
		assert.equal(cache.text(other(10)), undefined);
	});

	it("lives as long as in the map, to the millisecond", async () => {
		const { cache, clock, fillOthers } = open();
		await cache.fill(A, "value");
		let end = INVALIDATED_MAX_AGE_MS / 2;
		while (cache.text(A) !== undefined) clock.now = ++end;
		clock.now = 0;
		await cache.fill(A, "value");
		await fillOthers();
		clock.now = end - 1;
		assert.equal(cache.text(A), "value");
		clock.now = end;
		assert.equal(cache.text(A), undefined, "from the map");
		clock.now = 0;
		await cache.fill(A, "value");
		await fillOthers();
		clock.now = end;
		assert.equal(cache.text(A), undefined, "packed");
	});

	it("is not used after another value was read in its place", async () => {
		const { cache, fillOthers } = open();
		await cache.fill(A, "shallow");
		await fillOthers();
		await cache.readTexts([A], async () => ["deep"], {
			suffices: (text) => text === "deep",
		});
		await fillOthers();
		assert.equal(cache.text(A), "deep");
	});

	it("is not used while its key is read past the cache, others of its channel are, and it is good again afterwards", async () => {
		const { cache, fillOthers } = open();
		for (const key of [A, B, C]) await cache.fill(key, key);
		await fillOthers();
		cache.bypassKeys((key) => key !== B, new Set(ALL_CHANNELS));
		assert.equal(cache.text(A), undefined);
		assert.equal(cache.text(B), B);
		cache.invalidateText(C);
		await fillOthers();
		cache.bypassKeys(null, new Set());
		assert.equal(cache.text(A), A);
		assert.equal(cache.text(B), B);
		assert.equal(cache.text(C), undefined);
	});

	it("is not used while invalidations are overdue, and is afterwards", async () => {
		const { cache, clock, fillOthers } = open();
		await cache.fill(A, "value");
		await fillOthers();
		clock.isOverdue = true;
		assert.equal(cache.text(A), undefined);
		clock.isOverdue = false;
		assert.equal(cache.text(A), "value");
	});

	it("is written once, however often it comes back", async () => {
		const { cache, kept, fillOthers } = open();
		await cache.fill(A, "value");
		await fillOthers();
		for (let n = 0; n < 5_000; n++) cache.text(other(n % 50));
		const { bytes, entries } = cache.level();
		for (let round = 0; round < 200; round++) {
			assert.equal(cache.text(A), "value");
			for (let n = 0; n < 50; n++) cache.text(other(n));
		}
		assert.deepEqual(
			{ bytes: cache.level().bytes, entries: cache.level().entries },
			{ bytes, entries },
		);
		assert.equal(kept.packed?.isFull, false);
	});

	it("stays when the memory is full and it was used, while others leave", async () => {
		const { cache, kept } = open({ packedBytes: 20_000 });
		await cache.fill(A, "value");
		for (let n = 0; n < 4_000; n++) {
			// Once it is full, the first miss of a key is noted, the second one kept.
			const misses = kept.packed?.isFull === true ? 2 : 1;
			for (let miss = 0; miss < misses; miss++)
				await cache.fill(`${10_000 + n}`, "other");
			if (n % 50 === 0) assert.equal(cache.text(A), "value", `${n}`);
		}
		assert.equal(cache.text("10001"), undefined);
		assert.ok(cache.level().evictions > 3_000);
		assert.ok(cache.level().bytes <= 22_000);
	});
});

/** What the databases have, and caches in a process before it that change meanwhile as in a day of faults. */
class World {
	readonly random: Random;
	readonly truth = new Map<string, number>();
	readonly clock = { now: 0, isOverdue: false };
	readonly caches: readonly TextCache[];
	/** Nothing is received on it. */
	silent: number | null = null;
	/** By cache: what waits to be received while invalidations are overdue. */
	readonly undelivered: (() => void)[] = [];
	readonly kept: KeptEntries;

	constructor(seed: number) {
		this.random = seededRandom(seed);
		this.kept = new KeptEntries(14_000, 10_000);
		const versions = versionsFor(2);
		this.caches = [0, 1].map(
			(number) =>
				new TextCache({
					kept: this.kept,
					versions,
					number,
					unpack: unpackText,
					maxAgeMs: INVALIDATED_MAX_AGE_MS,
					channelOf: channelOfKey,
					now: () => this.clock.now,
					isOverdue: () => this.clock.isOverdue,
				}),
		);
	}

	upTo(count: number): number {
		return this.random.integer(0, count - 1);
	}

	key(): string {
		// Few are asked for often.
		return `1${Math.floor(this.upTo(20) ** 2 * this.random.fraction())}`;
	}

	version(number: number, key: string): number {
		return this.truth.get(`${number} ${key}`) ?? 0;
	}

	text(number: number, key: string): string {
		const version = this.version(number, key);
		const filler = ["a", "é", "д", "\ud800"][version % 13] ?? "b";
		return `${number} ${key} ${version} ${filler.repeat((version * 31) % 200)}`;
	}

	/** Never older than what the databases had when it began. */
	async read(number: number): Promise<void> {
		const keys = Array.from({ length: 1 + this.upTo(5) }, () => this.key());
		const least = keys.map((key) => this.version(number, key));
		const cache = this.caches[number] as TextCache;
		const texts = await cache.readTexts(keys, async (missing) => {
			await null;
			const read = missing.map((at) => this.text(number, keys[at] as string));
			if (this.upTo(3) === 0) this.write();
			return read;
		});
		for (const [at, text] of texts.entries()) {
			const key = keys[at] as string;
			const [of, name, version] = String(text).split(" ");
			assert.equal(`${of} ${name}`, `${number} ${key}`);
			assert.ok(Number(version) >= (least[at] as number), `${key}: ${text}`);
			if (Number(version) === this.version(number, key)) {
				assert.equal(text, this.text(number, key));
			}
		}
	}

	write(): void {
		const number = this.upTo(2);
		const key = this.key();
		this.truth.set(`${number} ${key}`, this.version(number, key) + 1);
		if (channelOfKey(key) === this.silent) return;
		const deliver = () => this.caches[number]?.invalidateText(key);
		if (this.clock.isOverdue) this.undelivered.push(deliver);
		else deliver();
	}

	receive(): void {
		for (const deliver of this.undelivered.splice(0)) deliver();
		this.clock.isOverdue = false;
	}

	/** One of what happens. */
	fault(): void {
		const channel = this.upTo(4);
		const some = new Set([channel]);
		const isSome = (key: string) => channelOfKey(key) === channel;
		const each = (call: (cache: TextCache) => void) => {
			this.caches.forEach(call);
		};
		const faults: (() => void)[] = [
			() => each((cache) => cache.invalidateAll()),
			() => each((cache) => cache.invalidateChannels(some)),
			() => this.caches[this.upTo(2)]?.invalidateWhere(isSome, some),
			() => each((cache) => cache.limitAge(this.upTo(2) === 0)),
			() => each((cache) => cache.limitAgeOf(some, this.upTo(2) === 0)),
			() => each((cache) => cache.bypassKeys(isSome, some)),
			() => each((cache) => cache.bypassKeys(null, new Set())),
			() => {
				if (this.silent !== null) return;
				each((cache) => cache.bypass(some, true));
				this.silent = channel;
			},
			() => {
				if (this.silent === null) return;
				const silent = new Set([this.silent]);
				this.silent = null;
				each((cache) => cache.bypass(silent, false));
			},
			() => {
				this.clock.isOverdue = true;
			},
			() => {
				this.clock.now += this.upTo(INVALIDATED_MAX_AGE_MS / 4);
			},
		];
		faults[this.upTo(faults.length)]?.();
	}
}

const channelOfKey = (key: string) => key.charCodeAt(key.length - 1) % 4;

describe("caches of which most is packed", () => {
	for (const seed of [1, 2, 3, 4, 5, 6]) {
		it(`never show what is older than the read, whatever fails (seed ${seed})`, async () => {
			const world = new World(seed);
			for (let step = 0; step < 6_000; step++) {
				const draw = world.upTo(1_000);
				if (draw < 20) world.receive();
				else if (draw < 800) await world.read(world.upTo(2));
				else if (draw < 994) world.write();
				else world.fault();
			}
			const levels = world.caches.map((cache) => cache.level());
			const bytes = levels.reduce((sum, level) => sum + level.bytes, 0);
			assert.ok(bytes <= 14_000, `${bytes} bytes`);
			for (const { hits, evictions } of levels) {
				assert.ok(hits > 500 && evictions > 150, `${hits}, ${evictions}`);
			}
			for (const cache of world.caches) cache.invalidateAll();
			for (const cache of world.caches) {
				const { entries, bytes } = cache.level();
				assert.deepEqual({ entries, bytes }, { entries: 0, bytes: 0 });
			}
		});
	}
});
