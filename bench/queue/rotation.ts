/**
 * `npm run bench -- rotation --mb 512`: how long an enqueue waits at most while a
 * partition of so many MB of finished jobs is given back, beside a plain DROP
 * PARTITION of an equal one, and beside neither. On MySQL; four clients enqueue
 * jobs of 2 KB all the while. Prints a row of Markdown for each way and round.
 */
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { createQueue } from "../../src/queue/admin/queueAdmin.ts";
import { HOUR_US, hourOf } from "../../src/queue/bucket.ts";
import { newLocalId } from "../../src/queue/jobId.ts";
import { openMysqlJobStore } from "../../src/queue/mysql/mysqlJobStore.ts";
import { isRefused } from "../../src/queue/rotationStore.ts";
import { startMysql } from "../../test/services/mysql.ts";

const { values } = parseArgs({
	options: {
		mb: { type: "string", default: "512" },
		rounds: { type: "string", default: "1" },
	},
});
const MB = numberOf("mb", values.mb, 4_096);
const ROUNDS = numberOf("rounds", values.rounds, 20);

const CLIENTS = 4;
const BODY = "x".repeat(2_000);
/** Bytes that a job of that body takes in its file, about. */
const JOB_BYTES = 2_350;
const CALM_MS = 3_000;
/** Between the start of the clients and the statement. */
const LEAD_MS = 500;
const AT = { queue: "bench", shard: 0 };
const JOBS = "queue00000.jobs_bench";
const WAYS = ["neither", "rotation", "DROP PARTITION"] as const;

await using server = await startMysql({
	args: [
		"--innodb-buffer-pool-size=1G",
		"--innodb-redo-log-capacity=2G",
		"--innodb-doublewrite=ON",
		"--performance-schema=ON",
	],
});
await using store = openMysqlJobStore({
	queues: [{ range: [0, 0], primary: server.url }],
	limits: { connectMs: 30_000, readMs: 60_000, writeMs: 60_000 },
});
await using opened = new AsyncDisposableStack();
const admin = await createConnection({ uri: server.url });
opened.defer(() => admin.end());
await store.createTables();
await createQueue(store, AT.queue);

console.log(
	"| | files before and after, MB | statement, ms | longest enqueue, ms | enqueues | load |",
);
console.log("|---|---:|---:|---:|---:|---:|");
for (let round = 0; round < ROUNDS; round++) {
	for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
		console.log(await measure(way));
	}
}

async function measure(way: (typeof WAYS)[number]): Promise<string> {
	const hour = hourOf(await store.now(0));
	const bucket = hour - 40;
	if (way !== "neither") await fill(bucket);
	const before = await fileBytes();
	const stop = new AbortController();
	const clients = Array.from({ length: CLIENTS }, () => enqueue(stop.signal));
	await sleep(LEAD_MS);
	const began = performance.now();
	if (way === "neither") await sleep(CALM_MS);
	else if (way === "rotation") await giveBack(bucket);
	else await admin.query(`ALTER TABLE ${JOBS} DROP PARTITION h${bucket}`);
	const tookMs = performance.now() - began;
	// A statement that waits behind it ends after it.
	await sleep(LEAD_MS);
	stop.abort();
	const waits = (await Promise.all(clients)).flat();
	const after = await fileBytes();
	if (way === "rotation") {
		await admin.query(`ALTER TABLE ${JOBS} DROP PARTITION h${bucket}`);
	}
	const cells = [
		way,
		`${megabytes(before)}, ${megabytes(after)}`,
		way === "neither" ? "–" : tookMs.toFixed(0),
		Math.max(...waits).toFixed(0),
		waits.length,
		(loadavg()[0] ?? 0).toFixed(1),
	];
	return `| ${cells.join(" | ")} |`;
}

/** Makes a partition of an hour of the past, and puts jobs into it that ended long ago. */
async function fill(bucket: number): Promise<void> {
	const [[first]] = await admin.query<RowDataPacket[]>(
		`SELECT MIN(CAST(partition_description AS UNSIGNED)) - 1 AS hour FROM information_schema.partitions
			WHERE table_schema = 'queue00000' AND table_name = 'jobs_bench' AND partition_description <> 'MAXVALUE'`,
	);
	const next = Number(first?.hour);
	await admin.query(
		`ALTER TABLE ${JOBS} REORGANIZE PARTITION h${next} INTO (
			PARTITION h${bucket} VALUES LESS THAN (${bucket + 1}),
			PARTITION h${next} VALUES LESS THAN (${next + 1}))`,
	);
	const ended = (bucket + 1) * HOUR_US;
	for (let left = Math.ceil((MB * 1e6) / JOB_BYTES); left > 0; left -= 1_000) {
		const rows = Array.from(
			{ length: Math.min(left, 1_000) },
			() =>
				`(x'${newLocalId()}', ${bucket}, 2, 1, ${ended}, 7, 1, 2, ${ended}, NULL, '', '${BODY}')`,
		);
		await admin.query(`INSERT INTO ${JOBS} VALUES ${rows.join(", ")}`);
	}
}

async function giveBack(bucket: number): Promise<void> {
	const keep = {
		succeededAfter: (bucket + 2) * HOUR_US,
		failedAfter: (bucket + 2) * HOUR_US,
	};
	const span = (await store.spans(AT, keep)).find(
		(one) => one.bucket === bucket,
	);
	if (span === undefined) throw new Error(`There is no span of ${bucket}.`);
	const given = await store.giveBack(AT, span, keep);
	if (isRefused(given)) throw new Error(given.refused);
}

/** One job after the other. The milliseconds that each took. */
async function enqueue(signal: AbortSignal): Promise<readonly number[]> {
	const waits: number[] = [];
	while (!signal.aborted) {
		const now = await store.now(0);
		const began = performance.now();
		await store.enqueue(AT, [
			{
				local: newLocalId(),
				bucket: hourOf(now),
				priority: 2,
				due: now,
				allowed: 2,
				createdAt: now,
				key: null,
				body: BODY,
			},
		]);
		waits.push(performance.now() - began);
	}
	return waits;
}

async function fileBytes(): Promise<number> {
	const [[row]] = await admin.query<RowDataPacket[]>(
		"SELECT SUM(file_size) AS bytes FROM information_schema.innodb_tablespaces WHERE name LIKE 'queue00000/%'",
	);
	return Number(row?.bytes);
}

function megabytes(bytes: number): string {
	return (bytes / 1e6).toFixed(0);
}

function numberOf(name: string, text: string, most: number): number {
	const number = Number(text);
	if (Number.isSafeInteger(number) && number >= 1 && number <= most) {
		return number;
	}
	throw new RangeError(`--${name} must be 1 to ${most}, got ${text}.`);
}
