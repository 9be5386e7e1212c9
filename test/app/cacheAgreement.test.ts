import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { differentCaches } from "../../src/fleet/fleetStatus.ts";
import { CacheAgreement } from "../../src/freshness/cacheAgreement.ts";
import { OutboxWorker } from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { openMetrics } from "../../src/metrics/metrics.ts";
import { createLog } from "../../src/server/log.ts";
import { logEvents } from "../../src/server/logEvents.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import {
	Membership,
	readMembers,
	type SpokenTo,
} from "../../src/topology/members.ts";
import type { StoredText, TopologyStore } from "../../src/topology/store.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import {
	type Addresses,
	type Fleet,
	openProcess,
	type Process,
	startFleet,
} from "../processes/fleet.ts";
import { SUBJECTS } from "../processes/subjects.ts";
import { startMemcached } from "../services/memcached.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

/** A stopped clock: local cache entries do not expire, and leave only when they are invalidated. */
const now = () => 0;

interface Agreeing extends AsyncDisposable {
	readonly process: Process;
	readonly agreement: CacheAgreement;
}

/** docs/consistency/freshness.md, "The same servers for all". */
describe("processes with different shared caches", () => {
	let fleet: Fleet;
	let redis: Server;
	let memcached: Server;
	let folder: ReturnType<typeof temporaryFolder>;
	let fleets = 0;
	before(async () => {
		[fleet, redis, memcached] = await Promise.all([
			startFleet(),
			startRedis(),
			startMemcached(),
		]);
		folder = temporaryFolder();
	});
	after(async () => {
		await Promise.all(
			[fleet, redis, memcached].map((each) => each?.[Symbol.asyncDispose]()),
		);
		folder?.[Symbol.dispose]();
	});

	const otherRedis = (): Addresses => ({
		...fleet.addresses,
		redis: redis.url,
	});
	const otherMemcached = (): Addresses => ({
		...fleet.addresses,
		memcached: [memcached.address],
	});

	/** A process of the fleet with this number. */
	async function open(addresses: Addresses, nth: number): Promise<Agreeing> {
		await using stack = new AsyncDisposableStack();
		const store = stack.use(openFileStore(join(folder.path, `${nth}.json`)));
		const member = stack.use(
			new Membership(store, { role: "serve", model: "" }),
		);
		await member.say(0, 0);
		const cacheAgreement = stack.use(new CacheAgreement(store, member));
		const process = stack.use(
			await openProcess(addresses, { channel: true, now, cacheAgreement }),
		);
		// It delivers what was not acknowledged.
		stack.use(new OutboxWorker(new WritePipeline(process.store)));
		const resources = stack.move();
		return {
			process,
			agreement: cacheAgreement,
			[Symbol.asyncDispose]: () => resources.disposeAsync(),
		};
	}

	function untilUsed({ agreement, process }: Agreeing): Promise<void> {
		return until(
			"the caches to be agreed on",
			() =>
				agreement.isAgreed("lists") &&
				agreement.isAgreed("objects") &&
				process.news.at(-1) === "restored",
		);
	}

	for (const subject of SUBJECTS) {
		for (const [what, others] of [
			["Redis", otherRedis],
			["list of memcached hosts", otherMemcached],
		] as const) {
			it(`with another ${what} see each other's writes, ${subject.layer}`, async () => {
				const nth = ++fleets;
				await using first = await open(fleet.addresses, nth);
				await untilUsed(first);
				await using second = await open(others(), nth);
				for (const [reader, writer] of [
					[first.process, second.process],
					[second.process, first.process],
				] as const) {
					const id = await subject.make(reader);
					assert.equal(await subject.read(reader, id), "old");
					assert.equal(await subject.read(reader, id), "old");
					await subject.write(writer, id);
					assert.equal(await subject.read(writer, id), "new");
					await until(
						"the change",
						async () => (await subject.read(reader, id)) === "new",
						10_000,
					);
				}
				const part = what === "Redis" ? "lists" : "objects";
				assert.equal(second.agreement.mayRead(part), false);
				assert.equal(first.agreement.isAgreed(part), true);
			});
		}
	}

	it("say so in the log, in a metric and in status", async () => {
		const nth = ++fleets;
		const lines: Record<string, unknown>[] = [];
		using _events = logEvents(
			createLog({
				level: "info",
				format: "json",
				destination: { write: (line) => lines.push(JSON.parse(line)) },
			}),
		);
		using metrics = openMetrics({ documents: 1 });
		await using first = await open(fleet.addresses, nth);
		await untilUsed(first);
		{
			await using _second = await open(otherRedis(), nth);
			await until("the line", () =>
				lines.some(
					({ msg, part }) =>
						msg === "shared caches are others than the fleet's" &&
						part === "lists",
				),
			);
			await until("the metric", async () =>
				/corkboard_cache_bypassed\{reason="lists"\} 1/.test(
					await metrics.registry.metrics(),
				),
			);
			await using store = openFileStore(join(folder.path, `${nth}.json`));
			let problems: readonly string[] = [];
			await until("the problem", async () => {
				problems = differentCaches(await readMembers(store));
				return problems.length === 1;
			});
			assert.match(
				String(problems[0]),
				/different caches for lists: .* against .*CORKBOARD_REDIS/,
			);
		}
	});

	it("switch when nobody uses the former ones, and find nothing old when they come back to these", async () => {
		const nth = ++fleets;
		const [, subject] = SUBJECTS;
		assert.ok(subject);
		let id: Awaited<ReturnType<typeof subject.make>>;
		{
			await using first = await open(fleet.addresses, nth);
			await untilUsed(first);
			id = await subject.make(first.process);
			assert.equal(await subject.read(first.process, id), "old");
		}
		{
			await using second = await open(otherRedis(), nth);
			await untilUsed(second);
			await subject.write(second.process, id);
		}
		await using third = await open(fleet.addresses, nth);
		await untilUsed(third);
		assert.equal(await subject.read(third.process, id), "new");
	});

	it("count nothing as acknowledged after they were paused, until they have read the agreement", async () => {
		await using first = await open(fleet.addresses, ++fleets);
		await untilUsed(first);
		const nothing = new Int32Array(new SharedArrayBuffer(4));
		Atomics.wait(nothing, 0, 0, 2_100);
		assert.equal(first.agreement.isOverdue, true);
		assert.equal(first.agreement.isAgreed("lists"), false);
		assert.equal(first.agreement.isAgreed("objects"), false);
		await untilUsed(first);
	});
});

/** A store in memory, and a clock. */
class Setting {
	clock = 0;
	/** What the next reads do first. */
	reads: () => Promise<void> = async () => {};
	readonly texts = new Map<string, StoredText>();
	#writes = 0;

	put(path: string, text: string): void {
		this.texts.set(path, { text, revision: String(++this.#writes) });
	}

	get agreed(): unknown {
		return JSON.parse(this.texts.get("caches")?.text ?? "null");
	}

	readonly store: TopologyStore = {
		name: "memory",
		hasMembers: true,
		get: async (path) => {
			const found = this.texts.get(path) ?? null;
			await this.reads();
			return found;
		},
		list: async () => [],
		write: async (changes) => {
			for (const { path, text } of changes) this.put(path, text ?? "");
		},
		watch: () => ({ [Symbol.dispose]() {} }),
		announce: () => ({
			async set() {},
			async [Symbol.asyncDispose]() {},
		}),
		async [Symbol.asyncDispose]() {},
	};

	/** A process that has read the agreement, or claimed it. It checks only when a test says so. */
	async open(lists: string, deadlineMs = 1_000): Promise<CacheAgreement> {
		const agreement = new CacheAgreement(
			this.store,
			new Membership(this.store, { role: "serve", model: "" }),
			{ now: () => this.clock, deadlineMs },
		);
		const spokenTo: SpokenTo = { objects: null, lists };
		await agreement.begin(
			() => spokenTo,
			() => {},
		);
		agreement[Symbol.dispose]();
		return agreement;
	}
}

describe("a process that was paused", () => {
	const away = async () => {
		throw new Error("the store does not answer");
	};

	it("acknowledges nothing on an answer from before", async () => {
		const setting = new Setting();
		const agreement = await setting.open("a", 1);
		assert.equal(agreement.isAgreed("lists"), true);
		const answer = Promise.withResolvers<void>();
		setting.reads = () => answer.promise;
		setting.clock += 500;
		const check = agreement.check();
		setting.clock += 10_000;
		await check;
		assert.equal(agreement.isAgreed("lists"), false);
		answer.resolve();
		await new Promise(setImmediate);
		assert.equal(agreement.isAgreed("lists"), false);
		setting.reads = async () => {};
		await agreement.check();
		assert.equal(agreement.isAgreed("lists"), true);
	});

	it("acknowledges nothing while the store does not answer afterwards, and lets writes wait for that once", async () => {
		const setting = new Setting();
		const agreement = await setting.open("a");
		setting.reads = away;
		setting.clock += 10_000;
		for (let checks = 0; checks < 10; checks++) {
			await agreement.check();
			assert.equal(agreement.isAgreed("lists"), false);
			setting.clock += 500;
		}
		// It would not end in time.
		assert.equal(await agreement.gate("lists").untilAgreed(4_000), false);
		setting.reads = async () => {};
		await agreement.check();
		assert.equal(agreement.isAgreed("lists"), true);
	});

	it("is none whose store alone does not answer", async () => {
		const setting = new Setting();
		const agreement = await setting.open("a");
		setting.reads = away;
		for (let checks = 0; checks < 100; checks++) {
			setting.clock += 500;
			await agreement.check();
			assert.equal(agreement.isAgreed("lists"), true);
		}
	});
});

describe("an agreement that the store has lost", () => {
	for (const [what, lose] of [
		["is gone", ({ texts }: Setting) => texts.delete("caches")],
		["is unreadable", (setting: Setting) => setting.put("caches", "?")],
		[
			"is an earlier one",
			(setting: Setting) =>
				setting.put("caches", '{"lists":{"servers":"a","term":3}}'),
		],
	] as const) {
		it(`begins at a term that was never used: ${what}`, async () => {
			const setting = new Setting();
			const lists = { servers: "a", term: 7 };
			setting.put("caches", JSON.stringify({ lists }));
			const agreement = await setting.open("a");
			assert.equal(agreement.term("lists"), 7);
			lose(setting);
			await agreement.check();
			assert.equal(agreement.mayRead("lists"), false);
			const term = agreement.term("lists");
			assert.ok(term > 1_000_000_000, String(term));
			// The others have two seconds to notice.
			assert.deepEqual(setting.agreed, { lists: { servers: null, term } });
			setting.clock += 2_000;
			await agreement.check();
			assert.equal(agreement.isAgreed("lists"), true);
			assert.deepEqual(setting.agreed, { lists: { servers: "a", term } });
		});
	}
});
