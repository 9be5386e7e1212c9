import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
	changeSettings,
	createQueue,
} from "../../src/queue/admin/queueAdmin.ts";
import { countJobs } from "../../src/queue/admin/queueStats.ts";
import { scanAll } from "../../src/queue/admin/scanJobs.ts";
import { bucketOf } from "../../src/queue/bucket.ts";
import { claimJobs } from "../../src/queue/claim/claimJobs.ts";
import { newLocalId } from "../../src/queue/jobId.ts";
import type { JobStore } from "../../src/queue/jobStore.ts";
import { LiveSettings } from "../../src/queue/liveSettings.ts";
import { openJobStoreOf } from "../../src/queue/openJobStore.ts";
import { lockFolder } from "../../src/storage/sqlite/driver/folderLock.ts";
import type { QueueRange } from "../../src/topology/types.ts";
import {
	type Environment,
	runProgram,
	startProgram,
} from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";

const CLAIMER = join(import.meta.dirname, "claimer.ts");
const SHARDS = 2;
const PER_SECOND = 40;
const CLAIMERS = 2;
/** Clocks of processes may differ by so much from their shard's (ms): MySQL's is asked for over the network. */
const CLOCKS_MS = { SQLite: 5, MySQL: 250 } as const;

const server = await startMysql();
after(() => server.stop());
const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());

const PRIMARIES = {
	SQLite: `sqlite:${folder.path}`,
	MySQL: server.url,
} as const;

for (const name of ["SQLite", "MySQL"] as const) {
	describe(`the limits of a queue on ${name}`, () => {
		test("hold while claimers are killed and started again", async () => {
			const primary = PRIMARIES[name];
			const queues: readonly QueueRange[] = [
				{ range: [0, SHARDS - 1], primary },
			];
			await using store = openJobStoreOf({ queues });
			await store.createTables();
			await createQueue(store, "bake", [`maxJobsPerSecond=${PER_SECOND}`]);
			await addJobs(store, 200);
			const running = async () =>
				(await countJobs(store, "bake", { state: "running" })).jobs;

			await using claimers = new AsyncDisposableStack();
			const begin = () =>
				startProgram(["bake", JSON.stringify(queues)], {
					command: [process.execPath, CLAIMER],
				});
			let current = Array.from({ length: CLAIMERS }, () =>
				claimers.use(begin()),
			);
			for (let kills = 1; kills <= 3; kills++) {
				const [first, ...others] = current;
				await until(
					`${kills * 25} jobs to start`,
					async () => (await running()) >= kills * 25,
				);
				first?.send("SIGKILL");
				current = [...others, claimers.use(begin())];
			}
			const starts = await startsOf(store);
			assertRate(starts, CLOCKS_MS[name]);

			// Paused, and it is still after a second.
			await changeSettings(store, "bake", ["paused=true"]);
			let before = -1;
			await until("no job to start any more", async () => {
				const now = await running();
				const isStill = now === before;
				before = now;
				if (!isStill) await sleep(1_500);
				return isStill;
			});

			// As many run as may, and never more: nobody finishes any.
			const onShards = await Promise.all(
				store.shards.map((shard) =>
					store.count({ queue: "bake", shard }, { state: "running" }, 1_000),
				),
			);
			const most = SHARDS * (Math.max(...onShards) + 3);
			await changeSettings(store, "bake", [
				"paused=default",
				"maxJobsPerSecond=none",
				`maxRunning=${most}`,
			]);
			await until(`${most} running jobs`, async () => {
				const now = await running();
				assert.ok(now <= most, `${now} run, of at most ${most}`);
				return now === most;
			});
			await sleep(500);
			assert.equal(await running(), most);
		});
	});
}

describe("the commands of queues and jobs", () => {
	test("operates the queue of a data folder while a server owns it", async () => {
		const data = join(folder.path, "data");
		using _server = lockFolder(data);
		const run = queueCommand({ CORKBOARD_DATA: data }, runProgram);
		assert.deepEqual(await run("queues", "create", "toast"), {
			queue: "toast",
			created: true,
			shards: 1,
		});
		const paused = await run("queues", "pause", "toast");
		assert.deepEqual(paused.after, { paused: true });
		const { queues } = await run("queues", "list");
		assert.deepEqual(
			queues.map(({ name, state }: Record<string, unknown>) => [name, state]),
			[["toast", "paused"]],
		);
		const stats = await run("queues", "stats", "toast");
		// A table and two indexes, empty.
		assert.equal(stats.queues[0].diskBytes, 3 * 4_096);
	});

	test("finds, retries, removes and deletes jobs on MySQL", async () => {
		const topology = join(folder.path, "topology.json");
		const primary = server.url;
		const version = {
			version: 1,
			shards: [{ range: [0, 0], primary, open: true }],
			lookups: [{ range: [0, 0], primary }],
			queues: [{ range: [0, SHARDS - 1], primary }],
		};
		writeFileSync(topology, JSON.stringify(version));
		const env = { CORKBOARD_TOPOLOGY: topology };
		const run = queueCommand(env, runHere);
		await run("queues", "create", "rolls");
		await using store = openJobStoreOf({
			queues: [{ range: [0, SHARDS - 1], primary }],
		});
		await addJobs(store, 3, "rolls");
		await using settings = await LiveSettings.open(store);
		const { claimed } = await claimJobs(store, settings, "rolls", { limit: 4 });
		const acks = claimed.map((job) => ({
			shard: job.shard,
			ack: { ...job, kind: "giveUp", status: "no oven" } as const,
		}));
		await claimJobs(store, settings, "rolls", { acks, limit: 0 });

		const failed = await run("jobs", "list", "rolls", "--state", "failed");
		assert.equal(failed.jobs.length, 4);
		assert.match(failed.jobs[0].status[0], /no oven$/);
		const [id] = failed.jobs.map((job: { readonly id: string }) => job.id);
		assert.equal((await run("jobs", "retry", id)).changed, 1);
		const dry = await run(
			"jobs",
			"delete",
			"rolls",
			"--state",
			"failed",
			"--dry-run",
		);
		assert.deepEqual([dry.found, dry.changed], [3, 0]);
		assert.equal(
			(await run("jobs", "delete", "rolls", "--state", "failed", "--yes"))
				.changed,
			3,
		);
		const { queues } = await run("queues", "stats", "rolls");
		assert.deepEqual(
			[queues[0].ready.jobs, queues[0].failed.jobs, queues[0].running.jobs],
			[3, 0, 0],
		);
		// Pages of SQLite, or files of partitions.
		assert.ok(queues[0].diskBytes >= 4_096, `${queues[0].diskBytes}`);
		const dropped = await run(
			"queues",
			"delete",
			"rolls",
			"--confirm",
			"rolls",
			"--force",
		);
		assert.equal(dropped.pending, 3);
		// Jobs of the tests before are left, and no worker runs them.
		const drain = (...words: readonly string[]) =>
			runHere(["queues", "drain", "0", ...words], { env });
		const open = await drain("--check");
		assert.equal(open.code, 3);
		assert.match(open.out, /it still takes new jobs; \d+ jobs left to run/);
		const late = await drain("--timeout", "1s");
		assert.equal(late.code, 3, late.err);
		assert.match(late.out, /^shard 0 on .*: \d+ jobs left to run\n/);
		assert.deepEqual(JSON.parse(readFileSync(topology, "utf8")).queues[0], {
			range: [0, 0],
			primary,
			drain: true,
		});
		for (const { name } of (await run("queues", "list")).queues) {
			await run("queues", "delete", name, "--confirm", name, "--force");
		}
		const drained = await drain("-o", "json");
		assert.equal(drained.code, 0, drained.err);
		const { draining, empty } = JSON.parse(drained.out);
		assert.deepEqual([draining, empty], [true, true]);
		// Entries of writes would wait for it.
		const own = ["queues", "delete", "archive", "--confirm", "archive"];
		const refused = await runHere(own, { env });
		assert.equal(refused.code, 1);
		assert.match(refused.err, /Corkboard itself enqueues jobs into archive/);
	});
});

/** Runs `corkboard queues …` and `corkboard jobs …`, in a process of its own or here, and returns the JSON that it prints. */
function queueCommand(
	env: Environment,
	program: typeof runProgram | typeof runHere,
) {
	return async (...words: readonly string[]) => {
		const ended = await program([...words, "--json"], { env });
		assert.deepEqual([ended.code, ended.err], [0, ""], words.join(" "));
		return JSON.parse(ended.out);
	};
}

async function addJobs(
	store: JobStore,
	count: number,
	queue = "bake",
): Promise<void> {
	for (const shard of store.shards) {
		const now = await store.now(shard);
		const jobs = Array.from({ length: count }, () => ({
			local: newLocalId(),
			bucket: bucketOf(now, now),
			priority: 2 as const,
			due: now,
			allowed: 1,
			createdAt: now,
			key: null,
			body: "{}",
		}));
		await store.enqueue({ queue, shard }, jobs);
	}
}

/** When each running job was claimed, by the clock of its shard. Milliseconds. */
async function startsOf(store: JobStore): Promise<readonly number[]> {
	const starts: number[] = [];
	const all = scanAll(store, "bake", { state: "running" }, { limit: 1_000 });
	for await (const jobs of all) {
		starts.push(...jobs.map(({ at }) => at / 1_000 - 3_600_000));
	}
	return starts.sort((one, other) => one - other);
}

/** Between any two starts there are no more than the rate allows. */
function assertRate(starts: readonly number[], clocksMs: number): void {
	assert.ok(starts.length >= 75);
	for (const [first, from] of starts.entries()) {
		for (let last = first; last < starts.length; last++) {
			const seconds = ((starts[last] as number) - from + clocksMs) / 1_000;
			const most = PER_SECOND * seconds + SHARDS + 1e-6;
			assert.ok(
				last - first + 1 <= most,
				`${last - first + 1} jobs started in ${seconds} s, at most ${most}`,
			);
		}
	}
}
