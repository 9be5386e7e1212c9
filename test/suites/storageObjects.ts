import assert from "node:assert/strict";
import { test } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { packId, unpackId } from "../../src/id/ids.ts";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import type { Statement } from "../../src/trace.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { board, pin, user } from "../helpers/storageModel.ts";
import { codes, create } from "../helpers/storing.ts";

export function objectTests(open: OpenStorage): void {
	test("objects are returned as JSON text in the order of the ids, repeated for a repeated id", async () => {
		await using opened = await open();
		const { storage } = opened;
		const [one, two] = await create(storage, 0, "Pin", { n: 1 }, { n: 2 });
		const [far] = await create(storage, 3, "User", { name: "Ada" });
		assert.deepEqual(
			await storage.read(
				"objects",
				[far, two, one, two].map((id) => id ?? pin(0)),
			),
			['{"name":"Ada"}', '{"n":2}', '{"n":1}', '{"n":2}'],
		);
	});

	test("local ids start at 1 for each type and shard", async () => {
		await using opened = await open();
		const { storage } = opened;
		assert.deepEqual(
			[
				...(await create(storage, 2, "Pin", {}, {})),
				...(await create(storage, 2, "User", {})),
				...(await create(storage, 1, "Pin", {})),
			].map(unpackId),
			[
				{ shard: 2, type: 1, local: 1 },
				{ shard: 2, type: 1, local: 2 },
				{ shard: 2, type: 3, local: 1 },
				{ shard: 1, type: 1, local: 1 },
			],
		);
	});

	test("an object can be created under the id that it had, and no other row gets that id", async () => {
		await using opened = await open();
		const { storage } = opened;
		const made = await storage.transact({
			shard: 1,
			objects: [pin(7, 1), pin(9, 1)],
			creates: [
				{ type: "Pin", data: { n: 7 }, local: 7 },
				{ type: "User", data: { name: "Ada" } },
				{ type: "Pin", data: { n: 9 }, local: 9 },
			],
			decide: ({ created }) => ({ result: created }),
		});
		assert.deepEqual(made.result.map(unpackId), [
			{ shard: 1, type: 1, local: 7 },
			{ shard: 1, type: 3, local: 1 },
			{ shard: 1, type: 1, local: 9 },
		]);
		assert.deepEqual(await storage.read("objects", made.result), [
			'{"n":7}',
			'{"name":"Ada"}',
			'{"n":9}',
		]);
		const again = storage.transact({
			shard: 1,
			creates: [{ type: "Pin", data: { n: 8 }, local: 9 }],
			decide: () => ({ result: null }),
		});
		await assert.rejects(again);
		assert.deepEqual((await create(storage, 1, "Pin", {})).map(unpackId), [
			{ shard: 1, type: 1, local: 10 },
		]);
	});

	test("a missing row, an unknown type, an unknown shard and local id 0 are null", async () => {
		await using opened = await open();
		const { storage } = opened;
		await create(storage, 0, "Pin", {});
		assert.deepEqual(
			await storage.read("objects", [
				pin(2),
				board(1),
				packId({ shard: 0, type: 777, local: 1 }),
				pin(1, 4),
				pin(1, 65_535),
				pin(0),
				pin(2 ** 36 - 1),
				pin(1),
			]),
			[null, null, null, null, null, null, null, "{}"],
		);
	});

	test("no keys return no results", async () => {
		await using opened = await open();
		const { storage } = opened;
		assert.deepEqual(
			[
				await storage.read("objects", []),
				await storage.read("lists", []),
				await storage.read("edges", []),
				await storage.read("lookups", []),
				await storage.compareAndSetLookups([]),
			],
			[[], [], [], [], []],
		);
	});

	test("text comes back exactly as it was stored", async () => {
		await using opened = await open();
		const { storage } = opened;
		const data = {
			text: "Grüße, 世界 🌍 \u0000 \ud800 ' \" ` ; -- \\ \n %s ?",
			big: "241294492511762325",
			deep: [{ a: null, b: [true, 1.5, -0.25] }],
		};
		const [id = pin(0)] = await create(storage, 0, "Pin", data);
		const [text] = await storage.read("objects", [id]);
		assert.equal(text, JSON.stringify(data));
		const { result } = await storage.transact({
			shard: 0,
			objects: [id],
			decide: ({ objects: [read] }) => ({ result: read }),
		});
		assert.deepEqual(result, data);
	});

	test("a shard that does not answer makes only its own keys UNAVAILABLE", async () => {
		await using opened = await open({ dead: [1] });
		const { storage } = opened;
		await create(storage, 0, "Pin", { n: 0 });
		await create(storage, 2, "Pin", { n: 2 });
		assert.deepEqual(
			codes(
				await storage.read("objects", [
					pin(1, 1),
					pin(1),
					user(1, 1),
					pin(1, 2),
				]),
			),
			["UNAVAILABLE", '{"n":0}', "UNAVAILABLE", '{"n":2}'],
		);
	});

	test("an error message for clients names the shard and nothing else", async () => {
		await using opened = await open({ dead: [1] });
		const [answer] = await opened.storage.read("objects", [pin(1, 1)]);
		assert.ok(answer instanceof Error);
		assert.equal(answer.message, "Shard 1 does not answer at the moment.");
	});

	test("an error of a host carries the same kind of failure on every driver", async () => {
		await using opened = await open({ dead: [1] });
		const [error] = await opened.storage.read("objects", [pin(1, 1)]);
		assert.ok(error instanceof CorkboardError);
		const { kind, shard, host, statement } = error.details;
		assert.equal(kind, "connectionLost");
		assert.equal(shard, 1);
		assert.equal(typeof host, "string");
		assert.equal(typeof statement, "string");
		assert.equal((error.cause as Error).name, "StorageFailure");
	});

	test("many objects of one type are read by one call with one statement per host", async () => {
		await using opened = await open();
		const { storage } = opened;
		for (const shard of [0, 1, 2]) {
			await create(
				storage,
				shard,
				"Pin",
				...Array.from({ length: 50 }, () => ({})),
			);
		}
		const ids = [0, 1, 2].flatMap((shard) =>
			Array.from({ length: 50 }, (_, index) => pin(index + 1, shard)),
		);
		const traced: Statement[] = [];
		let statements: readonly Statement[] = [];
		const calls = await publishedDuring(STORAGE_CHANNELS.storage, async () => {
			statements = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				() =>
					storage.read("objects", ids, {
						trace: {
							statement: (statement) => traced.push(statement),
							cache: () => assert.fail("storage has no cache"),
							hiddenEdges: () => assert.fail("storage hides nothing"),
							startWrite: () => assert.fail("it only read"),
						},
					}),
			);
		});
		assert.deepEqual(calls, [{ verb: "readObjects", keys: 150 }]);
		const hosts = Map.groupBy([0, 1, 2], (shard) => storage.map.hostOf(shard));
		assert.deepEqual(
			statements.map(({ name, shard, host, rows }) => ({
				name,
				shard,
				host,
				rows,
			})),
			[...hosts].map(([host, [shard, ...more]]) => ({
				name: "objects pins",
				shard,
				host,
				rows: 50 * (1 + more.length),
			})),
		);
		assert.ok(statements.every(({ ms }) => ms >= 0 && ms < 60_000));
		assert.deepEqual(traced, statements);
	});

	test("an aborted call sends no further statement", async () => {
		await using opened = await open();
		const { storage } = opened;
		const call = { signal: AbortSignal.abort(new Error("gone")) };
		const calls = await publishedDuring(STORAGE_CHANNELS.storage, async () => {
			await assert.rejects(
				storage.read("objects", [pin(1)], call),
				/^Error: gone$/,
			);
			await assert.rejects(storage.read("lists", [], call), /^Error: gone$/);
			await assert.rejects(storage.read("edges", [], call), /^Error: gone$/);
			await assert.rejects(storage.read("lookups", [], call), /^Error: gone$/);
		});
		assert.deepEqual(calls, []);
	});

	test("shards, open shards, mod shards and hosts come from the topology", async () => {
		await using opened = await open();
		const { storage } = opened;
		assert.deepEqual(storage.map.shards, [0, 1, 2, 3]);
		assert.deepEqual(storage.map.openShards, [0, 1]);
		assert.equal(storage.map.modShards, 4);
		assert.notEqual(storage.map.hostOf(3), null);
		assert.equal(storage.map.hostOf(4), null);
	});

	test("createTables can be repeated, reports each shard and loses nothing", async () => {
		await using opened = await open();
		const { storage } = opened;
		await create(storage, 0, "Pin", { kept: true });
		const progress: string[] = [];
		await storage.admin.createTables((done, total) =>
			progress.push(`${done}/${total}`),
		);
		assert.deepEqual(progress, [
			"1/8",
			"2/8",
			"3/8",
			"4/8",
			"5/8",
			"6/8",
			"7/8",
			"8/8",
		]);
		assert.deepEqual(await storage.read("objects", [pin(1)]), [
			'{"kept":true}',
		]);
		assert.deepEqual(await create(storage, 0, "Pin", {}), [pin(2)]);
	});

	test("the last local id of 36 bits is used, and none beyond it", async () => {
		await using opened = await open({ full: [2] });
		const { storage } = opened;
		assert.deepEqual(await create(storage, 2, "Pin", { last: true }), [
			pin(2 ** 36 - 1, 2),
		]);
		await assert.rejects(create(storage, 2, "Pin", {}), {
			code: "INTERNAL",
			message:
				"Shard 2 is full: the next local id of pins is 68719476736, the largest possible one 68719476735.",
		});
		assert.deepEqual(await storage.read("objects", [pin(2 ** 36 - 1, 2)]), [
			'{"last":true}',
		]);
	});
}
