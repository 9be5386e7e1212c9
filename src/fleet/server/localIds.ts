import { MAX_LOCAL } from "../../id/ids.ts";
import type { FleetServer } from "./fleetServer.ts";

/** Tables of one statement. */
const TABLES = 100;

export interface Counter {
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
	const rows = await server.freshRows(
		"counters",
		`SELECT t.table_schema, t.table_name, c.column_name, t.auto_increment
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

/** The highest local id that each table holds, given as `database.table`; none for an empty one. */
export async function highestIds(
	server: FleetServer,
	tables: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
	const highest = new Map<string, bigint>();
	for (let at = 0; at < tables.length; at += TABLES) {
		const texts = tables
			.slice(at, at + TABLES)
			.map(
				(name) =>
					`SELECT '${name}', MAX(local_id) FROM \`${name.replace(".", "`.`")}\``,
			);
		const found = await server.rows("highest ids", texts.join(" UNION ALL "));
		for (const [name, id] of found) {
			if (id !== null) highest.set(String(name), BigInt(String(id)));
		}
	}
	return highest;
}

/** A sentence for what is wrong with the local ids of some databases: a restored table may lack its counter, or have one that gives ids a second time. */
export async function counterFaults(
	server: FleetServer,
	databases: readonly string[],
): Promise<readonly string[]> {
	if (databases.length === 0) return [];
	const rows = await server.rows(
		"local ids",
		`SELECT table_schema, table_name, extra = 'auto_increment'
			FROM information_schema.columns
			WHERE table_schema IN (?) AND column_name = 'local_id'
				AND data_type = 'bigint'`,
		[databases],
	);
	const tables = rows.map(([schema, table, counts]) => ({
		name: `${schema}.${table}`,
		hasCounter: String(counts) === "1",
	}));
	// Before the counters, which only grow.
	const highest = await highestIds(
		server,
		tables.map(({ name }) => name),
	);
	const counters = await readCounters(server, databases);
	return [
		sentence(
			tables.filter(({ hasCounter }) => !hasCounter).map(({ name }) => name),
			"has no AUTO_INCREMENT, so nothing can be created in it: give local_id its AUTO_INCREMENT back, then run corkboard hosts raise-ids",
		),
		sentence(
			tables
				.map(({ name }) => name)
				.filter((name) => {
					const counter = counters.get(name);
					return (
						counter !== undefined &&
						(counter.next ?? 1n) <= (highest.get(name) ?? 0n)
					);
				}),
			"would give local ids that it has stored: run corkboard hosts raise-ids",
		),
		sentence(
			[...counters].flatMap(([name, { next }]) =>
				(next ?? 1n) > BigInt(MAX_LOCAL) ? [name] : [],
			),
			"has given all local ids that 36 bits hold",
		),
	].flat();

	function sentence(names: readonly string[], what: string) {
		const more =
			names.length > 1 ? ` (the same of ${names.length - 1} more)` : "";
		return names.length === 0
			? []
			: [`${server.name}: ${names[0]} ${what}${more}.`];
	}
}
