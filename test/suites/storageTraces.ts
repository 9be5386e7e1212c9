import assert from "node:assert/strict";
import { test } from "node:test";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import { PRESENT } from "../../src/storage/rows.ts";
import type { Statement } from "../../src/trace.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { MAPPINGS, pin, user } from "../helpers/storageModel.ts";
import { create, good } from "../helpers/storing.ts";
import { recordWriteTrace } from "../helpers/writeTrace.ts";

/** A write's trace gets every statement of that write and none of other writes. */
export function traceTests(open: OpenStorage): void {
	test("a transaction reports its statements to its own trace, with shard and host", async () => {
		await using opened = await open();
		const { storage } = opened;
		const key = { mapping: MAPPINGS.likePin, from: user(1, 2) };
		const trace = recordWriteTrace();
		const sent = await publishedDuring<Statement>(
			STORAGE_CHANNELS.statement,
			() =>
				storage.transact(
					{
						shard: 2,
						lists: [key],
						edges: [{ ...key, to: pin(1) }],
						decide: () => ({
							result: null,
							edges: [
								{
									...key,
									to: pin(1),
									sequence: 1,
									state: PRESENT,
									version: 1,
								},
							],
							outboxEntry: { n: 1 },
						}),
					},
					trace,
				),
		);
		assert.deepEqual(trace.statements, sent);
		const names = sent.map(({ name }) => name);
		assert.ok(names.includes("insert outbox"), names.join());
		assert.equal(names.at(-1), "commit");
		for (const { shard, host } of sent) {
			assert.deepEqual([shard, host], [2, storage.map.hostOf(2)]);
		}
		assert.deepEqual(trace.retries, []);
		assert.ok(trace.others.every((others) => others === 0));

		await create(storage, 2, "Pin", {});
		assert.equal(
			trace.statements.length,
			sent.length,
			"the trace of another write",
		);
	});

	test("a transaction that throws reports the statements it sent before", async () => {
		await using opened = await open();
		const trace = recordWriteTrace();
		await assert.rejects(
			opened.storage.transact(
				{
					shard: 0,
					creates: [{ type: "Pin", data: {} }],
					decide: () => {
						throw new RangeError("no");
					},
				},
				trace,
			),
			RangeError,
		);
		assert.equal(trace.statements.at(-1)?.name, "rollback");
		assert.deepEqual(trace.retries, []);
	});

	test("changes of lookups and deleted outbox entries are traced like transactions", async () => {
		await using opened = await open();
		const { storage } = opened;
		const names = recordWriteTrace();
		const changed = await publishedDuring<Statement>(
			STORAGE_CHANNELS.statement,
			async () => {
				const [row] = await storage.compareAndSetLookups(
					[
						{
							name: "username",
							key: "ada",
							expect: null,
							next: { id: user(1), token: "n" },
						},
					],
					names,
				);
				assert.equal(good(row)?.token, "n");
			},
		);
		assert.deepEqual(names.statements, changed);
		assert.ok(changed.some(({ name }) => name === "insert lookup"));

		const { outboxKey } = await storage.transact({
			shard: 1,
			decide: () => ({ result: null, outboxEntry: { n: 1 } }),
		});
		assert.ok(outboxKey);
		const deletes = recordWriteTrace();
		const sent = await publishedDuring<Statement>(
			STORAGE_CHANNELS.statement,
			() => storage.deleteOutboxEntries([outboxKey], deletes),
		);
		assert.deepEqual(deletes.statements, sent);
		assert.deepEqual(
			sent.map(({ name, shard, rows }) => [name, shard, rows]),
			[["delete outbox", 1, 1]],
		);
	});
}
