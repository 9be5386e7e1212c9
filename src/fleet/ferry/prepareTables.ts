import { CorkboardError } from "../../errors.ts";
import type { FerryOptions } from "./ferryOptions.ts";
import type { FerryState } from "./ferryState.ts";
import { type MovedTable, readMovedTables } from "./movedTables.ts";
import { quoted, tableIn } from "./rowSql.ts";

type DatabaseOf = (table: MovedTable) => string;

/** See `Ferry.prepare`. */
export async function prepareTables(
	options: FerryOptions,
	state: FerryState,
	tables: readonly MovedTable[],
	databaseOf: DatabaseOf,
): Promise<void> {
	const { source, target, databases, from } = options;
	const own = await state.databases();
	if (from === null) {
		const names = databases.map((database) => database.target);
		const there = await target.rows(
			"databases",
			"SELECT schema_name FROM information_schema.schemata WHERE schema_name IN (?)",
			[names],
		);
		requireNone(
			there
				.map(([name]) => String(name))
				.filter((name) => !own.has(name))
				.map(
					(name) =>
						`${target.name} has a database ${name} already, which this move did not make: drop it, or move to another host.`,
				),
		);
		await state.addTables(tables.map((table) => [databaseOf(table), table]));
		for (const database of databases) {
			await target.run(
				"create database",
				`CREATE DATABASE IF NOT EXISTS ${quoted(database.target)} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
			);
		}
		for (const table of tables) {
			const [, text] = await source.row(
				"show table",
				`SHOW CREATE TABLE ${tableIn(table.database, table)}`,
			);
			const created = String(text).replace(
				/^CREATE TABLE `(?:[^`]|``)+`/,
				() => `CREATE TABLE IF NOT EXISTS ${tableIn(databaseOf(table), table)}`,
			);
			await target.run("create table", created);
		}
	}
	await compareTables(options, tables, databaseOf);
}

async function compareTables(
	options: FerryOptions,
	tables: readonly MovedTable[],
	databaseOf: DatabaseOf,
): Promise<void> {
	const { target } = options;
	const names = [...new Set(tables.map((table) => databaseOf(table)))];
	const { tables: found, faults } = await readMovedTables(target, names);
	const others = new Map(
		found.map((table) => [`${table.database}.${table.name}`, shapeOf(table)]),
	);
	requireNone([
		...faults,
		...tables.flatMap((table) => {
			const name = `${databaseOf(table)}.${table.name}`;
			const other = others.get(name);
			if (other === shapeOf(table)) return [];
			return [
				other === undefined
					? `${target.name} has no table ${name}.`
					: `${name} is on ${target.name} ${other}, expected ${shapeOf(table)}.`,
			];
		}),
	]);
}

/** What has to be the same of a table on both servers. */
function shapeOf({ columns, order, identity }: MovedTable): string {
	const names = (some: MovedTable["order"]) =>
		some.map(({ name }) => name).join(", ");
	return `(${columns.map(({ name, type }) => `${name} ${type}`).join(", ")}; by ${names(order)}; unique by ${names(identity)})`;
}

/** Throws CONFLICT with a line for each. */
export function requireNone(faults: readonly string[]): void {
	if (faults.length > 0)
		throw new CorkboardError("CONFLICT", faults.join("\n"));
}
