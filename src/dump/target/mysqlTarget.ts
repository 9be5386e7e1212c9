import { FleetServer } from "../../fleet/server/fleetServer.ts";
import { readCounters } from "../../fleet/server/localIds.ts";
import { raiseLocalIds } from "../../fleet/server/raiseLocalIds.ts";
import {
	HOST_DATABASE,
	HOST_OUTBOX,
	tableIn,
} from "../../storage/mysql/ddl.ts";
import type { LookupKey } from "../../storage/rows.ts";
import {
	LOOKUPS,
	OUTBOX,
	type Table,
} from "../../storage/statements/tables.ts";
import type { Environment } from "../../topology/secret.ts";
import { besideGraph, type Database, isText } from "../databases.ts";
import type { Snapshot, StoredRow } from "../source/dumpSource.ts";
import { selectRows, textsOf } from "../source/mysqlSource.ts";
import { digits } from "../source/rowSelect.ts";
import type { RestoreTarget } from "./restoreTarget.ts";
import { insertedColumns } from "./sqliteTarget.ts";

/** Rows of one statement, and about how many characters: servers accept packets of 16 MB. */
const ROWS = 500;
const CHARACTERS = 1_000_000;
/** The limit of one transaction. Milliseconds. */
const INSERT_MS = 120_000;

/** The primaries of a fleet, with the operator's account if there is one. */
export class MysqlTarget implements RestoreTarget {
	readonly #environment: Environment;
	readonly #connections: number;
	readonly #servers = new Map<string, FleetServer>();

	constructor(environment: Environment, connections: number) {
		this.#environment = environment;
		this.#connections = connections;
	}

	async faults(databases: readonly Database[]): Promise<readonly string[]> {
		const faults = await Promise.all(
			[...this.#byServer(databases)].map(async ([server, some]) => {
				const [[isFenced], rows] = await Promise.all([
					server.row(
						"fence",
						"SELECT @@GLOBAL.super_read_only OR @@GLOBAL.read_only",
					),
					server.rows(
						"tables",
						"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN (?)",
						[[...some.map(({ name }) => name), HOST_DATABASE]],
					),
				]);
				const there = new Set(
					rows.map(([schema, name]) => `${schema}.${name}`),
				);
				const missing = some
					.flatMap((database) =>
						database.tables.map((table) => placeOf(database, table)),
					)
					.find(({ schema, name }) => !there.has(`${schema}.${name}`));
				return [
					...(String(isFenced) === "0"
						? []
						: [
								`${server.name} takes no writes: read_only is on. Restore into primaries.`,
							]),
					...(missing === undefined
						? []
						: [
								`${server.name} has no table ${missing.schema}.${missing.name}: run corkboard init first.`,
							]),
				];
			}),
		);
		return faults.flat();
	}

	async filled(database: Database): Promise<readonly string[]> {
		const server = this.#serverOf(database);
		const values: string[] = [];
		const rows = await server.rows(
			"any rows",
			database.tables
				.map((table) => {
					const { schema, name } = placeOf(database, table);
					const others = besideGraph(table);
					if (others !== null) values.push(...others.values);
					const where =
						table.name === OUTBOX.name
							? ` WHERE shard = ${database.storageShard}`
							: others === null
								? ""
								: ` WHERE ${others.column} NOT IN (${others.values.map(() => "?").join(", ")})`;
					return `SELECT '${table.name}' FROM DUAL WHERE EXISTS (SELECT 1 FROM ${tableIn(schema, name)}${where})`;
				})
				.join(" UNION ALL "),
			values,
		);
		return rows.map(([name]) => String(name));
	}

	async insert(
		database: Database,
		table: Table,
		rows: readonly StoredRow[],
	): Promise<void> {
		const server = this.#serverOf(database);
		const { schema, name } = placeOf(database, table);
		const isOutbox = table.name === OUTBOX.name;
		const columns = insertedColumns(table);
		const named = [
			...columns.map((column) => `\`${column.name}\``),
			...(isOutbox ? ["shard"] : []),
		];
		const first = named[0] as string;
		const statements = [...inStatements(rows)].map((some) => {
			const values: (string | null)[] = [];
			const texts = some.map((row) => {
				const cells = columns.map(({ name, at }) => {
					const cell = row[at] ?? null;
					if (cell !== null && !isText(table, name)) return digits(name, cell);
					values.push(cell);
					return "?";
				});
				return `(${[...cells, ...(isOutbox ? [database.storageShard] : [])].join(", ")})`;
			});
			return {
				name: `restore ${table.name}`,
				text: `INSERT INTO ${tableIn(schema, name)} (${named.join(", ")}) VALUES ${texts.join(", ")}
					ON DUPLICATE KEY UPDATE ${first} = ${tableIn(schema, name)}.${first}`,
				values,
			};
		});
		if (statements.length === 0) return;
		await server.transaction(async ({ together }) => {
			await together(statements);
			return { value: null, commit: true };
		}, INSERT_MS);
	}

	rows(database: Database): Snapshot["rows"] {
		const server = this.#serverOf(database);
		return async (table, after, limit) => {
			const { text, values } = selectRows(database, table, after, limit);
			return textsOf(
				await server.rows(`read ${table.name}`, text, values, INSERT_MS),
			);
		};
	}

	async lookup(
		database: Database,
		{ name, key }: LookupKey,
	): Promise<string | null> {
		const rows = await this.#serverOf(database).rows(
			"read lookup",
			`SELECT token FROM ${tableIn(database.name, LOOKUPS.name)} WHERE name = ? AND \`key\` = ?`,
			[name, key],
		);
		return textsOf(rows)[0]?.[0] ?? null;
	}

	async changeLookup(
		database: Database,
		lookup: LookupKey,
		expect: string | null,
		next: string,
	): Promise<boolean> {
		const table = tableIn(database.name, LOOKUPS.name);
		const { name, key } = lookup;
		const server = this.#serverOf(database);
		if (expect === null) {
			await server.run(
				"add lookup",
				`INSERT INTO ${table} (name, \`key\`, id, token) VALUES (?, ?, 0, ?) ON DUPLICATE KEY UPDATE id = ${table}.id`,
				[name, key, next],
			);
		} else {
			await server.run(
				"change lookup",
				`UPDATE ${table} SET token = ? WHERE name = ? AND \`key\` = ? AND token = ?`,
				[next, name, key, expect],
			);
		}
		return (await this.lookup(database, lookup)) === next;
	}

	async raiseIds(databases: readonly Database[], by: number): Promise<void> {
		for (const [server, some] of this.#byServer(databases)) {
			const names = some
				.filter(({ kind }) => kind !== "mod")
				.map(({ name }) => name);
			const counters = await readCounters(server, [...names, HOST_DATABASE]);
			await raiseLocalIds(server, counters.values(), by);
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(
			[...this.#servers.values()].map((each) => each[Symbol.asyncDispose]()),
		);
	}

	#byServer(databases: readonly Database[]) {
		return Map.groupBy(databases, (each) => this.#serverOf(each));
	}

	#serverOf({ range: { primary } }: Database): FleetServer {
		let server = this.#servers.get(primary);
		if (server === undefined) {
			server = new FleetServer(primary, this.#environment, this.#connections);
			this.#servers.set(primary, server);
		}
		return server;
	}
}

function placeOf(database: Database, { name }: Table) {
	return name === OUTBOX.name
		? { schema: HOST_DATABASE, name: HOST_OUTBOX.name }
		: { schema: database.name, name };
}

function* inStatements(
	rows: readonly StoredRow[],
): Generator<readonly StoredRow[]> {
	let some: StoredRow[] = [];
	let characters = 0;
	for (const row of rows) {
		const own = row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
		if (
			some.length === ROWS ||
			(some.length > 0 && characters + own > CHARACTERS)
		) {
			yield some;
			some = [];
			characters = 0;
		}
		some.push(row);
		characters += own;
	}
	if (some.length > 0) yield some;
}
