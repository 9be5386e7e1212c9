import type { FleetServer } from "./fleetServer.ts";

/** A fence that is lifted waits for nobody who writes. Milliseconds. */
const LIFT_MS = 10_000;

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
