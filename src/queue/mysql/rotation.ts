import { setTimeout as sleep } from "node:timers/promises";
import { CHANNELS, type QueueRotation } from "../../diagnostics.ts";
import type { Host, MysqlSession } from "../../storage/mysql/driver/host.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { deadlineIn } from "../../util/deadline.ts";
import { hourOf } from "../bucket.ts";
import type { Place } from "../jobStore.ts";
import type {
	GivenBack,
	Keep,
	Made,
	Refused,
	RotationStep,
	Round,
	Span,
} from "../rotationStore.ts";
import { LATER, partitionOf } from "./ddl.ts";
import { tableUse } from "./metadataLocks.ts";
import { moveJobs } from "./moveJobs.ts";
import { isNoTable } from "./queueCall.ts";
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
import { listSpans } from "./spans.ts";

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

/** For the statements of one call; dropping a file of 100 GB takes a while. Milliseconds. */
const CALL_MS = 600_000;

/** For the statements that take and end a round. Milliseconds. */
const ROUND_MS = 10_000;

/** How long a statement that changes the table may wait for others, who all wait behind it. MySQL's least. Seconds. */
const DDL_WAIT_S = 1;

/** How often MariaDB is asked to change the table at once, without waiting, and how long is waited between. */
const TRIES = 20;
const BETWEEN_TRIES_MS = 15;

/** The server ends a session that holds the table locked and says nothing for so long. Seconds. */
const LOCKED_SILENCE_S = 2;

/** Partitions that one statement makes or drops: each takes its time, and statements on jobs wait. */
const PARTITIONS_AT_ONCE = 2;
/** Between two such statements: so many times as long as the last one took. */
const REST = 10;
const MOST_REST_MS = 2_000;

const LOCK_WAIT_TIMEOUT = 1205;

/** Keeps no finished job. */
const UNFINISHED: Keep = {
	succeededAfter: Number.MAX_SAFE_INTEGER,
	failedAfter: Number.MAX_SAFE_INTEGER,
};

/** Where the jobs of a queue are. */
export interface QueueDatabase {
	readonly host: Host;
	readonly database: string;
	readonly at: Place;
}

export function spans(
	database: QueueDatabase,
	keep: Keep,
): Promise<readonly Span[]> {
	return inSession(database, (session, tables) =>
		listSpans(session, tables, keep),
	);
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
		// So that a process that stands still does not keep the table locked.
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

/**
 * Changes the table of jobs, if nobody has been using it for long, and reports
 * how long it took, which is how long a statement on jobs may have had to wait.
 * Milliseconds.
 */
async function change(
	database: QueueDatabase,
	session: MysqlSession,
	tables: RotatedQueue,
	step: RotationStep,
	text: (wait: string) => string,
): Promise<number | Refused> {
	const wait = await waitFor(session, tables);
	if (typeof wait !== "string") {
		report(database, step, null, false);
		return wait;
	}
	let began = 0;
	const refused = await tried(session, wait, (wait) => {
		began = performance.now();
		return { name: `${step} ${tables.queue}`, text: text(wait), values: [] };
	});
	const ms = performance.now() - began;
	report(database, step, ms, refused === null);
	return refused ?? ms;
}

/** What DDL says of waiting: nothing on MySQL, where the session's setting holds. */
async function waitFor(
	session: MysqlSession,
	{ database, queue }: RotatedQueue,
): Promise<string | Refused> {
	const use = await tableUse(session, database, `jobs_${queue}`);
	if (use === "used") {
		return {
			refused: `another session has been using the table jobs_${queue} for some time, such as a dump or an open transaction`,
		};
	}
	if (session.product === "MySQL") return "";
	return use === "free" ? `WAIT ${DDL_WAIT_S}` : "NOWAIT";
}

/** Null once the server did it. A statement that does not wait is tried some times: short transactions come and go. */
async function tried(
	session: MysqlSession,
	wait: string,
	sql: (wait: string) => Sql,
): Promise<Refused | null> {
	const tries = session.product === "MySQL" ? 1 : TRIES;
	for (let at = 1; ; at++) {
		const isLast = at === tries;
		try {
			await session.run(sql(isLast || wait === "" ? wait : "NOWAIT"));
			return null;
		} catch (thrown) {
			const isWaiting =
				thrown instanceof StorageFailure && thrown.errno === LOCK_WAIT_TIMEOUT;
			if (!isWaiting) throw thrown;
			if (isLast) {
				return { refused: "others kept using the table" };
			}
			await sleep(BETWEEN_TRIES_MS * (1 + Math.random()));
		}
	}
}

/** Runs with the queue's named lock, which no two sessions have. */
async function alone<T>(
	database: QueueDatabase,
	body: (session: MysqlSession, tables: RotatedQueue) => Promise<T | Refused>,
): Promise<T | Refused> {
	return inSession(database, async (session, tables) => {
		const values = [`rotate ${tables.database}.${tables.queue}`];
		const [got] = await session.rows({
			name: "rotation lock",
			text: "SELECT GET_LOCK(?, 0)",
			values,
		});
		if (Number(got?.[0]) !== 1) {
			return { refused: "another process rotates the queue", isUnderWay: true };
		}
		try {
			return await body(session, tables);
		} finally {
			// If the session was lost, the server does it.
			await session
				.rows({
					name: "rotation unlock",
					text: "SELECT RELEASE_LOCK(?)",
					values,
				})
				.catch(() => {});
		}
	});
}

function inSession<T>(
	{ host, database, at }: QueueDatabase,
	body: (session: MysqlSession, tables: RotatedQueue) => Promise<T>,
): Promise<T> {
	const options = { shard: at.shard, deadline: deadlineIn(CALL_MS) };
	return host.session(options, async (session) => {
		const settings = [
			// Without it MariaDB's EXCHANGE waits for a lock that its own session has.
			"autocommit = 1",
			`lock_wait_timeout = ${DDL_WAIT_S}`,
		];
		if (session.product === "MySQL") {
			// Else it answers with yesterday's sizes.
			settings.push("information_schema_stats_expiry = 0");
		}
		await run(
			session,
			"rotation session",
			`SET SESSION ${settings.join(", ")}`,
		);
		return body(session, rotatedQueue(database, at.queue));
	});
}

async function run(
	session: MysqlSession,
	name: string,
	text: string,
): Promise<void> {
	await session.run({ name, text, values: [] });
}

/** `stallMs`: how long statements on jobs may have waited for this one. */
function report(
	{ at, host }: QueueDatabase,
	step: RotationStep,
	stallMs: number | null = null,
	isDone = true,
): void {
	if (!CHANNELS.queueRotation.hasSubscribers) return;
	CHANNELS.queueRotation.publish({
		kind: "step",
		...at,
		host: host.name,
		step,
		isDone,
		stallMs,
	} satisfies QueueRotation);
}

export async function takeRound(
	{ host, database, at }: QueueDatabase,
	everyMs: number,
): Promise<Round | null> {
	const tables = rotatedQueue(database, at.queue);
	const options = { shard: at.shard, deadline: deadlineIn(ROUND_MS) };
	const take: Sql = {
		name: `take rotation ${at.queue}`,
		text: `UPDATE ${tables.rotations} SET next_at = ${NOW} + ?
			WHERE name = ? AND next_at <= ${NOW}`,
		values: [everyMs * 1_000, at.queue],
	};
	const read = () =>
		host.rows(
			{
				name: `read rotation ${at.queue}`,
				text: `SELECT ${NOW}, refusals, refused_since, changes_at
					FROM ${tables.rotations} WHERE name = ?`,
				values: [at.queue],
			},
			options,
		);
	if ((await host.run(take, options)).affectedRows === 0) {
		if ((await read()).length > 0) return null;
		const first: Sql = {
			name: `first rotation ${at.queue}`,
			text: `INSERT INTO ${tables.rotations} (name, next_at, refusals, refused_since, changes_at)
				VALUES (?, 0, 0, 0, 0) ON DUPLICATE KEY UPDATE name = name`,
			values: [at.queue],
		};
		await host.run(first, options);
		if ((await host.run(take, options)).affectedRows === 0) return null;
	}
	const [row] = await read();
	if (row === undefined) return null;
	const [now = 0, refusals = 0, since = 0, changesAt = 0] = row.map(Number);
	return { now, refusals, refusedSince: since || null, changesAt };
}

export async function endRound(
	{ host, database, at }: QueueDatabase,
	{ refusals, refusedSince, changesAt }: Round,
): Promise<void> {
	const { rotations } = rotatedQueue(database, at.queue);
	await host.run(
		{
			name: `end rotation ${at.queue}`,
			text: `UPDATE ${rotations} SET refusals = ?, refused_since = ?, changes_at = ?
				WHERE name = ?`,
			values: [refusals, refusedSince ?? 0, changesAt, at.queue],
		},
		{ shard: at.shard, deadline: deadlineIn(ROUND_MS) },
	);
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
		deadline: deadlineIn(ROUND_MS),
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
				// Whoever dropped it has stored its jobs.
				if (!isNoTable(thrown)) throw thrown;
			}
		});
	}
}
