import type { FleetServer } from "./fleetServer.ts";

/** One that is held for less is of a statement or a commit that ends by itself. Seconds. */
const HELD_S = 1;

/**
 * Clients that hold what `super_read_only` has to wait for, such as LOCK TABLES or a
 * commit that waits for a semi-synchronous replica: all writes of the server would wait
 * with it. Empty also if the performance schema is off.
 */
export async function lockHolders(
	server: FleetServer,
): Promise<readonly string[]> {
	const rows = await server.rows(
		"lock holders",
		`SELECT DISTINCT list.id, list.user, list.host, list.time
			FROM performance_schema.metadata_locks locks
			JOIN performance_schema.threads threads ON threads.thread_id = locks.owner_thread_id
			JOIN information_schema.processlist list ON list.id = threads.processlist_id
			WHERE locks.object_type IN ('GLOBAL', 'COMMIT') AND locks.lock_type = 'INTENTION_EXCLUSIVE'
				AND locks.lock_status = 'GRANTED' AND list.user <> 'system user'
				AND list.time > ? AND list.id <> CONNECTION_ID()
			ORDER BY list.time DESC`,
		[HELD_S],
	);
	return rows.map(
		([id, user, host, seconds]) =>
			`connection ${id} of ${user}@${host}, for ${seconds} s`,
	);
}
