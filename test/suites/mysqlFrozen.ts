import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import type { Id } from "../../src/id/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { type FrozenLike, startFrozenWriter } from "../helpers/frozenWriter.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { board, MAPPINGS, pin, user } from "../helpers/storageModel.ts";
import { create, listOf, toggle } from "../helpers/storing.ts";
import { untilWritten } from "../helpers/untilWritten.ts";
import type { Server } from "../services/server.ts";

const { likedBy } = MAPPINGS;

/** Locks of a process that was stopped (SIGSTOP) in a transaction, on MySQL and MariaDB. */
export function mysqlFrozenSuite(
	name: string,
	server: Server,
	open: OpenStorage,
): void {
	const frozenLike = (like: Partial<FrozenLike> = {}) =>
		startFrozenWriter({
			url: server.url,
			limits: {},
			from: pin(1),
			to: user(1),
			...like,
		});

	describe(`a process frozen in a transaction on ${name}`, () => {
		test("keeps its row lock for seconds only, and reports after it continues that nothing was written", async () => {
			await using opened = await open();
			const writeMs = 6_000;
			await using frozen = await frozenLike({
				limits: { silenceMs: 2_000, writeMs },
			});
			// Then no time is left to repeat the transaction.
			const overtime = setTimeout(writeMs);
			await untilWritten(() =>
				toggle(opened.storage, likedBy, pin(1), user(2), true),
			);
			await overtime;
			assert.match(await frozen.thaw(), /^UNAVAILABLE (?!unknownOutcome)/);
			const { count, tos } = await listOf(opened.storage, likedBy, pin(1));
			assert.deepEqual([count, tos], [1, [user(2)]]);
		});

		test("repeats the transaction on another connection after it continues, if there is time, and writes once", async () => {
			await using opened = await open();
			await using frozen = await frozenLike({
				limits: { silenceMs: 1_000, writeMs: 120_000 },
			});
			await untilWritten(() =>
				toggle(opened.storage, likedBy, pin(1), user(2), true),
			);
			assert.equal(await frozen.thaw(), "done");
			const { count, tos } = await listOf(opened.storage, likedBy, pin(1));
			assert.deepEqual([count, tos], [2, [user(1), user(2)]]);
		});
	});

	describe(`a row that another process keeps locked on ${name}`, () => {
		/** Runs `body` while another connection holds the lock. */
		async function whileLocked(sql: string, body: () => Promise<unknown>) {
			const other = await createConnection({ uri: server.url });
			try {
				// As Corkboard locks: no gaps between rows.
				await other.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
				await other.query("BEGIN");
				await other.query(sql);
				await body();
			} finally {
				other.destroy();
			}
		}

		for (const [row, sql, write] of [
			[
				"list",
				`SELECT * FROM db00000.lists WHERE from_id = ${pin(1)} FOR UPDATE`,
				(storage: Storage, n: number) =>
					toggle(storage, likedBy, pin(1), user(n), true),
			],
			[
				"object",
				"SELECT * FROM db00000.boards WHERE local_id = 1 FOR UPDATE",
				(storage: Storage, n: number) => update(storage, board(1), { n }),
			],
		] as const) {
			test(`takes one connection of a process with 200 writes to that ${row}: others are written meanwhile`, async () => {
				await using opened = await open();
				const { storage } = opened;
				await create(storage, 0, "Board", {}, {});
				await toggle(storage, likedBy, pin(1), user(1), true);
				let waiting: Promise<PromiseSettledResult<unknown>[]> | undefined;
				await whileLocked(sql, async () => {
					waiting = Promise.allSettled(
						Array.from({ length: 200 }, (_, n) => write(storage, n + 2)),
					);
					await toggle(storage, likedBy, pin(2), user(1), true);
					await update(storage, board(2), { n: 1 });
				});
				const results = (await waiting) ?? [];
				assert.deepEqual(
					results.filter(({ status }) => status === "rejected"),
					[],
					"they succeed when the lock is free",
				);
			});
		}
	});
}

async function update(
	storage: Storage,
	id: Id,
	data: JsonObject,
): Promise<void> {
	await storage.transact({
		shard: 0,
		objects: [id],
		decide: () => ({ result: null, objects: [{ id, data }] }),
	});
}
