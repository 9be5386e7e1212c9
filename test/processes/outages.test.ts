import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../src/errors.ts";
import { ASK_MS } from "../../src/freshness/channel/invalidationSubscriber.ts";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { OutboxWorker } from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { PRESENT } from "../../src/storage/rows.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { timed as ownTimed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import {
	type Fleet,
	openProcess,
	PATIENT_MS,
	type Process,
	type ProcessOptions,
	startFleet,
	withoutUntaken,
} from "./fleet.ts";
import { both } from "./naive.ts";
import { makePin, makeUser, SUBJECTS } from "./subjects.ts";

/** The deadline of production. */
const CACHE_DEADLINE_MS = 100;
/** Limit of one read or write while a cache fails, on a busy machine: a few cache deadlines, far less than a MySQL timeout. */
const REQUEST_MS = 2_000;
/** A stopped clock: local cache entries do not expire, and leave only when they are invalidated. */
const now = () => 0;
const WORKERS = 4;
/** Longer than the breaker's pause: a cache that is back is used again. */
const LONGER_THAN_A_PAUSE_MS = 1_000;
/** Longer than the silence after which the channel counts as lost. */
const LONGER_THAN_A_TRUST_MS = 1_500;

/** docs/consistency.md, "3. Caches". */
describe("a shared cache that fails under reads and writes", () => {
	let fleet: Fleet;
	before(async () => {
		fleet = await startFleet();
	});
	after(() => fleet[Symbol.asyncDispose]());

	const open = (options: ProcessOptions = {}) =>
		openProcess(fleet.addresses, {
			channel: true,
			cacheDeadlineMs: CACHE_DEADLINE_MS,
			now,
			...options,
		});

	/** Two processes read and write during an outage; afterwards all caches must agree with the shards. */
	async function working(
		happens: (more: () => Promise<void>) => Promise<void>,
	): Promise<void> {
		await using a = await open();
		await using b = await open();
		await using worker = new OutboxWorker(new WritePipeline(a.store));
		assert.ok(worker);
		const pins = await Promise.all(
			Array.from({ length: WORKERS }, () => makePin(a, { details: "0" }, 1)),
		);
		const users = await Promise.all(
			Array.from({ length: WORKERS }, (_, n) =>
				makeUser(a, `w${performance.now().toFixed(0)}_${n}`, 0),
			),
		);
		const stop = new AbortController();
		let slowest = 0;
		let requests = 0;
		const timed = async <T>(request: Promise<T>): Promise<T> => {
			const { result, ownMs } = await ownTimed(() => request);
			slowest = Math.max(slowest, ownMs);
			requests++;
			return result;
		};
		const working = pins.map(async (pin, n) => {
			const [user, likePin] = [users[n] as Id, a.mapping("likePin")];
			for (let nth = 1; !stop.signal.aborted; nth++) {
				const process = nth % 2 === 0 ? a : b;
				const details = String(nth);
				await timed(
					process.writes.modify(pin, (data) => ({ ...data, details })),
				);
				await timed(process.writes.setEdge(likePin, user, pin, nth % 4 < 2));
				for (const reader of [a, b]) {
					await timed(reader.object(pin));
					await timed(reader.head("likePin", user));
					await timed(reader.head("likePin.inverse", pin));
				}
				await sleep(60);
			}
		});
		try {
			await happens(async () => {
				const enough = requests + 50;
				await until("more requests", () => requests > enough);
			});
		} finally {
			stop.abort();
		}
		// Rejects if any request failed.
		await Promise.all(working);
		assert.ok(slowest < REQUEST_MS, `${slowest} ms`);

		await until(
			"all deliveries",
			async () =>
				(await a.storage.pendingEntries({ olderThanMs: 0, limit: 1 }))
					.length === 0,
		);
		await using fresh = await open({ channel: false, cacheBytes: 0 });
		const agree = async (process: Process) => {
			const answers = pins.map((pin, n) =>
				agrees(process, pin, users[n] as Id),
			);
			return (await Promise.all(answers)).every(Boolean);
		};
		assert.ok(await agree(fresh), "the shared caches agree with the shards");
		for (const [name, process] of Object.entries({ a, b })) {
			// A process sends the invalidations that failed once Redis is back.
			await until(`${name} to show nothing old`, () => agree(process));
		}
	}

	/** Whether a process reads what the shards have. */
	async function agrees(process: Process, pin: Id, user: Id): Promise<boolean> {
		const { storage } = process;
		const mapping = process.mapping("likePin");
		const [text] = await storage.read("objects", [pin]);
		const [edge] = await storage.read("edges", [
			{ mapping, from: user, to: pin },
		]);
		assert.ok(typeof text === "string" && !(edge instanceof CorkboardError));
		const isLiked = edge?.state === PRESENT;
		const [mine, theirs] = [
			await process.head("likePin", user),
			await process.head("likePin.inverse", pin),
		];
		return (
			(await process.object(pin))?.details === JSON.parse(text).details &&
			mine.slice().some(({ to }) => to === pin) === isLiked &&
			theirs.slice().some(({ to }) => to === user) === isLiked &&
			theirs.count === (isLiked ? 1 : 0)
		);
	}

	it("fails no request when memcached is killed and started again", () =>
		working(async (more) => {
			await more();
			await fleet.memcached.kill();
			await more();
			await fleet.memcached.restart();
			await sleep(LONGER_THAN_A_PAUSE_MS);
			await more();
		}));

	it("fails no request when Redis is killed and comes back from a snapshot", () =>
		working(async (more) => {
			await more();
			const { host, port } = fleet.redis;
			await ask({ host, port }, "SAVE", /^\+OK/);
			await more();
			await fleet.redis.kill();
			await more();
			await fleet.redis.restart();
			await sleep(LONGER_THAN_A_PAUSE_MS);
			await more();
		}));

	it("fails no request while memcached and Redis both hang", () =>
		working(async (more) => {
			await more();
			for (const server of [fleet.memcached, fleet.redis]) server.pause();
			await sleep(LONGER_THAN_A_TRUST_MS);
			await more();
			for (const server of [fleet.memcached, fleet.redis]) server.resume();
			await sleep(LONGER_THAN_A_PAUSE_MS);
			await more();
		}));

	for (const subject of SUBJECTS) {
		const what = subject.layer === "memcached" ? "an object" : "a head";

		it(`serves no stale value for long if a writer was cut off from Redis, and publishes once it is back, ${what}`, async () => {
			await using proxy = await TcpProxy.to(fleet.redis.port);
			await using writer = await openProcess(
				{ ...fleet.addresses, redis: `redis://127.0.0.1:${proxy.port}` },
				{ channel: true, now },
			);
			await using reader = await open({
				cacheDeadlineMs: PATIENT_MS,
				overrides: { storage: withoutUntaken },
			});
			await until("both channels", () =>
				[writer, reader].every(({ news }) => news.at(-1) === "restored"),
			);
			const id = await subject.make(writer);
			// Whatever was published of the new object has arrived.
			await sleep(2 * ASK_MS);
			assert.equal(await subject.read(reader, id), "old");
			proxy.cut();
			await subject.write(writer, id);
			assert.equal(await subject.read(writer, id), "new", "by the writer");
			assert.equal(
				await subject.read(reader, id),
				"old",
				"no invalidation can arrive",
			);
			proxy.restore();
			// A head that Redis still has is read from there again after the local
			// invalidation. The process that deletes it there publishes a second one.
			await using worker = new OutboxWorker(new WritePipeline(writer.store));
			assert.ok(worker);
			await until(
				"the new value",
				async () => (await subject.read(reader, id)) === "new",
			);
			assert.deepEqual(reader.news, ["lost", "restored"]);
		});

		it(`serves no stale value for long if only the writer could not reach ${subject.layer}`, async () => {
			await using reader = await openProcess(fleet.addresses, {
				cacheBytes: 0,
			});
			let isDown = false;
			await using stack = new AsyncDisposableStack();
			/** A write while the writer cannot reach the cache; `answer` is what the cache calls return. */
			const changed = async (answer: boolean) => {
				const layers = both((cache) => ({
					...cache,
					delete: async (keys) => (isDown ? answer : cache.delete(keys)),
				}));
				const writer = stack.use(
					await openProcess(fleet.addresses, { overrides: { layers } }),
				);
				const id = await subject.make(writer);
				const filled = reader.pauses.hold(`filled ${subject.layer}`);
				await subject.read(reader, id);
				await filled.reached;
				filled.release();
				isDown = true;
				await subject.write(writer, id);
				assert.equal(await subject.read(reader, id), "old");
				isDown = false;
				return { writer, id };
			};
			const naive = await changed(true);
			// Acknowledged, so its entry is deleted, and nobody repeats the invalidation.
			await naive.writer.store.outboxDeletions.flush();
			await deliverPending(new WritePipeline(naive.writer.store), 0);
			assert.equal(
				await subject.read(reader, naive.id),
				"old",
				"until it expires in the cache",
			);
			const ours = await changed(false);
			stack.use(new OutboxWorker(new WritePipeline(ours.writer.store)));
			await until(
				"the worker to delete it",
				async () => (await subject.read(reader, ours.id)) === "new",
			);
		});
	}
});

describe("a MySQL server that is killed in the middle of writes", () => {
	it("has every acknowledged write when it is back, and pending outbox entries are delivered", async () => {
		await using fleet = await startFleet({ mysql: 2 });
		await using process = await openProcess(fleet.addresses, {
			limits: { connectMs: 500 },
		});
		const { mapping, writes, store } = process;
		const users = await Promise.all(
			Array.from({ length: 8 }, (_, n) => makeUser(process, `u${n}`, n % 2)),
		);
		// Likes are on the first host, their inverses on the second.
		const far = await makeUser(process, "far", 2);
		const board = await process.make("Board", { name: "b", user_id: far });
		const pins = await Promise.all(
			Array.from({ length: 6 }, () =>
				process.make("Pin", { board_id: board, user_id: far }),
			),
		);

		/** By user and pin: the last acknowledged state; absent if it is unknown. */
		const known = new Map<string, boolean>();
		const made: Id[] = [];
		const failures = { likes: 0, pins: 0 };
		const stop = new AbortController();
		const writing = users.map(async (user, n) => {
			for (let nth = n; !stop.signal.aborted; nth++) {
				const pin = pins[nth % pins.length] as Id;
				const key = `${user} ${pin}`;
				const likes = !(known.get(key) ?? false);
				known.delete(key);
				try {
					await writes.setEdge(mapping("likePin"), user, pin, likes);
					known.set(key, likes);
				} catch (error) {
					assert.ok(error instanceof CorkboardError, String(error));
					failures.likes++;
				}
				try {
					made.push(
						await process.make("Pin", { board_id: board, user_id: user }),
					);
				} catch (error) {
					assert.ok(error instanceof CorkboardError, String(error));
					failures.pins++;
				}
			}
		});
		try {
			await until("some to be written", () => made.length > 40);
			await fleet.mysql[1]?.kill();
			await until("writes to fail", () => failures.pins > 5 && known.size > 0);
		} finally {
			stop.abort();
		}
		await Promise.all(writing);
		// Likes need the first host only, and continue.
		assert.ok(
			(await process.storage.pendingEntries({ olderThanMs: 0, limit: 1_000 }))
				.length > 0,
			"entries are pending",
		);
		await fleet.mysql[1]?.restart();

		const half = await verify(store);
		assert.ok(half.pendingEntries > 0, "entries are pending");
		// The process asks the host again within a second.
		await until("all to be delivered", async () => {
			await deliverPending(new WritePipeline(store), 0);
			const left = await process.storage.pendingEntries({
				olderThanMs: 0,
				limit: 1,
				includeDelayed: true,
			});
			return left.length === 0;
		});
		const { clean, damage, pendingEntries } = await verify(store);
		assert.deepEqual(
			{ clean, damage, pendingEntries },
			{ clean: true, damage: [], pendingEntries: 0 },
		);

		await using reader = await openProcess(fleet.addresses, { cacheBytes: 0 });
		for (const [key, liked] of known) {
			const [user, pin] = key.split(" ") as [Id, Id];
			const there = async (name: string, from: Id, to: Id) => {
				const keys = [{ mapping: mapping(name), from, to }];
				const [edge] = await reader.storage.read("edges", keys);
				assert.ok(!(edge instanceof CorkboardError));
				return edge?.state === PRESENT;
			};
			assert.equal(await there("likePin", user, pin), liked, key);
			assert.equal(await there("likePin.inverse", pin, user), liked, key);
		}
		for (const pin of made) assert.ok(await reader.object(pin), pin);
		for (const pin of pins) {
			const head = await reader.head("likePin.inverse", pin);
			assert.equal(head.count, head.size);
		}
	});
});
