import type { FleetServer } from "../server/fleetServer.ts";

/**
 * A fence of a database: MySQL refuses every write to it, also after a restart, and
 * goes on answering reads. It is in the binary log, so that replicas have it too.
 */

/** How long one may wait for transactions to end: reads of its database queue behind it meanwhile. Milliseconds. */
const FENCE_MS = 150;
/** A fence that is lifted waits for nobody who writes. Milliseconds. */
const LIFT_MS = 10_000;

/**
 * Fences the databases side by side. Returns null when all are, and else why one is
 * not; some may be then. `ms` counts from the moment at which the caller knew that it
 * holds its operation: a process that stood still since sends nothing.
 */
export async function fence(
	server: FleetServer,
	databases: readonly string[],
	ms = FENCE_MS,
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
		: `a transaction was in the way of the fence: ${(failed.reason as Error).message}`;
}

/** Those of the databases that are fenced. */
export async function fencedOf(
	server: FleetServer,
	databases: readonly string[],
): Promise<readonly string[]> {
	if (databases.length === 0) return [];
	const rows = await server.rows(
		"fences",
		"SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%' AND schema_name IN (?)",
		[databases],
	);
	return rows.map(([name]) => String(name));
}

/** Lifts the fences that there are. */
export async function liftFences(
	server: FleetServer,
	databases: readonly string[],
): Promise<void> {
	const fenced = await fencedOf(server, databases);
	await Promise.all(
		fenced.map((database) =>
			server.run(
				"lift fence",
				`ALTER DATABASE \`${database}\` READ ONLY = 0`,
				[],
				LIFT_MS,
			),
		),
	);
}
