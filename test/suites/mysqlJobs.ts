import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bucketOf, hourOf } from "../../src/queue/bucket.ts";
import { newClaim, newLocalId } from "../../src/queue/jobId.ts";
import type {
	Ack,
	ClaimRange,
	NewJob,
	ShardOfQueue,
} from "../../src/queue/jobStore.ts";
import type { JobRow } from "../../src/queue/jobTransitions.ts";
import { tablesOf } from "../../src/queue/mysql/dialect.ts";
import { openMysqlJobStore } from "../../src/queue/mysql/mysqlJobStore.ts";
import {
	beginJobs,
	claimableJobs,
	claimedBy,
	expiredClaims,
	firstDue,
	renewClaims,
	succeedJobs,
} from "../../src/queue/statements/claims.ts";
import { findJobs, writeTransition } from "../../src/queue/statements/jobs.ts";
import type { Select } from "../../src/storage/statements/dialect.ts";
import { BreakableProxy } from "../helpers/breakableProxy.ts";
import { mysqlJobsForSuite } from "../helpers/mysqlJobs.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { until } from "../helpers/until.ts";
import type { Server } from "../services/server.ts";

const AT: ShardOfQueue = { queue: "plans", shard: 0 };

const TABLES = tablesOf(
	{ number: 0, database: "queue00000", host: { name: "any" } },
	AT.queue,
);

/** What MySQL and MariaDB do with the statements of the job store, and when a link breaks. */
export async function mysqlJobsSuite(
	name: string,
	server: Server,
): Promise<void> {
	const opened = await mysqlJobsForSuite(server);
	describe(`jobs on ${name}`, () => {
		after(() => opened[Symbol.asyncDispose]());
		const { store } = opened;
		let now = 0;
		let some: readonly NewJob[] = [];
		before(async () => {
			await store.createTables();
			await store.put(0, { name: AT.queue, settings: {}, version: 1 });
			now = await store.now(0);
			some = Array.from({ length: 300 }, () => ({
				local: newLocalId(),
				bucket: bucketOf(now, now),
				priority: 2,
				due: now,
				allowed: 3,
				createdAt: now,
				key: null,
				body: "{}",
			}));
		});

		test("statements of workers ask one partition and sort nothing, with an empty table and a full one", async () => {
			for (const jobs of [0, 300]) {
				if (jobs > 0) {
					await store.enqueue(AT, some);
					const claim = rangeOf(some);
					await store.ackAndClaim(AT, { claim });
					await ask(server, "ANALYZE TABLE queue00000.jobs_plans");
				}
				for (const [title, sql, key] of statementsOn(some, now)) {
					const plan = await explain(server, sql);
					const line = `${jobs} jobs: ${title}: ${JSON.stringify(plan)}`;
					assert.equal(plan.length, 1, line);
					// MariaDB reads a single row of an empty table while it plans.
					if (/^Impossible WHERE/.test(plan[0]?.Extra ?? "")) continue;
					const [{ partitions, key: used, Extra } = {} as Plan] = plan;
					assert.equal(partitions, `h${some[0]?.bucket}`, line);
					assert.equal(used, key, line);
					assert.doesNotMatch(Extra ?? "", /filesort|temporary/i, line);
				}
			}
		});

		// The MariaDB of the tests writes no binary log.
		if (name === "MySQL") {
			test("claims and words leave the bodies of jobs out of the binary log", async () => {
				const body = "b".repeat(20_000);
				const jobs = some.slice(0, 20).map((job) => ({ ...job, body }));
				await opened.empty(AT);
				await store.enqueue(AT, jobs);
				const before = await binlogSize(server);
				const { claimed } = await store.ackAndClaim(AT, {
					claim: rangeOf(some),
				});
				assert.equal(claimed.length, 20);
				await store.ackAndClaim(AT, {
					acks: claimed.map((job): Ack => ({ ...held(job), kind: "succeed" })),
				});
				const written = (await binlogSize(server)) - before;
				assert.ok(written < 20 * 20_000, `${written} bytes`);
			});
		}

		test("a store switches to a newer topology on the same connections", async () => {
			const source = (version: number, drain: boolean) => ({
				queues: [{ range: [0, 0] as const, primary: server.url, drain }],
				version,
			});
			await using store = openMysqlJobStore({
				...source(1, false),
				limits: { connections: 2, connectMs: 60_000, readMs: 60_000 },
			});
			await store.queues(0);
			const connections = async () => {
				const [row] = await ask(
					server,
					"SHOW GLOBAL STATUS LIKE 'Connections'",
				);
				return Number(row?.Value);
			};
			const before = await connections();
			store.switchTo(source(2, true));
			await store.queues(0);
			assert.deepEqual([store.openShards, store.oldestVersion], [[], 2]);
			// The second look is one itself.
			assert.equal((await connections()) - before, 1);
		});

		test("a look over many buckets sorts nothing either", async () => {
			const hour = hourOf(now);
			const due = firstDue(TABLES, {
				at: AT,
				buckets: [0, hour + 9],
				priority: 2,
				floor: 0,
			});
			const [plan] = await explain(server, textOf(due));
			assert.equal(plan?.key, "queue");
			assert.doesNotMatch(plan?.Extra ?? "", /filesort|temporary/i);
		});

		test("jobs claimed by a COMMIT whose answer was lost are found, and words said with it are done", async () => {
			await opened.empty(AT);
			await using proxy = await BreakableProxy.before(server.port);
			await using far = openMysqlJobStore({
				queues: [
					{
						range: [0, 0],
						primary: server.url.replace(`:${server.port}`, `:${proxy.port}`),
					},
				],
				limits: { writeMs: 3_000, readMs: 60_000, connectMs: 60_000 },
			});
			const [one, two] = some.slice(0, 2) as [NewJob, NewJob];
			await store.enqueue(AT, [one, two]);
			const first = await store.ackAndClaim(AT, {
				claim: { ...rangeOf(some), limit: 1 },
			});
			const [job] = first.claimed;
			assert.ok(job);
			await far.now(0);
			proxy.silentAfter = "COMMIT";
			const turning = far.ackAndClaim(AT, {
				acks: [{ ...held(job), kind: "succeed" }],
				claim: rangeOf(some),
			});
			await until("a COMMIT that was done", async () => {
				const [found] = await store.find(AT, [job]);
				return found?.state === "succeeded";
			});
			proxy.silentAfter = null;
			const { acked, claimed } = await turning;
			assert.deepEqual(acked, ["done"]);
			assert.deepEqual(
				claimed.map(({ local, attempts }) => [local, attempts]),
				[[two.local, 1]],
			);
			const ack: Ack = { ...held(claimed[0]), kind: "succeed" };
			assert.deepEqual((await store.ackAndClaim(AT, { acks: [ack] })).acked, [
				"done",
			]);
		});

		test("a job whose enqueue is repeated while the first try is under way is stored once", async () => {
			await opened.empty(AT);
			await using proxy = await BreakableProxy.before(server.port);
			await using far = openMysqlJobStore({
				queues: [
					{
						range: [0, 0],
						primary: server.url.replace(`:${server.port}`, `:${proxy.port}`),
					},
				],
				limits: { writeMs: 2_000, readMs: 60_000, connectMs: 60_000 },
			});
			const [job] = some as [NewJob];
			await far.now(0);
			proxy.silentAfter = "COMMIT";
			await assert.rejects(far.enqueue(AT, [job]), { code: "UNAVAILABLE" });
			assert.deepEqual(
				await Promise.all([
					store.enqueue(AT, [job], { isRepeat: true }),
					store.enqueue(AT, [job], { isRepeat: true }),
				]),
				[["there"], ["there"]],
			);
		});
	});
}

/** Bytes of all binary logs. */
async function binlogSize(server: Server): Promise<number> {
	const logs = await ask(server, "SHOW BINARY LOGS");
	return logs.reduce((sum, log) => sum + Number(log.File_size), 0);
}

interface Plan {
	readonly partitions: string | null;
	readonly key: string | null;
	readonly Extra: string | null;
}

/** What workers send all the time: title, text, and the index it uses. */
function statementsOn(
	jobs: readonly NewJob[],
	now: number,
): readonly (readonly [string, string, string])[] {
	const tables = TABLES;
	const range = rangeOf(jobs);
	const { bucket, claim } = range;
	const claims = jobs
		.slice(0, 50)
		.map(({ local }) => ({ local, bucket, claim }));
	const acks = claims.map((each): Ack => ({ ...each, kind: "succeed" }));
	const row = (job: NewJob): JobRow => ({
		...job,
		state: 1,
		at: now,
		claim,
		attempts: 1,
	});
	const step = { state: 0, bucket, at: now, claim, attempts: 1, allowed: 2 };
	const due = {
		at: AT,
		buckets: [bucket, bucket],
		priority: 2,
		floor: 0,
	} as const;
	const expired = { limit: 9, isLocked: true };
	return [
		["claim", textOf(claimableJobs(tables, range, now)), "queue"],
		[
			"begin",
			beginJobs(tables, range, jobs.slice(0, 50).map(row), now).text,
			"PRIMARY",
		],
		["look up claim", textOf(claimedBy(tables, range, now)), "queue"],
		["succeed", succeedJobs(tables, acks, now).text, "PRIMARY"],
		["renew", renewClaims(tables, claims, now).text, "PRIMARY"],
		[
			"jobs of words",
			textOf(findJobs(tables, claims, { bucket, locked: true })),
			"PRIMARY",
		],
		[
			"step",
			writeTransition(tables, row(jobs[0] as NewJob), step, {}).text,
			"PRIMARY",
		],
		["due", textOf(firstDue(tables, due)), "queue"],
		["expired", textOf(expiredClaims(tables, due, now, expired)), "queue"],
	];
}

function textOf({ columns, rest }: Select<unknown>): string {
	return `SELECT ${columns.join(", ")} ${rest}`;
}

async function explain(server: Server, sql: string): Promise<readonly Plan[]> {
	const [release] = await ask(server, "SELECT VERSION() AS version");
	const explain = String(release?.version).includes("MariaDB")
		? "EXPLAIN PARTITIONS"
		: "EXPLAIN FORMAT=TRADITIONAL";
	// MariaDB plans no UPDATE with partitions: a SELECT with the same condition shows them.
	const text =
		explain === "EXPLAIN PARTITIONS"
			? sql.replace(
					/^UPDATE (\S+ FORCE INDEX \(PRIMARY\))\s+SET [\s\S]*?WHERE/,
					"SELECT claim FROM $1 WHERE",
				)
			: sql;
	return (await ask(server, `${explain} ${text}`)) as unknown as Plan[];
}

function rangeOf([job]: readonly NewJob[]): ClaimRange {
	return {
		bucket: (job as NewJob).bucket,
		priority: 2,
		floor: 0,
		limit: 50,
		claim: newClaim(),
		claimMs: 600_000,
	};
}

function held(
	job: { local: NewJob["local"]; bucket: number; claim: number } | undefined,
) {
	assert.ok(job);
	const { local, bucket, claim } = job;
	return { local, bucket, claim };
}
