import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { CHANNELS } from "../../src/diagnostics.ts";
import type { OutboxKey, Storage } from "../../src/storage/storage.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { pin } from "../helpers/storageModel.ts";
import type { OpenStorage } from "./storage.ts";

export function outboxTests(open: OpenStorage): void {
	test("a debt is owed until it is settled", async () => {
		await using opened = await open();
		const { storage } = opened;
		const one = await owe(storage, 3, { what: "one", id: pin(1) });
		const two = await owe(storage, 0, { what: "two" });
		assert.deepEqual(
			new Set(await storage.pendingEntries(0, 10)),
			new Set([
				{ ...one, debt: { what: "one", id: pin(1) } },
				{ ...two, debt: { what: "two" } },
			]),
		);
		await storage.deleteOutboxEntries([one]);
		assert.deepEqual(await storage.pendingEntries(0, 10), [
			{ ...two, debt: { what: "two" } },
		]);
		// Settling twice is no error.
		await storage.deleteOutboxEntries([one, two]);
		assert.deepEqual(await storage.pendingEntries(0, 10), []);
	});

	test("a transaction that owes nothing answers no debt", async () => {
		await using opened = await open();
		const { outboxKey: debt } = await opened.storage.transact({
			shard: 0,
			decide: () => ({ result: null }),
		});
		assert.equal(debt, null);
	});

	test("the debt's key is never given again", async () => {
		await using opened = await open();
		const { storage } = opened;
		const one = await owe(storage, 0, {});
		await storage.deleteOutboxEntries([one]);
		assert.deepEqual(await owe(storage, 0, {}), {
			shard: 0,
			local: one.local + 1,
		});
	});

	test("debts come oldest first over all shards, and only those written long enough ago", async () => {
		await using opened = await open();
		const { storage } = opened;
		mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
		try {
			await owe(storage, 2, { at: 0 });
			mock.timers.tick(1_000);
			await owe(storage, 1, { at: 1 });
			mock.timers.tick(1_000);
			await owe(storage, 2, { at: 2 });
			const at = async (olderThanMs: number) =>
				(await storage.pendingEntries(olderThanMs, 10)).map(
					({ entry: debt }) => debt.at,
				);
			assert.deepEqual(await at(0), [0, 1, 2]);
			assert.deepEqual(await at(1), [0, 1]);
			assert.deepEqual(await at(1_000), [0, 1]);
			assert.deepEqual(await at(1_001), [0]);
			assert.deepEqual(await at(2_001), []);
		} finally {
			mock.timers.reset();
		}
	});

	test("at most the limit comes from each shard", async () => {
		await using opened = await open();
		const { storage } = opened;
		for (const n of [1, 2, 3]) {
			await owe(storage, 0, { n });
			await owe(storage, 1, { n });
		}
		assert.deepEqual(
			(await storage.pendingEntries(0, 2))
				.map(({ shard, entry: debt }) => [shard, debt.n])
				.sort(),
			[
				[0, 1],
				[0, 2],
				[1, 1],
				[1, 2],
			],
		);
	});

	test("a shard that does not answer keeps its debts, and the others' are still seen and settled", async () => {
		await using opened = await open({ dead: [0] });
		const { storage } = opened;
		const one = await owe(storage, 1, { n: 1 });
		const two = await owe(storage, 1, { n: 2 });
		assert.deepEqual(await storage.pendingEntries(0, 1), [
			{ ...one, debt: { n: 1 } },
		]);
		await assert.rejects(
			storage.deleteOutboxEntries([{ shard: 0, local: 1 }, one]),
			{
				code: "UNAVAILABLE",
			},
		);
		assert.deepEqual(await storage.pendingEntries(0, 9), [
			{ ...two, debt: { n: 2 } },
		]);
	});

	test("settling many debts is one call and one statement a shard", async () => {
		await using opened = await open();
		const { storage } = opened;
		const debts: OutboxKey[] = [];
		for (let n = 0; n < 10; n += 1) debts.push(await owe(storage, 1, { n }));
		assert.deepEqual(
			await publishedDuring(CHANNELS.storage, async () => {
				const statements = await publishedDuring(CHANNELS.statement, () =>
					storage.deleteOutboxEntries(debts),
				);
				assert.equal(statements.length, 1);
			}),
			[{ verb: "settle", keys: 10 }],
		);
	});
}

async function owe(
	storage: Storage,
	shard: number,
	debt: JsonObject,
): Promise<OutboxKey> {
	const { outboxKey: key } = await storage.transact({
		shard,
		decide: () => ({ result: null, outboxEntry: debt }),
	});
	assert.ok(key !== null);
	return key;
}
