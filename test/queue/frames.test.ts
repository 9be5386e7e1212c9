import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { Jobs } from "../../src/queue/enqueue/jobs.ts";
import { QueueBounds } from "../../src/queue/enqueue/queueBounds.ts";
import { LocalHints } from "../../src/queue/hints.ts";
import { job } from "../../src/queue/job.ts";
import { LiveSettings } from "../../src/queue/liveSettings.ts";
import { openJobStoreOf } from "../../src/queue/openJobStore.ts";
import { Worker } from "../../src/worker/worker.ts";
import { stacksOf } from "../helpers/stacksOf.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";

/** Functions of ours, outside of the driver, that a call passes until the driver has its statement. */
const ENQUEUE = 13;
/** The same of all statements of one job, from the loop that claims: the look for it, its claim and its end. Each function counts once. */
const JOB = 25;

const kind = job({
	queue: "counted",
	body: z.object({ n: z.number() }),
	attempts: 1,
	async run() {},
});

let server: Server;
before(async () => {
	server = await startMysql();
});
after(() => server[Symbol.asyncDispose]());

describe("the queue on MySQL", () => {
	it(`passes at most ${ENQUEUE} functions for an enqueue, and ${JOB} for a job`, async (t) => {
		const source = {
			queues: [{ range: [0, 0] as const, primary: server.url }],
		};
		await using store = openJobStoreOf(source);
		await store.createTables();
		await store.put(0, { name: kind.queue, settings: {}, version: 1 });
		await using settings = await LiveSettings.open(store);
		const hints = new LocalHints();
		const jobs = new Jobs(store, hints, new QueueBounds(store, settings));
		await jobs.enqueue(kind, { n: 0 });
		const enqueued = await stacksOf(() => jobs.enqueue(kind, { n: 1 }));
		const enqueue = framesOf(enqueued, /^INSERT INTO .*jobs_counted/);

		const worked = await stacksOf(async () => {
			await using _worker = await Worker.start({
				store,
				settings,
				source,
				hints,
				kinds: [kind],
				context: undefined,
				concurrency: 5,
			});
			await until("the job to have ended", async () => {
				const at = { queue: kind.queue, shard: 0 };
				return (await store.count(at, { state: "succeeded" }, 9)) === 2;
			});
		});
		const all = new Set<string>();
		for (const sql of [
			/^\(?SELECT bucket, at, 0 AS part/,
			/SKIP LOCKED$/,
			/SET state = 1,/,
			/SET state = 2/,
		]) {
			const frames = framesOf(worked, sql);
			const loop = frames.indexOf("run worker/claimLoop.ts");
			assert.ok(loop > 0, frames.join("\n"));
			for (const frame of frames.slice(0, loop + 1)) all.add(frame);
		}
		t.diagnostic(`${enqueue.length} for an enqueue, ${all.size} for a job`);
		assert.ok(enqueue.length <= ENQUEUE, enqueue.join("\n"));
		assert.ok(all.size <= JOB, [...all].join("\n"));
	});
});

type Stacks = Awaited<ReturnType<typeof stacksOf>>;

function framesOf(stacks: Stacks, statement: RegExp): readonly string[] {
	const found = stacks.find(({ sql }) => statement.test(sql));
	assert.ok(found, `${statement}: ${stacks.map(({ sql }) => sql).join("\n")}`);
	return found.own.filter((frame) => !frame.includes(" storage/mysql/driver/"));
}
