import { setTimeout as sleep } from "node:timers/promises";
import type { MysqlSession } from "../../../storage/mysql/driver/host.ts";
import { type Deadline, deadlineIn } from "../../../util/deadline.ts";
import { hourOf } from "../../bucket.ts";
import type {
	GivenBack,
	Keep,
	Made,
	Refused,
	Span,
} from "../../rotationStore.ts";
import { LATER, partitionOf } from "../ddl.ts";
import { isNoTable } from "../queueCall.ts";
import { change, tried, waitFor } from "./changeTable.ts";
import { moveJobs } from "./moveJobs.ts";
import {
	alone,
	inSession,
	type QueueDatabase,
	report,
	run,
} from "./rotationSession.ts";
import {
	createOut,
	NOW,
	outBucket,
	outTable,
	outTablesOf,
	partitionsOf,
	type RotatedQueue,
	rotatedQueue,
} from "./rotationSql.ts";
import { listSpans, readBytes } from "./spans.ts";

/*
 * Rotation on MySQL and MariaDB.
 *
 * A span is a partition. It is given back in three statements: EXCHANGE PARTITION
 * swaps it with an empty table, which is quick whatever its size; what is to be
 * kept of that table is stored again; the table is dropped, and no statement on
 * jobs waits while its file goes. Nothing is lost:
 *
 * - The exchange waits for every transaction that used the table, so each row
 *   that was acknowledged by then is in the out table or in another partition.
 * - Nobody inserts into the out table, and it is dropped only after the
 *   transaction that stored its rows to be kept elsewhere has committed.
 * - A row that comes later, of a client that chose its bucket long ago, is in the
 *   emptied partition, which is dropped only under a lock that keeps writers out,
 *   and after a look.
 *
 * To look first and then DROP PARTITION is not the same: DROP waits for the
 * transactions that use the table, and then deletes what they have committed
 * since the look (test/suites/queueRotation.ts shows it), and it keeps all
 * statements waiting until the file is gone.
 *
 * One session does it, holding a named lock, which the server releases when
 * the session ends: so two processes cannot be at it at once.
 */

/** To read the names of tables. Milliseconds. */
const READ_MS = 10_000;

/** The server ends a session that holds the table locked and says nothing for so long. Seconds. */
const LOCKED_SILENCE_S = 2;

/** Partitions that one statement makes or drops: each takes its time, and statements on jobs wait. */
const PARTITIONS_AT_ONCE = 2;
/** Between two such statements: so many times as long as the last one took. */
const REST = 10;
const MOST_REST_MS = 2_000;

/** Keeps no finished job. */
const UNFINISHED: Keep = {
	succeededAfter: Number.MAX_SAFE_INTEGER,
	failedAfter: Number.MAX_SAFE_INTEGER,
};

export function spans(
	database: QueueDatabase,
	keep: Keep,
): Promise<readonly Span[]> {
	return inSession(database, (session, tables) =>
		listSpans(session, tables, keep),
	);
}

/** The size of the partitions, of the tables swapped out, and of the keys. */
export function bytesOfQueue(
	database: QueueDatabase,
	deadline: Deadline,
): Promise<number> {
	return inSession(database, readBytes, deadline);
}

export async function moveOn(
	database: QueueDatabase,
	span: Span,
	keep: Keep,
	limit: number,
): Promise<number> {
	const partition = `h${span.bucket}`;
	return inSession(database, (session, tables) =>
		moveJobs(session, tables, { partition }, keep, limit, (step) =>
			report(database, step),
		),
	);
}

export async function ahead(
	database: QueueDatabase,
	hours: number,
): Promise<Made> {
	return alone(database, async (session, tables) => {
		let made = 0;
		let restMs = 0;
		for (;;) {
			const [last, until] = await lastHour(session, tables, hours);
			if (last >= until) return { spans: made };
			await sleep(Math.min(restMs, MOST_REST_MS));
			const isEmpty = await isEmptyPartition(session, tables, ["later"]);
			// What is in the last partition is copied: once, not in steps.
			// Hours that nobody made spans for become one.
			const first = Math.max(last + 1, until - hours);
			const next = isEmpty
				? Math.min(first + PARTITIONS_AT_ONCE - 1, until)
				: until;
			const parts: string[] = [];
			for (let hour = first; hour <= next; hour++) {
				parts.push(partitionOf(hour));
			}
			const outcome = await change(
				database,
				session,
				tables,
				"made spans ahead",
				(wait) =>
					`ALTER TABLE ${tables.jobs} ${wait} REORGANIZE PARTITION later INTO
						(${[...parts, LATER].join(", ")})`,
			);
			if (typeof outcome !== "number") return outcome;
			made += parts.length;
			restMs = outcome * REST;
		}
	});
}

export function giveBack(
	database: QueueDatabase,
	span: Span,
	keep: Keep,
): Promise<GivenBack> {
	return alone(database, async (session, tables) => {
		const { bucket, bytes } = span;
		if (!span.isSwappedOut) {
			const refused = await swapOut(database, session, tables, bucket);
			if (refused !== null) return refused;
		}
		let rescued = 0;
		for (;;) {
			const moved = await moveJobs(
				session,
				tables,
				{ outBucket: bucket },
				keep,
				RESCUED_AT_ONCE,
				(step) => report(database, step),
			);
			if (moved === 0) break;
			rescued += moved;
		}
		await run(
			session,
			"drop out table",
			`DROP TABLE IF EXISTS ${outTable(tables, bucket)}`,
		);
		report(database, "dropped out table");
		return { bytes, rescued, isDone: true };
	});
}

const RESCUED_AT_ONCE = 500;

/** Null if the span is in its out table now. */
async function swapOut(
	database: QueueDatabase,
	session: MysqlSession,
	tables: RotatedQueue,
	bucket: number,
): Promise<Refused | null> {
	const [shown] = await session.rows({
		name: "show jobs",
		text: `SHOW CREATE TABLE ${tables.jobs}`,
		values: [],
	});
	await run(session, "create out table", createOut(tables, bucket, shown?.[1]));
	report(database, "created out table");
	const outcome = await change(
		database,
		session,
		tables,
		"exchanged partition",
		(wait) =>
			`ALTER TABLE ${tables.jobs} ${wait}
				EXCHANGE PARTITION h${bucket} WITH TABLE ${outTable(tables, bucket)}`,
	);
	if (typeof outcome === "number") return null;
	await run(
		session,
		"drop out table",
		`DROP TABLE ${outTable(tables, bucket)}`,
	);
	return outcome;
}

export function dropEmpty(database: QueueDatabase): Promise<Made> {
	return alone(database, async (session, tables) => {
		const empty = (await listSpans(session, tables, UNFINISHED))
			.filter((span) => span.isEmpty && !span.isSwappedOut)
			.slice(0, PARTITIONS_AT_ONCE)
			.map(({ bucket }) => `h${bucket}`);
		if (empty.length === 0) return { spans: 0 };
		const wait = await waitFor(session, tables);
		if (typeof wait !== "string") {
			report(database, "locked table", null, false);
			return wait;
		}
		// So that a process that is paused does not keep the table locked.
		await run(
			session,
			"limit silence",
			`SET SESSION wait_timeout = ${LOCKED_SILENCE_S}`,
		);
		const began = performance.now();
		const locked = await tried(session, wait, (wait) => ({
			name: `lock ${tables.queue}`,
			text: `LOCK TABLES ${tables.jobs} WRITE ${wait}`,
			values: [],
		}));
		if (locked !== null) {
			report(database, "locked table", performance.now() - began, false);
			return locked;
		}
		try {
			report(database, "locked table");
			const stillEmpty = await isEmptyPartition(session, tables, empty);
			report(database, "looked into empty partitions");
			if (!stillEmpty) return { spans: 0 };
			await run(
				session,
				`drop empty ${tables.queue}`,
				`ALTER TABLE ${tables.jobs} DROP PARTITION ${empty.join(", ")}`,
			);
			report(database, "dropped empty partitions");
			return { spans: empty.length };
		} finally {
			await run(session, `unlock ${tables.queue}`, "UNLOCK TABLES");
			report(database, "unlocked table", performance.now() - began);
		}
	});
}

async function isEmptyPartition(
	session: MysqlSession,
	{ jobs, queue }: RotatedQueue,
	partitions: readonly string[],
): Promise<boolean> {
	const rows = await session.rows({
		name: `look into partitions ${queue}`,
		text: `SELECT bucket FROM ${jobs} PARTITION (${partitions.join(", ")}) LIMIT 1`,
		values: [],
	});
	return rows.length === 0;
}

/** The last hour that has a partition, and the one that shall have. */
async function lastHour(
	session: MysqlSession,
	tables: RotatedQueue,
	hours: number,
): Promise<readonly [last: number, until: number]> {
	const partitions = await session.rows(partitionsOf(tables));
	const [now] = await session.rows({
		name: "now",
		text: `SELECT ${NOW}`,
		values: [],
	});
	const until = hourOf(Number(now?.[0])) + hours;
	const ends = partitions
		.map(([, end]) => Number(end))
		.filter((end) => Number.isFinite(end));
	return [Math.max(...ends) - 1, until];
}

/** What rotation has of a queue that is deleted: tables that are swapped out, and its rounds. */
export async function forgetQueue(database: QueueDatabase): Promise<void> {
	await inSession(database, async (session, tables) => {
		for (const [name] of await session.rows(outTablesOf(tables))) {
			await run(
				session,
				"drop out table",
				`DROP TABLE IF EXISTS ${outTable(tables, outBucket(name))}`,
			);
		}
		await session.run({
			name: `forget rotation ${tables.queue}`,
			text: `DELETE FROM ${tables.rotations} WHERE name = ?`,
			values: [tables.queue],
		});
	});
}

/** Stores pending and running jobs again that are swapped out, for who misses one. */
export async function bringBack(database: QueueDatabase): Promise<void> {
	const { host, at } = database;
	const tables = rotatedQueue(database.database, at.queue);
	const outTables = await host.rows(outTablesOf(tables), {
		shard: at.shard,
		deadline: deadlineIn(READ_MS),
	});
	for (const [name] of outTables) {
		await inSession(database, async (session) => {
			const source = { outBucket: outBucket(name) };
			try {
				while (
					(await moveJobs(
						session,
						tables,
						source,
						UNFINISHED,
						RESCUED_AT_ONCE,
					)) > 0
				);
			} catch (thrown) {
				// The process that dropped it has stored its jobs.
				if (!isNoTable(thrown)) throw thrown;
			}
		});
	}
}
