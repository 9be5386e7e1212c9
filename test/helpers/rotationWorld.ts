import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { HOUR_US, hourOf } from "../../src/queue/bucket.ts";
import { newLocalId } from "../../src/queue/jobId.ts";
import { openMysqlJobStore } from "../../src/queue/mysql/mysqlJobStore.ts";
import type { QueueStore } from "../../src/queue/openedJobStore.ts";

export const QUEUE = "work";
export const AT = { queue: QUEUE, shard: 0 };
export const DATABASE = "queue00000";
export const JOBS = `${DATABASE}.jobs_${QUEUE}`;

/** Jobs of each state. */
export interface Filling {
	readonly pending?: number;
	readonly running?: number;
	readonly succeeded?: number;
	readonly failed?: number;
}

export interface StoredJob {
	readonly id: string;
	readonly bucket: number;
	readonly state: number;
}

/** The jobs of one queue on a server, and rotation of them. */
export interface RotationWorld extends AsyncDisposable {
	readonly store: QueueStore;
	/** The present hour. */
	hour(): Promise<number>;
	/** Adds a partition for an hour of the past, if it has none. */
	addSpan(bucket: number): Promise<void>;
	/** Puts jobs into a bucket. Finished ones ended long ago; failed ones are still to be kept. Returns the ids of those to be kept. */
	fill(
		bucket: number,
		filling: Filling,
		bodyBytes?: number,
	): Promise<readonly string[]>;
	jobs(): Promise<readonly StoredJob[]>;
	/** Hours that have a partition of their own, ascending. */
	partitions(): Promise<readonly number[]>;
	outTables(): Promise<readonly string[]>;
	/** Bytes of all files of the queue. */
	fileBytes(): Promise<number>;
}

export async function openRotationWorld(url: string): Promise<RotationWorld> {
	const server = { url };
	const store = openMysqlJobStore({
		queues: [{ range: [0, 0], primary: url }],
		// On busy cores a server is slow, and a process is not started twice.
		limits: { connectMs: 30_000, readMs: 30_000, writeMs: 30_000 },
	});
	const partitions = async () => {
		const rows = await ask(
			server,
			`SELECT partition_description AS end FROM information_schema.partitions
				WHERE table_schema = '${DATABASE}' AND table_name = 'jobs_${QUEUE}'`,
		);
		return rows
			.map(({ end }) => Number(end) - 1)
			.filter(Number.isFinite)
			.sort((one, other) => one - other);
	};
	const hour = async () => hourOf(await store.now(0));
	return {
		store,
		hour,
		partitions,
		async addSpan(bucket) {
			const hours = await partitions();
			const next = hours.find((hour) => hour >= bucket);
			if (next === undefined) throw new TypeError(`${bucket} is not past`);
			if (next === bucket) return;
			await ask(
				server,
				`ALTER TABLE ${JOBS} REORGANIZE PARTITION h${next} INTO (
					PARTITION h${bucket} VALUES LESS THAN (${bucket + 1}),
					PARTITION h${next} VALUES LESS THAN (${next + 1}))`,
			);
		},
		async fill(bucket, filling, bodyBytes = 100) {
			const now = (await hour()) * HOUR_US;
			const ended = (bucket + 1) * HOUR_US;
			const states = [
				["pending", 0, ended - HOUR_US],
				["running", 1, now + 100 * HOUR_US],
				["succeeded", 2, ended],
				["failed", 3, now - HOUR_US],
			] as const;
			const kept: string[] = [];
			for (const [name, state, at] of states) {
				const ids = Array.from({ length: filling[name] ?? 0 }, () =>
					newLocalId(),
				);
				if (ids.length === 0) continue;
				if (name !== "succeeded") kept.push(...ids);
				for (let at_ = 0; at_ < ids.length; at_ += 1_000) {
					const rows = ids
						.slice(at_, at_ + 1_000)
						.map(
							(id) =>
								`(x'${id}', ${bucket}, ${state}, 1, ${at}, 7, 1, 2, ${at}, NULL, '', REPEAT('x', ${bodyBytes}))`,
						);
					await ask(server, `INSERT INTO ${JOBS} VALUES ${rows.join(", ")}`);
				}
			}
			return kept;
		},
		async jobs() {
			const rows = await ask(
				server,
				`SELECT LOWER(HEX(local_id)) AS id, bucket, state FROM ${JOBS}`,
			);
			return rows as unknown as readonly StoredJob[];
		},
		async outTables() {
			const rows = await ask(
				server,
				`SELECT table_name AS name FROM information_schema.tables
					WHERE table_schema = '${DATABASE}' AND table_name LIKE 'out%'`,
			);
			return rows.map(({ name }) => String(name));
		},
		async fileBytes() {
			const [row] = await ask(server, "SELECT @@datadir AS folder");
			const folder = join(String(row?.folder), DATABASE);
			const names = (await readdir(folder)).filter((name) =>
				/^(jobs|out)_/.test(name),
			);
			const sizes = await Promise.all(
				names.map(async (name) => (await stat(join(folder, name))).size),
			);
			return sizes.reduce((sum, size) => sum + size, 0);
		},
		[Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
	};
}

/** As in ./mysqlStorage.ts, without what that opens: processes of tests start with it. */
async function ask(
	{ url }: { readonly url: string },
	...statements: readonly string[]
): Promise<readonly RowDataPacket[]> {
	const connection = await createConnection({
		uri: url,
		connectTimeout: 60_000,
	});
	try {
		let rows: RowDataPacket[] = [];
		for (const sql of statements) {
			[rows] = await connection.query<RowDataPacket[]>({
				sql,
				timeout: 60_000,
			});
		}
		return rows;
	} finally {
		connection.destroy();
	}
}
