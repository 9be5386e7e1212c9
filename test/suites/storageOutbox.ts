import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import type {
	OutboxKey,
	PendingEntriesQuery,
	PendingEntry,
} from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Statement } from "../../src/trace.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { pin } from "../helpers/storageModel.ts";
import { batchesOf, collect } from "../helpers/storing.ts";

const START = 1_800_000_000_000;

export function outboxTests(open: OpenStorage): void {
	test("an outbox entry is pending until it is deleted", async () => {
		await using opened = await open();
		const { storage } = opened;
		const one = await enqueue(storage, 3, { what: "one", id: pin(1) });
		const two = await enqueue(storage, 0, { what: "two" });
		assert.deepEqual(
			new Set(await pending(storage)),
			new Set([
				{ ...one, entry: { what: "one", id: pin(1) } },
				{ ...two, entry: { what: "two" } },
			]),
		);
		await storage.deleteOutboxEntries([one]);
		assert.deepEqual(await pending(storage), [
			{ ...two, entry: { what: "two" } },
		]);
		// A second delete is not an error.
		await storage.deleteOutboxEntries([one, two]);
		assert.deepEqual(await pending(storage), []);
	});

	test("a transaction without an outbox entry returns no outbox key", async () => {
		await using opened = await open();
		const { outboxKey } = await opened.storage.transact({
			shard: 0,
			decide: () => ({ result: null }),
		});
		assert.equal(outboxKey, null);
	});

	test("an outbox key is never reused", async () => {
		await using opened = await open();
		const { storage } = opened;
		const one = await enqueue(storage, 0, {});
		await storage.deleteOutboxEntries([one]);
		assert.deepEqual(await enqueue(storage, 0, {}), {
			shard: 0,
			local: one.local + 1,
		});
	});

	test("pending entries come oldest first over all shards, and only those old enough", async () => {
		await using opened = await open();
		const { storage } = opened;
		await atTime(START, async () => {
			await enqueue(storage, 2, { at: 0 });
			mock.timers.tick(1_000);
			await enqueue(storage, 1, { at: 1 });
			mock.timers.tick(1_000);
			await enqueue(storage, 2, { at: 2 });
			const at = async (olderThanMs: number) =>
				(await pending(storage, { olderThanMs })).map(({ entry }) => entry?.at);
			assert.deepEqual(await at(0), [0, 1, 2]);
			assert.deepEqual(await at(1), [0, 1]);
			assert.deepEqual(await at(1_000), [0, 1]);
			assert.deepEqual(await at(1_001), [0]);
			assert.deepEqual(await at(2_001), []);
		});
	});

	test("each outbox returns at most the limit of pending entries", async () => {
		await using opened = await open();
		const { storage } = opened;
		for (const n of [1, 2, 3]) {
			await enqueue(storage, 0, { n });
			await enqueue(storage, 1, { n });
		}
		assert.deepEqual(
			(await pending(storage, { limit: 2 }))
				.map(({ shard, entry }) => [shard, entry?.n])
				.sort(),
			isShared(storage)
				? [
						[0, 1],
						[1, 1],
					]
				: [
						[0, 1],
						[0, 2],
						[1, 1],
						[1, 2],
					],
		);
	});

	test("pending entries are read page by page in every outbox, past those already read", async () => {
		await using opened = await open();
		const { storage } = opened;
		for (const n of [1, 2, 3, 4, 5]) await enqueue(storage, 0, { n });
		for (const n of [6, 7]) await enqueue(storage, 1, { n });
		const read: Awaited<ReturnType<Storage["pendingEntries"]>>[number][] = [];
		const pages: unknown[][] = [];
		for (;;) {
			const page = await storage.pendingEntries({
				olderThanMs: 0,
				limit: 2,
				after: read,
			});
			if (page.length === 0) break;
			read.push(...page);
			pages.push(page.map(({ entry }) => entry?.n).sort());
		}
		assert.deepEqual(
			pages,
			isShared(storage)
				? [[1, 2], [3, 4], [5, 6], [7]]
				: [[1, 2, 6, 7], [3, 4], [5]],
		);
		const [, last] = read as [PendingEntry, PendingEntry];
		const continued = { after: [last], limit: 10, continues: true };
		assert.ok(
			(await pending(storage, continued)).every(
				({ shard }) => isShared(storage) || shard === last.shard,
			),
			"no outbox of which nothing was read",
		);
	});

	test("entries that nobody has taken are found by their ids, page by page in every outbox, whenever they were written, beside those that are due, and read", async () => {
		await using opened = await open({ dead: [2] });
		const { storage } = opened;
		const [one, two, three] = [
			await enqueue(storage, 0, { n: 1 }),
			await enqueue(storage, 0, { n: 2 }),
			await enqueue(storage, 1, { n: 3 }),
		];
		/** By shard. */
		const untaken = async (after: number, limit: number) => {
			const looks = storage.map.outboxes.map((outbox) => ({
				outbox,
				untaken: { after, limit },
				due: { olderThanMs: 60_000, limit: 1 },
			}));
			const seen = await storage.read("outboxes", looks);
			return [0, 1, 2].map((shard) => {
				const at = looks.findIndex(({ outbox }) =>
					outbox.shards.includes(shard),
				);
				const found = seen[at];
				if (found === undefined || found instanceof CorkboardError) return null;
				assert.deepEqual(found.due, []);
				return found.untaken.filter((key) => key.shard === shard);
			});
		};
		const [first, other, dead] = await untaken(0, 1);
		assert.deepEqual([first, other], [[one], isShared(storage) ? [] : [three]]);
		assert.equal(dead, null);
		const [rest] = await untaken(one.local, 10);
		assert.deepEqual(rest, [two]);
		// An entry that was given back was taken before.
		const due = (await pending(storage)).filter(({ shard }) => shard === 0);
		await storage.takeEntries(
			due.map((entry) => ({ ...entry, nextAttemptAt: 0 })),
			Date.now() * 1_000,
		);
		assert.deepEqual((await untaken(0, 10)).slice(0, 2), [[], [three]]);
		const gone = { shard: 0, local: two.local + 1_000 };
		const read = await storage.read("entries", [
			two,
			gone,
			three,
			{ shard: 2, local: 1 },
		]);
		assert.deepEqual(read.slice(0, 3), [
			{ ...two, entry: { n: 2 } },
			null,
			{ ...three, entry: { n: 3 } },
		]);
		assert.ok(read[3] instanceof CorkboardError);
	});

	test("a database whose shards share an outbox says which local id comes next, also after entries were deleted", async () => {
		await using opened = await open();
		const { storage } = opened;
		const next = async () => {
			const [outbox] = storage.map.outboxes;
			assert.ok(outbox);
			const [seen] = await storage.read("outboxes", [
				{ outbox, untaken: null, due: null, next: true },
			]);
			assert.ok(seen && !(seen instanceof CorkboardError));
			return seen.next;
		};
		const one = await enqueue(storage, 0, { n: 1 });
		if (!isShared(storage)) {
			assert.equal(await next(), null);
			return;
		}
		assert.equal(await next(), one.local + 1);
		const two = await enqueue(storage, 0, { n: 2 });
		await storage.deleteOutboxEntries([two]);
		assert.equal(await next(), two.local + 1);
	});

	test("the entries of each outbox are counted, up to a limit, with the time of the oldest", async () => {
		await using opened = await open({ dead: [2] });
		const { storage } = opened;
		const before = Date.now() * 1_000;
		for (const n of [1, 2, 3]) await enqueue(storage, 0, { n });
		const after = Date.now() * 1_000;
		const [some, none, dead] = await storage.read(
			"outboxSizes",
			([0, 1, 2] as const).map((shard) => ({
				outbox: { host: "", shards: [shard] },
				limit: 2,
			})),
		);
		assert.ok(some !== undefined && !(some instanceof CorkboardError));
		assert.equal(some.entries, 2);
		const { oldestAt } = some;
		assert.ok(oldestAt !== null && oldestAt >= before && oldestAt <= after);
		assert.deepEqual(none, { entries: 0, oldestAt: null });
		assert.ok(dead instanceof CorkboardError);
	});

	test("of an outbox only the entries of its shards are read", async () => {
		await using opened = await open({ dead: [2] });
		const { storage } = opened;
		await enqueue(storage, 0, { n: 0 });
		await enqueue(storage, 1, { n: 1 });
		const due = { olderThanMs: 0, limit: 10 };
		const of = async (...shards: [number, ...number[]]) => {
			const look = { outbox: { host: "", shards }, untaken: null, due };
			const [seen] = await storage.read("outboxes", [look]);
			return seen instanceof CorkboardError
				? seen.code
				: seen?.due.map(({ entry }) => entry?.n);
		};
		assert.deepEqual(await of(1), [1]);
		assert.deepEqual(await of(2), "UNAVAILABLE");
		assert.deepEqual(await of(9), []);
		assert.deepEqual(
			(await pending(storage)).map(({ entry }) => entry?.n),
			[0, 1],
		);
	});

	test("a failed delivery postpones its entry, counts the attempt and keeps the error", async () => {
		await using opened = await open();
		const { storage } = opened;
		await atTime(START, async () => {
			const one = await enqueue(storage, 0, { n: 1 });
			const two = await enqueue(storage, 0, { n: 2 });
			const three = await enqueue(storage, 1, { n: 3 });
			assert.deepEqual(await state(storage, 0), [
				[1, 0, 0, null],
				[2, 0, 0, null],
			]);
			const due = (afterMs: number) => (START + afterMs) * 1_000;
			await storage.recordFailedDeliveries([
				{
					...one,
					takenUntil: 0,
					nextAttemptAt: due(5_000),
					error: "host down",
				},
				{
					...three,
					takenUntil: 0,
					nextAttemptAt: due(9_000),
					error: "timeout",
				},
			]);
			const ns = async () =>
				(await pending(storage)).map(({ entry }) => entry?.n);
			assert.deepEqual(await ns(), [2]);
			mock.timers.tick(4_999);
			assert.deepEqual(await ns(), [2]);
			mock.timers.tick(1);
			assert.deepEqual(await ns(), [1, 2]);
			await storage.recordFailedDeliveries([
				{
					...one,
					takenUntil: due(5_000),
					nextAttemptAt: due(8_000),
					error: "still down",
				},
				{ ...two, takenUntil: 0, nextAttemptAt: due(7_000), error: "down" },
			]);
			assert.deepEqual(await state(storage, 0), [
				[1, 2, due(8_000), "still down"],
				[2, 1, due(7_000), "down"],
			]);
			assert.deepEqual(await state(storage, 1), [
				[3, 1, due(9_000), "timeout"],
			]);
			mock.timers.tick(60_000);
			// In order of their next attempt: the second of shard 0 comes first.
			assert.deepEqual(
				(await pending(storage, { limit: 10 }))
					.filter(({ shard }) => shard === 0)
					.map(({ entry }) => entry?.n),
				[1, 2],
			);
			const order = await storage.pendingEntries({ olderThanMs: 0, limit: 1 });
			assert.equal(order.find(({ shard }) => shard === 0)?.entry?.n, 2);
			await storage.deleteOutboxEntries([one, two, three]);
			await storage.recordFailedDeliveries([
				{
					...one,
					takenUntil: 0,
					nextAttemptAt: 0,
					error: "of an entry that is gone",
				},
			]);
			assert.deepEqual(await ns(), []);
		});
	});

	test("a delivery that gives its entry back keeps the error and counts no attempt", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys: OutboxKey[] = [];
		for (const n of [1, 2]) keys.push(await enqueue(storage, 0, { n }));
		const [one, two] = keys as [OutboxKey, OutboxKey];
		const givenBack = (key: OutboxKey, takenUntil: number) => ({
			...key,
			takenUntil,
			nextAttemptAt: takenUntil + 1,
			error: "no way to the host",
			isGivenBack: true,
		});
		await storage.recordFailedDeliveries([
			givenBack(one, 0),
			{ ...two, takenUntil: 0, nextAttemptAt: 1, error: "failed" },
		]);
		assert.deepEqual(await state(storage, 0), [
			[1, 0, 1, "no way to the host"],
			[2, 1, 1, "failed"],
		]);
		await storage.recordFailedDeliveries([
			givenBack(one, 1),
			givenBack(two, 1),
		]);
		assert.deepEqual(await state(storage, 0), [
			[1, 0, 2, "no way to the host"],
			[2, 1, 2, "no way to the host"],
		]);
	});

	test("taken entries are not pending until their time, and are taken by one of many at once", async () => {
		await using opened = await open();
		const { storage } = opened;
		await atTime(START, async () => {
			for (const n of [1, 2, 3]) await enqueue(storage, 0, { n });
			await enqueue(storage, 1, { n: 4 });
			const query = { olderThanMs: 0, limit: 10 };
			const read = await storage.pendingEntries(query);
			const until = (n: number) => (START + 5_000) * 1_000 + n;
			const takes = await Promise.all(
				[0, 1, 2, 3].map((n) => storage.takeEntries(read, until(n))),
			);
			const keys = (rows: readonly OutboxKey[]) =>
				rows.map(({ shard, local }) => `${shard} ${local}`).toSorted();
			assert.deepEqual(keys(takes.flat()), keys(read));
			assert.deepEqual(await pending(storage), []);
			assert.deepEqual(await storage.takeEntries(read, until(9)), []);
			mock.timers.tick(5_001);
			const expired = await storage.pendingEntries(query);
			assert.deepEqual(keys(expired), keys(read));
			const [some, rest] = [expired.slice(0, 2), expired.slice(2)];
			const later = (START + 20_000) * 1_000;
			assert.deepEqual(
				keys(await storage.takeEntries(some, later)),
				keys(some),
			);
			assert.deepEqual(
				keys(await storage.takeEntries(expired, later + 1)),
				keys(rest),
				"of those read together, the ones that nobody took since",
			);
			assert.deepEqual(
				await storage.takeEntries(
					[{ ...(read[0] as PendingEntry), local: 99 }],
					1,
				),
				[],
			);
		});
	});

	test("a failed delivery leaves an entry that another process took since, and may reduce the entry to what is left of it", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys: OutboxKey[] = [];
		for (const n of [1, 2, 3]) {
			keys.push(await enqueue(storage, 0, { n, delivered: "ä'\\" }));
		}
		const [one, two, three] = keys as [OutboxKey, OutboxKey, OutboxKey];
		await storage.takeEntries([{ ...three, nextAttemptAt: 0 }], 77);
		await storage.recordFailedDeliveries([
			{ ...one, takenUntil: 0, nextAttemptAt: 5, error: "some" },
			{
				...two,
				takenUntil: 0,
				nextAttemptAt: 6,
				error: "part",
				remaining: { n: 2, left: "ö'\\" },
			},
			{
				...three,
				takenUntil: 0,
				nextAttemptAt: 7,
				error: "late",
				remaining: {},
			},
		]);
		assert.deepEqual(await state(storage, 0), [
			[1, 1, 5, "some"],
			[2, 1, 6, "part"],
			[3, 0, 77, null],
		]);
		assert.deepEqual(
			(await collect(storage.walk("outbox", 0))).map(({ entry }) => entry),
			[
				{ n: 1, delivered: "ä'\\" },
				{ n: 2, left: "ö'\\" },
				{ n: 3, delivered: "ä'\\" },
			],
		);
	});

	test("taking entries takes one statement per outbox, and a second one where some were taken before", async () => {
		await using opened = await open();
		const { storage } = opened;
		for (let n = 0; n < 10; n += 1) await enqueue(storage, 1, { n });
		const read = await storage.pendingEntries({ olderThanMs: 0, limit: 10 });
		const statements = async (until: number, of = read) =>
			(
				await publishedDuring(STORAGE_CHANNELS.statement, () =>
					storage.takeEntries(of, until),
				)
			).length;
		assert.equal(await statements(7, read.slice(3)), 1);
		assert.ok((await statements(8)) <= 2);
		assert.equal(await statements(9), 1);
	});

	test("entries postponed at the front of a shard do not hide the ones behind them", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys: OutboxKey[] = [];
		for (let n = 0; n < 5; n += 1) {
			keys.push(await enqueue(storage, 0, { n }));
		}
		await storage.recordFailedDeliveries(
			keys.slice(0, 4).map((key) => ({
				...key,
				takenUntil: 0,
				nextAttemptAt: (Date.now() + 60_000) * 1_000,
				error: "down",
			})),
		);
		assert.deepEqual(
			(await pending(storage, { limit: 2 })).map(({ entry }) => entry?.n),
			[4],
		);
	});

	test("an entry whose text is not a JSON object is returned without content, and the others of its shard are read", async () => {
		await using opened = await open();
		const { storage } = opened;
		const texts = ["{", "", "[1]", "null", '"text"', "12", "not JSON"];
		for (const text of texts) {
			await enqueue(storage, 0, { n: 1 });
			const { local } = await enqueue(storage, 0, {});
			await opened.change(
				0,
				`UPDATE outbox SET entry = '${text}' WHERE local_id = ${local}`,
			);
		}
		const expected = texts.flatMap(() => [1, null]);
		const contents = (rows: readonly PendingEntry[]) =>
			rows
				.toSorted((a, b) => a.local - b.local)
				.map(({ entry }) => (entry === null ? null : entry.n));
		const query = { olderThanMs: 0, limit: 100 };
		assert.deepEqual(contents(await storage.pendingEntries(query)), expected);
		const walked = await collect(storage.walk("outbox", 0));
		assert.deepEqual(contents(walked), expected);
		await storage.recordFailedDeliveries(
			walked.map((row) => ({
				...row,
				takenUntil: 0,
				nextAttemptAt: 1,
				error: "unreadable",
			})),
		);
		await storage.deleteOutboxEntries(walked);
		assert.deepEqual(await pending(storage), []);
	});

	test("a stored delivery error is truncated to 255 whole characters", async () => {
		await using opened = await open();
		const { storage } = opened;
		const key = await enqueue(storage, 0, {});
		await storage.recordFailedDeliveries([
			{ ...key, takenUntil: 0, nextAttemptAt: 0, error: "😀".repeat(300) },
		]);
		const [row] = await collect(storage.walk("outbox", 0));
		assert.equal(row?.lastError, "😀".repeat(255));
	});

	test("failed deliveries of an outbox are recorded by one statement", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys: OutboxKey[] = [];
		for (let n = 0; n < 10; n += 1) {
			keys.push(await enqueue(storage, 1, { n }));
		}
		const statements = await publishedDuring(STORAGE_CHANNELS.statement, () =>
			storage.recordFailedDeliveries(
				keys.map((key) => ({
					...key,
					takenUntil: 0,
					nextAttemptAt: 1,
					error: "down",
				})),
			),
		);
		assert.equal(statements.length, 1);
		const [{ rows }] = statements as unknown as [Statement];
		assert.equal(rows, 10);
	});

	test("walking an outbox returns every entry once, also those that are not due", async () => {
		await using opened = await open();
		const { storage } = opened;
		await storage.transact({
			shard: 0,
			creates: Array.from({ length: 3 }, () => ({ type: "Pin", data: {} })),
			decide: () => ({ result: null }),
		});
		const keys: OutboxKey[] = [];
		for (let n = 0; n < 1_003; n += 100) {
			keys.push(
				...(await Promise.all(
					Array.from({ length: Math.min(100, 1_003 - n) }, (_, at) =>
						enqueue(storage, 0, { n: n + at }),
					),
				)),
			);
		}
		await storage.recordFailedDeliveries(
			keys.slice(0, 10).map((key) => ({
				...key,
				takenUntil: 0,
				nextAttemptAt: (Date.now() + 60_000) * 1_000,
				error: "down",
			})),
		);
		const batches = await batchesOf(storage.walk("outbox", 0));
		assert.deepEqual(
			batches.map(({ length }) => length),
			[1_000, 3],
		);
		assert.deepEqual(
			new Set(batches.flat().map(({ entry }) => entry?.n)),
			new Set(keys.map((_, n) => n)),
		);
		assert.deepEqual(await collect(storage.walk("outbox", 1)), []);
	});

	test("a shard that does not answer keeps its entries, and the other shards' are still read and deleted", async () => {
		await using opened = await open({ dead: [0] });
		const { storage } = opened;
		const one = await enqueue(storage, 1, { n: 1 });
		const two = await enqueue(storage, 1, { n: 2 });
		assert.deepEqual(await pending(storage, { limit: 1 }), [
			{ ...one, entry: { n: 1 } },
		]);
		await assert.rejects(
			storage.deleteOutboxEntries([{ shard: 0, local: 1 }, one]),
			{ code: "UNAVAILABLE" },
		);
		await assert.rejects(
			storage.recordFailedDeliveries([
				{ shard: 0, local: 1, takenUntil: 0, nextAttemptAt: 1, error: "down" },
				{ ...two, takenUntil: 0, nextAttemptAt: 1, error: "down" },
			]),
			{ code: "UNAVAILABLE" },
		);
		assert.deepEqual(await state(storage, 1), [[2, 1, 1, "down"]]);
		const taken = await storage.takeEntries(
			[
				{ shard: 0, local: 1, nextAttemptAt: 0 },
				{ ...two, nextAttemptAt: 1 },
			],
			9,
		);
		assert.deepEqual(taken, [two]);
	});

	test("deleting many entries takes one call and one statement per outbox", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys: OutboxKey[] = [];
		for (let n = 0; n < 10; n += 1) {
			keys.push(await enqueue(storage, 1, { n }));
		}
		assert.deepEqual(
			await publishedDuring(STORAGE_CHANNELS.storage, async () => {
				const statements = await publishedDuring(
					STORAGE_CHANNELS.statement,
					() => storage.deleteOutboxEntries(keys),
				);
				assert.equal(statements.length, 1);
			}),
			[{ verb: "deleteOutboxEntries", keys: 10 }],
		);
	});
}

/** Whether shards 0 and 1 have one outbox: they are on one host, and not embedded. */
function isShared({ map }: Storage): boolean {
	return map.outboxes.some(({ shards }) => shards.length > 1);
}

async function enqueue(
	storage: Storage,
	shard: number,
	entry: JsonObject,
): Promise<OutboxKey> {
	const { outboxKey } = await storage.transact({
		shard,
		decide: () => ({ result: null, outboxEntry: entry }),
	});
	assert.ok(outboxKey !== null);
	return outboxKey;
}

/** Pending entries without the state of their delivery. */
async function pending(
	storage: Storage,
	query: Partial<PendingEntriesQuery> = {},
) {
	const rows = await storage.pendingEntries({
		olderThanMs: 0,
		limit: 10,
		...query,
	});
	return rows.map(({ shard, local, entry }) => ({ shard, local, entry }));
}

/** `n`, attempts, next attempt and last error of all of a shard's entries. */
async function state(storage: Storage, shard: number) {
	return (await collect(storage.walk("outbox", shard))).map(
		({ entry, attempts, nextAttemptAt, lastError }) => [
			entry?.n,
			attempts,
			nextAttemptAt,
			lastError,
		],
	);
}

async function atTime(ms: number, body: () => Promise<void>): Promise<void> {
	mock.timers.enable({ apis: ["Date"], now: ms });
	try {
		await body();
	} finally {
		mock.timers.reset();
	}
}
