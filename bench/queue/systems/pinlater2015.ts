import {
	createPool,
	type Pool,
	type ResultSetHeader,
	type RowDataPacket,
} from "mysql2/promise";
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
 * PinLater on MySQL as it was published in 2015: a database for each shard, a
 * table for each priority, rows by AUTO_INCREMENT with an index on (state,
 * run_after), a claim text, one statement for each enqueue and each ack, and a
 * DELETE of what has ended.
 */

const CONNECTIONS = 8;
/** Jobs of a claim. */
const BATCH = 200;
const LOOPS = 3;
/** The most rows that one statement deletes. */
const DELETED = 1_000;
const DEADLOCK = 1213;
const PRIORITIES = [1, 2] as const;

function tableOf(queue: string, shard: number, priority: number): string {
	return `pinlater2015_${shard}.${queue}_p${priority}`;
}

function open({ url }: QueueTarget): Pool {
	return createPool({ uri: url, connectionLimit: CONNECTIONS });
}

async function prepare(target: QueueTarget): Promise<void> {
	const pool = open(target);
	for (let shard = 0; shard < SHARDS; shard++) {
		await pool.query(`DROP DATABASE IF EXISTS pinlater2015_${shard}`);
		await pool.query(`CREATE DATABASE pinlater2015_${shard}`);
		for (const queue of target.queues) {
			for (const priority of PRIORITIES) {
				await pool.query(`CREATE TABLE ${tableOf(queue, shard, priority)} (
					local_id BIGINT NOT NULL AUTO_INCREMENT,
					state TINYINT NOT NULL,
					attempts_allowed INT NOT NULL,
					attempts_remaining INT NOT NULL,
					created_at TIMESTAMP(3) NULL,
					run_after TIMESTAMP(3) NULL,
					updated_at TIMESTAMP(3) NULL,
					claim_descriptor VARCHAR(200) NULL,
					custom_status TEXT,
					body MEDIUMBLOB,
					PRIMARY KEY (local_id),
					INDEX (claim_descriptor),
					INDEX (state, run_after)
				) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`);
			}
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
		`INSERT INTO ${tableOf(queue, shard, priority)}
			(state, attempts_allowed, attempts_remaining, created_at, run_after, updated_at, custom_status, body)
			VALUES ${jobs.map(() => "(0, 2, 2, NOW(3), NOW(3) + INTERVAL ? MICROSECOND, NOW(3), '', ?)").join(", ")}`,
		jobs.flatMap((job) => [delayMs * 1_000, JSON.stringify(job)]),
	);
}

async function openProducer(target: QueueTarget): Promise<Producer> {
	const pool = open(target);
	return {
		async enqueue(queue, jobs, options = {}) {
			// The pool has fewer connections than a call has jobs.
			await Promise.all(
				jobs.map((job) =>
					insert(
						pool,
						queue,
						[job],
						options,
						Math.floor(Math.random() * SHARDS),
					),
				),
			);
		},
		[Symbol.asyncDispose]: () => pool.end(),
	};
}

async function startWorker(
	target: QueueTarget,
	handle: Handler,
): Promise<AsyncDisposable> {
	const pool = open(target);
	let claims = 0;
	/** Claims and acks of others meet in the index of (state, run_after). */
	const repeated = async <T>(statement: () => Promise<T>): Promise<T> => {
		for (;;) {
			try {
				return await statement();
			} catch (error) {
				if ((error as { errno?: number }).errno !== DEADLOCK) throw error;
			}
		}
	};
	const claim = async (table: string) => {
		const text = `${process.pid}:${++claims}`;
		const [{ affectedRows }] = await repeated(() =>
			pool.query<ResultSetHeader>(
				`UPDATE ${table}
				SET claim_descriptor = ?, attempts_remaining = attempts_remaining - 1, state = 1, updated_at = NOW(3)
				WHERE state = 0 AND run_after <= NOW(3)
				ORDER BY run_after LIMIT ${BATCH}`,
				[text],
			),
		);
		if (affectedRows === 0) return [];
		const [rows] = await pool.query<RowDataPacket[]>(
			`SELECT local_id, attempts_allowed, attempts_remaining, custom_status, body
				FROM ${table} WHERE claim_descriptor = ?`,
			[text],
		);
		return rows;
	};
	const loops = startLoops(LOOPS, async () => {
		let run = 0;
		for (const queue of target.queues) {
			for (const priority of PRIORITIES) {
				for (const shard of shuffled(SHARDS)) {
					const table = tableOf(queue, shard, priority);
					const rows = await claim(table);
					for (const { body } of rows) handle(JSON.parse(String(body)));
					await Promise.all(
						rows.map(({ local_id }) =>
							repeated(() =>
								pool.query(
									`UPDATE ${table} SET state = 2, claim_descriptor = NULL, updated_at = NOW(3),
									custom_status = CONCAT('', custom_status) WHERE local_id = ?`,
									[local_id],
								),
							),
						),
					);
					run += rows.length;
					if (run >= BATCH) return run;
				}
			}
		}
		return run;
	});
	return {
		async [Symbol.asyncDispose]() {
			await loops[Symbol.asyncDispose]();
			await pool.end();
		},
	};
}

/** Its job of maintenance: a DELETE of what has ended, some at a time. */
async function expire(target: QueueTarget): Promise<void> {
	const { keepHours = 24 } = target;
	const pool = open(target);
	for (const queue of target.queues) {
		for (let shard = 0; shard < SHARDS; shard++) {
			for (const priority of PRIORITIES) {
				for (;;) {
					const [{ affectedRows }] = await pool.query<ResultSetHeader>(
						`DELETE FROM ${tableOf(queue, shard, priority)}
							WHERE state = 2 AND updated_at < NOW(3) - INTERVAL ${keepHours} HOUR LIMIT ${DELETED}`,
					);
					if (affectedRows < DELETED) break;
				}
			}
		}
	}
	await pool.end();
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
	expire,
	openProducer,
	startWorker,
	fill,
	logBytes,
	holdSnapshot,
} satisfies QueueSystem;
