import { reasonOf } from "../../util/reasonOf.ts";
import type { FleetServer } from "../server/fleetServer.ts";

/**
 * A fence of a database: MySQL refuses every write to it, even after a restart, and
 * keeps answering reads. It is in the binary log, so that replicas have it too.
 */

/** For so long a connection is in use, so that the next one is opened. Seconds. */
const HELD_S = 0.05;

/** Opens the connections that the fence will use: then there is no time for that. */
export async function openConnections(
	server: FleetServer,
	count: number,
): Promise<void> {
	const held = () => server.rows("open", `SELECT SLEEP(${HELD_S})`);
	await Promise.all(Array.from({ length: count }, held));
}

/**
 * Fences the databases side by side. Returns null when all are, and else why one is
 * not; some may be then. `ms` counts from the moment at which the caller knew that it
 * holds its operation: a process that was paused since sends nothing. Reads of a
 * database queue behind a fence that waits for transactions to end.
 */
export async function fence(
	server: FleetServer,
	databases: readonly string[],
	ms: number,
): Promise<string | null> {
	const done = await Promise.allSettled(
		databases.map((database) =>
			server.run(
				"fence",
				`ALTER DATABASE \`${database}\` READ ONLY = 1`,
				[],
				ms,
			),
		),
	);
	const failed = done.find((each) => each.status === "rejected");
	return failed === undefined
		? null
		: `not all databases were fenced within ${Math.round(ms)} ms, for open transactions or a busy server: ${reasonOf(failed.reason)}`;
}

/** A client's transaction that would hold a fence up. */
interface Blocker {
	/** For KILL. */
	readonly connection: number;
	/** `reports@10.0.0.5:41812` */
	readonly who: string;
	readonly seconds: number;
	/** Whether it has used the databases; else the server does not say what it has used. */
	readonly isSure: boolean;
}

/** Those that are open for longer than some seconds, the longest first: of these databases, if the performance schema is on. */
export async function blockersOf(
	server: FleetServer,
	databases: readonly string[],
	seconds: number,
): Promise<readonly Blocker[]> {
	const rows = await server.rows(
		"blockers",
		`SELECT list.id, list.user, list.host,
				TIMESTAMPDIFF(SECOND, trx.trx_started, NOW()), @@GLOBAL.performance_schema
			FROM information_schema.innodb_trx trx
			JOIN information_schema.processlist list ON list.id = trx.trx_mysql_thread_id
			WHERE trx.trx_started < NOW(6) - INTERVAL ? SECOND AND list.user <> 'system user'
				AND (@@GLOBAL.performance_schema = 0 OR EXISTS (
					SELECT 1 FROM performance_schema.metadata_locks locks
					JOIN performance_schema.threads threads ON threads.thread_id = locks.owner_thread_id
					WHERE threads.processlist_id = list.id AND locks.lock_status = 'GRANTED'
						AND locks.object_type IN ('TABLE', 'SCHEMA') AND locks.object_schema IN (?)))
			ORDER BY trx.trx_started`,
		[seconds, databases],
	);
	return rows.map(([connection, user, host, open, isSure]) => ({
		connection: Number(connection),
		who: `${user}@${host}`,
		seconds: Number(open),
		isSure: Number(isSure) === 1,
	}));
}

/** Ends those that have used the databases: what they have not committed is rolled back. */
export async function killBlockers(
	server: FleetServer,
	blockers: readonly Blocker[],
): Promise<void> {
	for (const { connection, isSure } of blockers) {
		if (!isSure) continue;
		await server.run("kill blocker", `KILL ${connection}`).catch(() => {
			// It has ended by itself, or may not be killed: the next look finds it.
		});
	}
}
