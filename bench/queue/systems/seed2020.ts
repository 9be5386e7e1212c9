import {
	createPool,
	type Pool,
	type PoolConnection,
	type RowDataPacket,
} from "mysql2/promise";
import { newLocalId } from "../../../src/queue/jobId.ts";
import type {
	BenchJob,
	EnqueueOptions,
	Handler,
	Producer,
	QueueSystem,
	QueueTarget,
} from "../queueSystem.ts";
import { holdSnapshot, logBytes } from "./mysql.ts";
import { SHARDS } from "./shards.ts";
import { shuffled, startLoops } from "./sqlWorker.ts";

/*
 * The partitioned layout of 2020: partitions by (state, updated_at), so that a
 * change of state moves the row. Claims with SKIP LOCKED, enqueues and acks of
 * many jobs in one statement and ids by the caller are as Corkboard has them:
 * then only the layout differs.
 */

const CONNECTIONS = 8;
/** Jobs of a claim. */
const BATCH = 200;
const INSERTED = 500;
const LOOPS = 3;
const MINUTE_MS = 60_000;

/** Hours of each state's partitions, how many there are, and before which state the next begins. */
const STATES = [
	{ hours: 120, count: 5 },
	{ hours: 24, count: 5 },
	{ hours: 1, count: 6 },
	{ hours: 2, count: 6 },
] as const;

function tableOf(queue: string, shard: number): string {
	return `seed2020_${shard}.${queue}`;
}

function open({ url }: QueueTarget): Pool {
	return createPool({ uri: url, connectionLimit: CONNECTIONS });
}

function partitions(): string {
	const parts: string[] = [];
	for (const [state, { hours, count }] of STATES.entries()) {
		for (let index = 1; index < count; index++) {
			const end = Date.now() + index * hours * 60 * MINUTE_MS;
			const text = new Date(end).toISOString().slice(0, 19).replace("T", " ");
			parts.push(
				`PARTITION p${state}_${index} VALUES LESS THAN (${state}, '${text}')`,
			);
		}
		parts.push(
			`PARTITION p${state}_future VALUES LESS THAN (${state}, MAXVALUE)`,
		);
	}
	parts.push("PARTITION p_catchall VALUES LESS THAN (MAXVALUE, MAXVALUE)");
	return parts.join(",\n");
}

async function prepare(target: QueueTarget): Promise<void> {
	const pool = open(target);
	for (let shard = 0; shard < SHARDS; shard++) {
		await pool.query(`DROP DATABASE IF EXISTS seed2020_${shard}`);
		await pool.query(`CREATE DATABASE seed2020_${shard}`);
		for (const queue of target.queues) {
			await pool.query(`CREATE TABLE ${tableOf(queue, shard)} (
				local_id BINARY(16) NOT NULL,
				state TINYINT NOT NULL,
				priority TINYINT NOT NULL,
				attempts_allowed INT NOT NULL,
				attempts_remaining INT NOT NULL,
				created_at DATETIME(3) NOT NULL,
				run_after DATETIME(3) NOT NULL,
				updated_at DATETIME(3) NOT NULL,
				claim BIGINT UNSIGNED NOT NULL,
				custom_status VARBINARY(5000) NOT NULL,
				body MEDIUMBLOB NOT NULL,
				PRIMARY KEY (local_id, state, updated_at),
				INDEX (priority, run_after)
			) ENGINE=InnoDB ROW_FORMAT=DYNAMIC
			PARTITION BY RANGE COLUMNS (state, updated_at) (${partitions()})`);
		}
	}
	await pool.end();
}

async function insert(
	pool: Pool,
	queue: string,
	jobs: readonly BenchJob[],
	{ delayMs = 0, priority = 2 }: EnqueueOptions,
	shard: number,
): Promise<void> {
	await pool.query(
		`INSERT INTO ${tableOf(queue, shard)} VALUES ${jobs
			.map(
				() =>
					`(x'${newLocalId()}', 0, ${priority}, 2, 2, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL ${delayMs * 1_000} MICROSECOND, UTC_TIMESTAMP(3), 0, '', ?)`,
			)
			.join(", ")}`,
		jobs.map((job) => JSON.stringify(job)),
	);
}

async function openProducer(target: QueueTarget): Promise<Producer> {
	const pool = open(target);
	return {
		async enqueue(queue, jobs, options = {}) {
			for (let at = 0; at < jobs.length; at += INSERTED) {
				const shard = Math.floor(Math.random() * SHARDS);
				const some = jobs.slice(at, at + INSERTED);
				await insert(pool, queue, some, options, shard);
			}
		},
		[Symbol.asyncDispose]: () => pool.end(),
	};
}

interface Claimed {
	readonly table: string;
	readonly ids: string;
	readonly count: number;
	readonly claim: number;
	readonly updatedAt: string;
}

async function claimFrom(
	connection: PoolConnection,
	table: string,
	priority: number,
	handle: Handler,
): Promise<Claimed | null> {
	const claim = Math.floor(Math.random() * 2 ** 52) + 1;
	const [rows] = await connection.query<RowDataPacket[]>(
		`SELECT local_id, updated_at, body, UTC_TIMESTAMP(3) AS now FROM ${table} AS job FORCE INDEX (priority)
			WHERE state = 0 AND updated_at >= '2000-01-01' AND priority = ${priority} AND run_after <= UTC_TIMESTAMP(3)
			ORDER BY job.priority, job.run_after LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`,
	);
	const [first] = rows;
	if (first === undefined) {
		await connection.query("COMMIT");
		return null;
	}
	const ids = rows
		.map(({ local_id }) => `x'${(local_id as Buffer).toString("hex")}'`)
		.toSorted()
		.join(", ");
	const updatedAt = String(first.now);
	await connection.query(
		`UPDATE ${table} SET state = 1, updated_at = '${updatedAt}', claim = ${claim}, attempts_remaining = attempts_remaining - 1
			WHERE state = 0 AND updated_at >= '2000-01-01' AND local_id IN (${ids}); COMMIT`,
	);
	for (const { body } of rows) handle(JSON.parse(String(body)));
	return { table, ids, count: rows.length, claim, updatedAt };
}

async function acknowledge(
	connection: PoolConnection,
	{ table, ids, claim, updatedAt }: Claimed,
): Promise<void> {
	await connection.query(
		`UPDATE ${table} SET state = 2, updated_at = UTC_TIMESTAMP(3)
			WHERE state = 1 AND updated_at = '${updatedAt}' AND claim = ${claim} AND local_id IN (${ids}); COMMIT`,
	);
}

async function startWorker(
	target: QueueTarget,
	handle: Handler,
): Promise<AsyncDisposable> {
	const pool = createPool({
		uri: target.url,
		connectionLimit: CONNECTIONS,
		multipleStatements: true,
		dateStrings: true,
	});
	const sessions = await Promise.all(
		Array.from({ length: LOOPS }, async () => {
			const connection = await pool.getConnection();
			await connection.query(
				"SET autocommit = 0, transaction_isolation = 'READ-COMMITTED', binlog_row_image = NOBLOB",
			);
			return connection;
		}),
	);
	const loops = startLoops(LOOPS, async (index) => {
		const connection = sessions[index] as PoolConnection;
		for (const queue of target.queues) {
			for (const priority of [1, 2]) {
				for (const shard of shuffled(SHARDS)) {
					const table = tableOf(queue, shard);
					const claimed = await claimFrom(connection, table, priority, handle);
					if (claimed === null) continue;
					await acknowledge(connection, claimed);
					return claimed.count;
				}
			}
		}
		return 0;
	});
	return {
		async [Symbol.asyncDispose]() {
			await loops[Symbol.asyncDispose]();
			for (const connection of sessions) connection.release();
			await pool.end();
		},
	};
}

async function fill(
	target: QueueTarget,
	count: number,
	{ first, ...options }: Parameters<QueueSystem["fill"]>[2],
): Promise<void> {
	const pool = open(target);
	const [queue = ""] = target.queues;
	let next = 0;
	const one = async () => {
		while (next < count) {
			const from = next;
			next = Math.min(count, from + 1_000);
			const jobs = Array.from({ length: next - from }, (_, index) => ({
				n: first + from + index,
				pad: "",
			}));
			await insert(pool, queue, jobs, options, (from / 1_000) % SHARDS);
		}
	};
	await Promise.all([one(), one(), one()]);
	await pool.end();
}

export default {
	prepare,
	openProducer,
	startWorker,
	fill,
	logBytes,
	holdSnapshot,
} satisfies QueueSystem;
