import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { newLocalId } from "../../src/queue/jobId.ts";
import { createQueueTables } from "../../src/queue/sqlite/ddl.ts";
import { tablesOf } from "../../src/queue/sqlite/dialect.ts";
import { openSqliteJobStore } from "../../src/queue/sqlite/sqliteJobStore.ts";
import { renewClaims, succeedJobs } from "../../src/queue/statements/claims.ts";
import { ShardFile } from "../../src/storage/sqlite/driver/shardFile.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { jobStoreSuite } from "../suites/jobStore.ts";

describe("a job of a worker that died while the clock was hours ahead", () => {
	it("is free as soon as the folder has another owner", async () => {
		using folder = temporaryFolder();
		const at = { queue: "work", shard: 0 };
		const queues = [
			{ range: [0, 0] as const, primary: `sqlite:${folder.path}` },
		];
		const local = newLocalId();
		const hourUs = 3_600_000_000;
		const claim = {
			priority: 2 as const,
			bucket: 0,
			floor: 0,
			limit: 1,
			claim: 7,
			claimMs: 60_000,
		};
		{
			await using ahead = openSqliteJobStore({
				queues,
				now: () => Date.now() * 1_000 + 5 * hourUs,
			});
			await ahead.createTables();
			await ahead.put(0, { name: "work", settings: {}, version: 1 });
			await ahead.enqueue(at, [
				{
					local,
					bucket: 0,
					priority: 2,
					due: 0,
					allowed: 3,
					createdAt: 0,
					key: null,
					body: "{}",
				},
			]);
			const { claimed } = await ahead.ackAndClaim(at, { claim });
			assert.equal(claimed.length, 1);
			// It is not free while its worker may live.
			assert.deepEqual(await ahead.hasExpired([{ at }]), [false]);
		}
		await using store = openSqliteJobStore({ queues });
		assert.deepEqual(await store.hasExpired([{ at }]), [false]);
		await store.endFormerClaims();
		assert.deepEqual(await store.hasExpired([{ at }]), [true]);
		await store.expire(at, { limit: 10, delayMs: () => 0 });
		const [job] = await store.find(at, [{ local, bucket: 0 }]);
		assert.equal(job?.state, "pending");
		const { claimed } = await store.ackAndClaim(at, { claim });
		assert.equal(claimed.length, 1);
		assert.deepEqual(await store.hasExpired([{ at }]), [false]);
	});
});

describe("a job that runs in an embedded folder", () => {
	it("stays its worker's beside commands and the thread that renews claims, which write there too", async () => {
		using folder = temporaryFolder();
		const at = { queue: "work", shard: 0 };
		const queues = [
			{ range: [0, 0] as const, primary: `sqlite:${folder.path}` },
		];
		await using owner = openSqliteJobStore({ queues });
		await owner.createTables();
		await owner.put(0, { name: "work", settings: {}, version: 1 });
		const job = () => ({
			local: newLocalId(),
			bucket: 0,
			priority: 2 as const,
			due: 0,
			allowed: 3,
			createdAt: 0,
			key: null,
			body: "{}",
		});
		await owner.enqueue(at, [job()]);
		const claim = {
			priority: 2 as const,
			bucket: 0,
			floor: 0,
			limit: 1,
			claim: 7,
			claimMs: 60_000,
		};
		const { claimed } = await owner.ackAndClaim(at, { claim });
		assert.equal(claimed.length, 1);
		await using beside = openSqliteJobStore({ queues });
		await beside.enqueue(at, [job()]);
		assert.deepEqual(await beside.hasExpired([{ at }]), [false]);
		assert.deepEqual(await owner.hasExpired([{ at }]), [false]);
	});
});

it("takes over a folder whose queues have no table of keys: pending jobs keep theirs", async () => {
	using folder = temporaryFolder();
	const at = { queue: "work", shard: 0 };
	const queues = [{ range: [0, 0] as const, primary: `sqlite:${folder.path}` }];
	const withKey = (key: string) => ({
		local: newLocalId(),
		bucket: 0,
		priority: 2 as const,
		due: 0,
		allowed: 3,
		createdAt: 0,
		key,
		body: "{}",
	});
	const first = withKey("one");
	{
		await using former = openSqliteJobStore({ queues });
		await former.createTables();
		await former.put(0, { name: "work", settings: {}, version: 1 });
		await former.enqueue(at, [first]);
	}
	{
		using file = new DatabaseSync(join(folder.path, "queue00000.sqlite"));
		// As a version before 0.1.0 made it.
		file.exec(`DROP TABLE keys_work;
			CREATE UNIQUE INDEX key_work ON jobs_work (unique_key)
				WHERE unique_key IS NOT NULL AND state = 0`);
	}
	await using store = openSqliteJobStore({ queues });
	await store.createTables();
	assert.deepEqual(await store.enqueue(at, [withKey("one")]), [
		{ mergedInto: first.local },
	]);
	const claim = {
		priority: 2 as const,
		bucket: 0,
		floor: 0,
		limit: 1,
		claim: 7,
		claimMs: 60_000,
	};
	const { claimed } = await store.ackAndClaim(at, { claim });
	assert.equal(claimed[0]?.local, first.local);
	assert.deepEqual(await store.enqueue(at, [withKey("one")]), ["added"]);
	assert.deepEqual(
		await store.ackAndClaim(at, {
			acks: [
				{
					local: first.local,
					bucket: 0,
					claim: 7,
					kind: "succeed",
					status: "",
				},
			],
		}),
		{ acked: ["done"], claimed: [] },
	);
});

it("acknowledges and renews jobs on SQLite by their ids, however many others run", () => {
	using database = new DatabaseSync(":memory:");
	for (const { text } of createQueueTables("work")) database.exec(text);
	using file = new ShardFile(
		{ path: ":memory:", host: "queue00000.sqlite", shard: 0 },
		{ readOnly: false },
	);
	const tables = tablesOf(0, file, "work");
	const held = { local: newLocalId(), bucket: 5, claim: 7 };
	for (const write of [
		succeedJobs(tables, [{ ...held, kind: "succeed" }], 9),
		renewClaims(tables, [held], 9),
	]) {
		const plan = database
			.prepare(`EXPLAIN QUERY PLAN ${write.text}`)
			.all(...(write.values as string[]));
		assert.match(String(plan[0]?.detail), /USING PRIMARY KEY \(local_id=\?\)/);
	}
});

await jobStoreSuite("SQLite", async () => {
	const folder = temporaryFolder();
	const primary = `sqlite:${folder.path}`;
	const store = openSqliteJobStore({
		queues: [
			{ range: [0, 0], primary },
			{ range: [1, 1], primary, drain: true },
		],
	});
	return {
		store,
		async empty({ queue, shard }) {
			await store.drop({ queue, shard });
			await store.put(shard, { name: queue, settings: {}, version: 1 });
		},
		another: async () => store,
		async [Symbol.asyncDispose]() {
			await store[Symbol.asyncDispose]();
			folder[Symbol.dispose]();
		},
	};
});
