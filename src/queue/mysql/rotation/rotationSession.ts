import type { Host, MysqlSession } from "../../../storage/mysql/driver/host.ts";
import { type Deadline, deadlineIn } from "../../../util/deadline.ts";
import { QUEUE_CHANNELS } from "../../diagnostics.ts";
import type { ShardOfQueue } from "../../jobStore.ts";
import type { Refused, RotationStep } from "../../rotationStore.ts";
import { type RotatedQueue, rotatedQueue } from "./rotationSql.ts";

/** For the statements of one call; dropping a file of 100 GB takes a while. Milliseconds. */
const CALL_MS = 600_000;

/** How long a statement that changes the table may wait for others, who all wait behind it. MySQL's least. Seconds. */
export const DDL_WAIT_S = 1;

/** Where the jobs of a queue are. */
export interface QueueDatabase {
	readonly host: Host;
	readonly database: string;
	readonly at: ShardOfQueue;
}

/** Runs with the queue's named lock, which no two sessions have. */
export async function alone<T>(
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

export function inSession<T>(
	{ host, database, at }: QueueDatabase,
	body: (session: MysqlSession, tables: RotatedQueue) => Promise<T>,
	deadline: Deadline = deadlineIn(CALL_MS),
): Promise<T> {
	const options = { shard: at.shard, deadline };
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

export async function run(
	session: MysqlSession,
	name: string,
	text: string,
): Promise<void> {
	await session.run({ name, text, values: [] });
}

/** `stallMs`: how long statements on jobs may have waited for this one. */
export function report(
	{ at, host }: QueueDatabase,
	step: RotationStep,
	stallMs: number | null = null,
	isDone = true,
): void {
	if (!QUEUE_CHANNELS.queueRotation.hasSubscribers) return;
	QUEUE_CHANNELS.queueRotation.publish({
		kind: "step",
		...at,
		host: host.name,
		step,
		isDone,
		stallMs,
	});
}
