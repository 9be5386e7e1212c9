import { setTimeout as sleep } from "node:timers/promises";
import type { MysqlSession } from "../../../storage/mysql/driver/host.ts";
import type { Sql } from "../../../storage/mysql/driver/mysqlConnection.ts";
import { StorageFailure } from "../../../storage/storageFailure.ts";
import type { Refused, RotationStep } from "../../rotationStore.ts";
import { tableUse } from "./metadataLocks.ts";
import { DDL_WAIT_S, type QueueDatabase, report } from "./rotationSession.ts";
import type { RotatedQueue } from "./rotationSql.ts";

/** How often MariaDB is asked to change the table at once, without waiting, and how long is waited between. */
const TRIES = 20;
const BETWEEN_TRIES_MS = 15;

const LOCK_WAIT_TIMEOUT = 1205;

/**
 * Changes the table of jobs, if nobody has been using it for long, and reports
 * how long it took, which is how long a statement on jobs may have had to wait.
 * Milliseconds.
 */
export async function change(
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

/** What DDL says of waiting: nothing on MySQL, because the session's setting holds there. */
export async function waitFor(
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
export async function tried(
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
