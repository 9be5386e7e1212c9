import type { FleetServer } from "../server/fleetServer.ts";

/**
 * A fence of a database: MySQL refuses every write to it, also after a restart, and
 * goes on answering reads. It is in the binary log, so that replicas have it too.
 */

/** For so long a connection is in use, so that the next one is opened. Seconds. */
const HELD_S = 0.05;
/** A fence that is lifted waits for nobody who writes. Milliseconds. */
const LIFT_MS = 10_000;

/** Opens the connections that the fence will go over: then there is no time for that. */
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
 * holds its operation: a process that stood still since sends nothing. Reads of a
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
		: `not all databases were fenced within ${Math.round(ms)} ms, for open transactions or a busy server: ${(failed.reason as Error).message}`;
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
