import { randomUUID } from "node:crypto";
import { CorkboardError } from "../../errors.ts";
import type { MysqlTransaction } from "../../storage/mysql/driver/commitProtocol.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import type { MovedTable } from "./movedTables.ts";
import { type Key, quoted } from "./rowSql.ts";

/** On the server that rows are moved to: how far each move is, changed together with the rows. */
export const OPS_DATABASE = "corkboard_ops";

const STREAMS = `${OPS_DATABASE}.ferry_streams`;
const TABLES = `${OPS_DATABASE}.ferry_tables`;

const CREATE = [
	`CREATE DATABASE IF NOT EXISTS ${OPS_DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
	`CREATE TABLE IF NOT EXISTS ${STREAMS} (
		name VARBINARY(200) NOT NULL PRIMARY KEY,
		runner VARBINARY(40) NOT NULL,
		applied_gtids MEDIUMTEXT NOT NULL,
		batches BIGINT UNSIGNED NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS ${TABLES} (
		name VARBINARY(200) NOT NULL,
		database_name VARBINARY(64) NOT NULL,
		table_name VARBINARY(64) NOT NULL,
		after_key MEDIUMTEXT,
		copied_rows BIGINT UNSIGNED NOT NULL,
		is_copied TINYINT NOT NULL,
		PRIMARY KEY (name, database_name, table_name)
	)`,
];

/** How far one table is copied. */
export interface CopyState {
	/** The last row that was copied; null: none. */
	readonly after: Key | null;
	readonly rows: number;
	readonly isCopied: boolean;
}

/**
 * What the target knows of a ferry. The process that opens it last is its runner; one that
 * was paused meanwhile finds all of its transactions refused.
 */
export class FerryState {
	readonly #target: FleetServer;
	readonly #name: string;
	readonly #runner = randomUUID();

	constructor(target: FleetServer, name: string) {
		this.#target = target;
		this.#name = name;
	}

	/** Takes the ferry over, or makes it: its rows are then to be followed from `start`. Returns what has been applied. */
	async open(start: () => Promise<string>): Promise<string> {
		for (const text of CREATE) await this.#target.run("create ferry", text);
		const begin = (await this.#applied()) ?? (await start());
		await this.#target.run(
			"open ferry",
			`INSERT INTO ${STREAMS} (name, runner, applied_gtids, batches) VALUES (?, ?, ?, 0)
				ON DUPLICATE KEY UPDATE runner = VALUES(runner)`,
			[this.#name, this.#runner, begin],
		);
		return (await this.#applied()) ?? begin;
	}

	async #applied(): Promise<string | null> {
		const [applied] = await this.#target.row(
			"ferry",
			`SELECT applied_gtids FROM ${STREAMS} WHERE name = ?`,
			[this.#name],
		);
		return applied === undefined ? null : String(applied);
	}

	/** The databases that this ferry made, or began to make. */
	async databases(): Promise<ReadonlySet<string>> {
		const rows = await this.#target.rows(
			"databases of the ferry",
			`SELECT DISTINCT database_name FROM ${TABLES} WHERE name = ?`,
			[this.#name],
		);
		return new Set(rows.map(([database]) => String(database)));
	}

	/** Before a table is created, so that whose it is is known. */
	async addTables(
		tables: readonly (readonly [database: string, table: MovedTable])[],
	): Promise<void> {
		await this.#transaction(async () => ({
			last: tables.map(([database, { name }]) => ({
				name: "add table",
				text: `INSERT IGNORE INTO ${TABLES} VALUES (?, ?, ?, NULL, 0, 0)`,
				values: [this.#name, database, name],
			})),
		}));
	}

	/** By `database.table` of the target. */
	async tables(): Promise<ReadonlyMap<string, CopyState>> {
		const rows = await this.#target.rows(
			"tables of the ferry",
			`SELECT database_name, table_name, after_key, copied_rows, is_copied
				FROM ${TABLES} WHERE name = ?`,
			[this.#name],
		);
		return new Map(
			rows.map(([database, table, after, copied, isCopied]) => [
				`${database}.${table}`,
				{
					after: after === null ? null : (JSON.parse(String(after)) as Key),
					rows: Number(copied),
					isCopied: Number(isCopied) === 1,
				},
			]),
		);
	}

	/** Rows of one table, and how far it is copied with them. */
	async writeChunk(
		statements: readonly string[],
		database: string,
		{ name }: MovedTable,
		{ after, rows, isCopied }: CopyState,
	): Promise<void> {
		await this.#transaction(async () => ({
			last: [
				...statements.map((text) => ({ name: "copy rows", text, values: [] })),
				{
					name: "copied",
					text: `UPDATE ${TABLES} SET after_key = ?, copied_rows = ?, is_copied = ?
						WHERE name = ? AND database_name = ? AND table_name = ?`,
					values: [
						after === null ? null : JSON.stringify(after),
						rows,
						isCopied ? 1 : 0,
						this.#name,
						database,
						name,
					],
				},
			],
		}));
	}

	/** Changed rows, and up to where the source's log is applied with them. */
	async writeChanges(
		statements: readonly string[],
		applied: string,
	): Promise<void> {
		await this.#target.transaction(async ({ run }) => {
			const { affectedRows } = await run({
				name: "applied",
				text: `UPDATE ${STREAMS} SET applied_gtids = ?, batches = batches + 1
					WHERE name = ? AND runner = ?`,
				values: [applied, this.#name, this.#runner],
			});
			if (affectedRows !== 1) throw this.#takenOver();
			return {
				last: statements.map((text) => ({ name: "apply", text, values: [] })),
				valueOf: () => null,
				commit: true,
			};
		});
	}

	/** Sends other statements to the target, which only the runner may do. */
	async write(
		body: (
			statements: MysqlTransaction,
		) => Promise<{ readonly last: readonly Sql[] }>,
	): Promise<void> {
		await this.#transaction(body);
	}

	/** Drops the databases that this ferry made. */
	async dropDatabases(): Promise<void> {
		if (!(await this.#exists())) return;
		for (const database of await this.databases()) {
			await this.#target.run(
				"drop copies",
				`DROP DATABASE IF EXISTS ${quoted(database)}`,
			);
		}
	}

	/** Takes away all that it knows, and the tables for that if no other ferry has any. */
	async forget(): Promise<void> {
		if (!(await this.#exists())) return;
		for (const table of [STREAMS, TABLES]) {
			await this.#target.run(
				"forget ferry",
				`DELETE FROM ${table} WHERE name = ?`,
				[this.#name],
			);
		}
		const [others] = await this.#target.row(
			"other ferries",
			`SELECT (SELECT COUNT(*) FROM ${STREAMS}) + (SELECT COUNT(*) FROM ${TABLES})`,
		);
		if (Number(others) > 0) return;
		await this.#target.run("drop ferries", `DROP DATABASE ${OPS_DATABASE}`);
	}

	async #exists(): Promise<boolean> {
		const rows = await this.#target.rows(
			"ferries",
			"SELECT table_name FROM information_schema.tables WHERE table_schema = ?",
			[OPS_DATABASE],
		);
		return rows.length > 0;
	}

	async #transaction(
		body: (
			statements: MysqlTransaction,
		) => Promise<{ readonly last: readonly Sql[] }>,
	): Promise<void> {
		await this.#target.transaction(async (statements) => {
			const [row] = await statements.rows({
				name: "runner",
				text: `SELECT runner FROM ${STREAMS} WHERE name = ? FOR SHARE`,
				values: [this.#name],
			});
			if (String(row?.[0]) !== this.#runner) throw this.#takenOver();
			const { last } = await body(statements);
			return { last, valueOf: () => null, commit: true };
		});
	}

	#takenOver(): CorkboardError {
		return new CorkboardError(
			"CONFLICT",
			`Somebody else continues ${this.#name} on ${this.#target.name}.`,
		);
	}
}

/** Takes away what a server knows of a ferry, without its source; what it copied stays. */
export async function forgetFerry(
	target: FleetServer,
	name: string,
): Promise<void> {
	await new FerryState(target, name).forget();
}

/** The same, and the databases that it made: before a topology names them. */
export async function dropFerryCopies(
	target: FleetServer,
	name: string,
): Promise<void> {
	const state = new FerryState(target, name);
	await state.dropDatabases();
	await state.forget();
}
