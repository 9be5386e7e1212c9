import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { bucketOf, HOUR_US } from "../../src/queue/bucket.ts";
import {
	QUEUE_CHANNELS,
	type QueueRotation,
} from "../../src/queue/diagnostics.ts";
import { newClaim, newLocalId } from "../../src/queue/jobId.ts";
import { MAX_JOBS, type NewJob } from "../../src/queue/jobStore.ts";
import {
	decide,
	planRotation,
	ROUND_MS,
	rotate,
	rotateIfDue,
} from "../../src/queue/rotation.ts";
import type {
	Made,
	RotationStore,
	Round,
	Span,
} from "../../src/queue/rotationStore.ts";
import { DEFAULT_SETTINGS } from "../../src/queue/settings.ts";
import { openSqliteJobStore } from "../../src/queue/sqlite/sqliteJobStore.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMysql } from "../services/mysql.ts";
import { queueRotationSuite } from "../suites/queueRotation.ts";

const AT = { queue: "work", shard: 0 };
const NOW = 500_000 * HOUR_US;
const SPAN: Span = {
	bucket: 499_900,
	isSwappedOut: false,
	bytes: 1_000_000,
	rows: 1_000_000,
	isEmpty: false,
	pending: 0,
	running: 0,
	succeeded: 0,
	failed: 0,
};

describe("what becomes of a span", () => {
	const cases: readonly (readonly [string, Partial<Span>])[] = [
		["give back", {}],
		["keep", { bucket: 499_990, pending: 5 }],
		["keep", { bucket: 499_976 }],
		["give back", { bucket: 499_975 }],
		["move on", { pending: 100_000 }],
		["move on", { pending: 1, running: 1, failed: 1, succeeded: 1 }],
		["hold", { pending: 99_000, failed: 1_001 }],
		["hold", { rows: 50, failed: 10_001 }],
		["move on", { rows: 50, failed: 10_000 }],
		["wait", { running: 3 }],
		["empty", { isEmpty: true, bucket: 499_999 }],
		["finish", { isSwappedOut: true, bucket: 499_999, pending: 50_000 }],
	];
	for (const [decision, span] of cases) {
		test(`is to ${decision} one with ${JSON.stringify(span)}`, () => {
			const decided = decide({ ...SPAN, ...span }, NOW, DEFAULT_SETTINGS);
			assert.equal(decided.decision, decision, decided.why);
		});
	}
});

test("a refused change of the table is tried again in 1, 2, 4 … 60 minutes, and reported with its time", async () => {
	let round: Round = {
		now: NOW,
		refusals: 0,
		refusedSince: null,
		changesAt: 0,
	};
	const asked: number[] = [];
	let isRefusing = true;
	let isUnderWay = false;
	const minutes = () => (round.now - NOW) / 60_000_000;
	const made = async (): Promise<Made> => {
		asked.push(minutes());
		if (isUnderWay) return { refused: "another process", isUnderWay };
		return isRefusing ? { refused: "a dump" } : { spans: 0 };
	};
	const store: RotationStore & {
		now(): Promise<number>;
		hostOf(): string;
	} = {
		now: async () => round.now,
		hostOf: () => "host",
		takeRound: async () => round,
		async endRound(_, ended) {
			round = ended;
		},
		spans: async () => [],
		ahead: made,
		moveOn: async () => 0,
		giveBack: async () => ({ refused: "not asked" }),
		dropEmpty: made,
	};
	const refusedForMs: number[] = [];
	const listen = (ended: QueueRotation) => {
		if (ended.kind === "round") refusedForMs.push(ended.refusedForMs);
	};
	QUEUE_CHANNELS.queueRotation.subscribe(listen);
	for (let n = 0; n < 100; n++) {
		await rotateIfDue(store, AT, DEFAULT_SETTINGS);
		round = { ...round, now: round.now + ROUND_MS * 1_000 };
	}
	assert.deepEqual(asked, [0, 3, 9, 21, 45, 93, 153, 213, 273]);
	assert.equal(refusedForMs.at(-1), 99 * ROUND_MS);
	isRefusing = false;
	round = { ...round, changesAt: 0 };
	await rotateIfDue(store, AT, DEFAULT_SETTINGS);
	assert.equal(round.refusedSince, null);
	assert.equal(refusedForMs.at(-1), 0);
	// One that meets a long round of another process was not refused.
	isUnderWay = true;
	await rotateIfDue(store, AT, DEFAULT_SETTINGS);
	QUEUE_CHANNELS.queueRotation.unsubscribe(listen);
	assert.equal(round.refusals, 0);
	assert.equal(refusedForMs.at(-1), 0);
});

test("an SQLite shard whose jobs have finished is no larger than 1.5 times what is left and 1 MiB", async () => {
	using folder = temporaryFolder();
	let now = NOW;
	await using store = openSqliteJobStore({
		queues: [{ range: [0, 1], primary: `sqlite:${folder.path}` }],
		now: () => now,
	});
	await store.createTables();
	for (const shard of store.shards) {
		await store.put(shard, { name: AT.queue, settings: {}, version: 1 });
	}
	const fileOf = (shard: number) =>
		join(folder.path, `queue0000${shard}.sqlite`);
	const body = JSON.stringify("x".repeat(2_000));
	const make = (): NewJob => ({
		local: newLocalId(now / 1_000),
		bucket: bucketOf(now, now),
		priority: 1,
		due: now,
		allowed: 2,
		createdAt: now,
		key: null,
		body,
	});
	/** On shard 1 are only the jobs that are to be left. */
	const run = async (jobs: number, isDone: boolean, shard = 0) => {
		const at = { ...AT, shard };
		for (let done = 0; done < jobs; done += MAX_JOBS) {
			await store.enqueue(at, Array.from({ length: MAX_JOBS }, make));
			if (!isDone) continue;
			const { claimed } = await store.ackAndClaim(at, {
				claim: {
					bucket: bucketOf(now, now),
					priority: 1,
					floor: 0,
					limit: MAX_JOBS,
					claim: newClaim(),
					claimMs: 60_000,
				},
			});
			const acks = claimed.map((job) => ({ ...job, kind: "succeed" as const }));
			await store.ackAndClaim(at, { acks });
		}
	};
	await run(3_000, true);
	// Late, so that pending and finished jobs lie between each other.
	now += 20 * HOUR_US;
	for (const shard of store.shards) {
		await run(500, true, shard);
		await run(500, false, shard);
	}
	const nothing = await rotate(store, AT, DEFAULT_SETTINGS);
	assert.equal(nothing.bytes, 0);

	now += 10 * HOUR_US;
	const [planned] = await planRotation(store, AT, DEFAULT_SETTINGS);
	assert.equal(planned?.decision, "give back");
	assert.equal(planned?.rows, 3_000);
	assert.equal(await store.count(AT, { state: "succeeded" }, 10_000), 3_500);
	const { bytes } = await rotate(store, AT, DEFAULT_SETTINGS);
	assert.ok(bytes > 4_000_000, `${bytes}`);
	// The file itself is cut at a checkpoint of the log.
	await store[Symbol.asyncDispose]();
	const [left, live] = [0, 1].map((shard) => statSync(fileOf(shard)).size);
	assert.ok(Number(left) <= Number(live) * 1.5 + 1_048_576, `${left} ${live}`);
	await using again = openSqliteJobStore({
		queues: [{ range: [0, 0], primary: `sqlite:${folder.path}` }],
		now: () => now,
	});
	for (const state of ["pending", "succeeded"] as const) {
		assert.equal(await again.count(AT, { state }, 10_000), 500, state);
	}
	assert.ok(await rotateIfDue(again, AT, DEFAULT_SETTINGS));
	assert.equal(await rotateIfDue(again, AT, DEFAULT_SETTINGS), null);
});

// With the locks of tables, which rotation looks at.
const mysql = await startMysql({ args: ["--performance-schema=ON"] });
after(() => mysql.stop());

await queueRotationSuite("MySQL", mysql);
