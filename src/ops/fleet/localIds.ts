import type { FleetServer } from "./fleetServer.ts";

/** How far the counters of a promoted server are raised. 36 bits of local ids hold 68,719 such jumps. */
const JUMP = 1_000_000;
/** Tables of one transaction. */
const TABLES = 100;

interface Counter {
	readonly schema: string;
	readonly table: string;
	readonly column: string;
	/** The next id; null: not given yet. */
	readonly next: bigint | null;
}

/** The counters of the tables of some databases, by `database.table`. */
export async function readCounters(
	server: FleetServer,
	databases: readonly string[],
): Promise<ReadonlyMap<string, Counter>> {
	const rows = await server.rows(
		"counters",
		`SELECT /*+ SET_VAR(information_schema_stats_expiry = 0) */
				t.table_schema, t.table_name, c.column_name, t.auto_increment
			FROM information_schema.tables AS t
			JOIN information_schema.columns AS c
				ON c.table_schema = t.table_schema AND c.table_name = t.table_name
					AND c.extra = 'auto_increment'
			WHERE t.table_schema IN (?)`,
		[databases],
	);
	return new Map(
		rows.map(([schema, table, column, next]) => [
			`${schema}.${table}`,
			{
				schema: String(schema),
				table: String(table),
				column: String(column),
				next: next === null ? null : BigInt(String(next)),
			},
		]),
	);
}

/**
 * Raises the counters of these tables by a million: a row that far on is inserted
 * and rolled back, which is durable and five times faster than ALTER TABLE.
 * Ids that the old primary gave out and this server never saw are not given out again.
 */
export async function raiseLocalIds(
	server: FleetServer,
	counters: Iterable<Counter>,
): Promise<number> {
	const all = [...counters];
	for (let at = 0; at < all.length; at += TABLES) {
		const some = all.slice(at, at + TABLES);
		const texts = await Promise.all(
			some.map((each) => insertFar(server, each)),
		);
		await server.runAndRollBack("raise ids", texts);
	}
	return all.length;
}

async function insertFar(
	server: FleetServer,
	{ schema, table, column, next }: Counter,
): Promise<string> {
	const columns = await server.rows(
		"columns",
		`SELECT column_name, data_type FROM information_schema.columns
			WHERE table_schema = ? AND table_name = ? AND column_name <> ?
				AND is_nullable = 'NO' AND column_default IS NULL AND extra = ''`,
		[schema, table, column],
	);
	const names = columns.map(([name]) => `\`${name}\``);
	const values = columns.map(([, type]) =>
		/int|decimal|float|double/.test(String(type)) ? "0" : "''",
	);
	const id = (next ?? 1n) + BigInt(JUMP);
	return `INSERT INTO \`${schema}\`.\`${table}\` (${[`\`${column}\``, ...names].join(", ")}) VALUES (${[String(id), ...values].join(", ")})`;
}
