import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../../errors.ts";
import { reasonOf } from "../../../util/reasonOf.ts";
import type { Row } from "../mapping.ts";
import type { SourceLog } from "./log.ts";
import {
	type Column,
	type OpenSessions,
	PAGE,
	type Source,
	type SourceTable,
} from "./source.ts";
import {
	namedStatement,
	pageStatement,
	rowsStatement,
	type SqlSpelling,
	type Statement,
} from "./sqlText.ts";

/** A connection to an old database, by its driver. */
export interface SqlConnection {
	query(statement: Statement): Promise<readonly Row[]>;
	close(): Promise<void>;
}

export interface SqlDriver {
	readonly name: string;
	readonly spelling: SqlSpelling;
	connect(): Promise<SqlConnection>;
	/** Rows `table`, `name`, `type`, `nullable` (YES), `key` (1 for a part of the primary key), `leads_to`. */
	readonly columnsQuery: string;
	estimateQuery(table: string): Statement;
	/** What a value of a column of this type is ordered by and compared as: itself, mostly. */
	rank(type: string, value: string | number): string | number;
	openLog(options: {
		readonly shownUrl: string;
		/** The name of what the server keeps for it. */
		readonly name: string;
		readonly tables: ReadonlyMap<
			string,
			{
				readonly columns: readonly Column[];
				readonly keyColumns: readonly string[];
				readonly edgeColumns: readonly string[];
			}
		>;
		query(statement: Statement): Promise<readonly Row[]>;
	}): Promise<SourceLog>;
	/** See `Source`. */
	lag(query: SqlConnection["query"]): Promise<number | null>;
	/** See `Source`. */
	takesWrites(query: SqlConnection["query"]): Promise<string | null>;
	/** See `Source`. */
	openSessions(query: SqlConnection["query"]): Promise<OpenSessions | null>;
	/** See `Source`. */
	writeMark(
		query: SqlConnection["query"],
		tables: readonly string[],
	): Promise<string>;
	/** What the operator can do about an error that another try would meet too; null for other errors. */
	adviceOn(error: unknown): string | null;
	/** Whether the connection is lost, so that another one may do. */
	isLost(error: unknown): boolean;
}

/** Pauses before a lost connection is opened again. Milliseconds. */
const RECONNECT_MS = [1_000, 2_000, 4_000, 8_000, 16_000] as const;

/** Keys of one statement. */
const KEYS = 500;

export async function openSqlSource(
	driver: SqlDriver,
	shownUrl: string,
	pauses: readonly number[] = RECONNECT_MS,
): Promise<Source> {
	let connection: Promise<SqlConnection> | null = null;
	let isClosed = false;
	const fail = (error: unknown): CorkboardError => {
		const advice = driver.adviceOn(error);
		return new CorkboardError(
			advice === null ? "UNAVAILABLE" : "BAD_CONFIG",
			`The old database ${shownUrl} ${advice ?? `does not answer: ${reasonOf(error)} Run the same command again when it does: it resumes.`}`,
			{ cause: error },
		);
	};
	async function run(statement: Statement): Promise<readonly Row[]> {
		for (let tries = 0; ; tries++) {
			// A question about the lag may outlive its pass: it must not open a connection that nobody closes.
			if (isClosed) throw fail(new Error("It was closed."));
			connection ??= driver.connect();
			const used = connection;
			try {
				return await (await used).query(statement);
			} catch (error) {
				const pause = pauses[tries];
				if (!driver.isLost(error) || pause === undefined || isClosed) {
					throw fail(error);
				}
				// Another statement may have opened the next one already.
				if (connection === used) connection = null;
				await close(used);
				await sleep(pause);
			}
		}
	}
	const tables = new Map<string, Column[]>();
	// The first connection is not tried again: a wrong URL is to be seen at once.
	try {
		connection = driver.connect();
		await connection;
	} catch (error) {
		throw fail(error);
	}
	for (const row of await run({ text: driver.columnsQuery, values: [] })) {
		const columns = tables.get(String(row.table)) ?? [];
		tables.set(String(row.table), columns);
		columns.push({
			name: String(row.name),
			type: String(row.type),
			isNullable: row.nullable === "YES",
			isKey: Number(row.key) === 1,
			leadsTo: row.leads_to === null ? null : String(row.leads_to),
			characterSet: (row.character_set as string | null | undefined) ?? null,
		});
	}
	const { spelling } = driver;
	const columnsOf = (table: string) =>
		(tables.get(table) ?? []).map(({ name }) => name);
	/** Values of a key, as the database compares them. */
	const ranks = <Value extends string | number>(
		{ table, key }: SourceTable,
		values: readonly Value[],
	) =>
		values.map((value, nth) => {
			const column = tables.get(table)?.find(({ name }) => name === key[nth]);
			return driver.rank(column?.type ?? "", value);
		});
	return {
		shownUrl,
		tables,
		async estimate({ table }) {
			const [row] = await run(driver.estimateQuery(table));
			const estimate = Number(row?.estimate ?? -1);
			return estimate < 0 ? null : estimate;
		},
		async *scan(table, { after, since, limit = Number.POSITIVE_INFINITY }) {
			let from = after;
			for (let left = limit; left > 0; ) {
				const size = Math.min(left, PAGE);
				const rows = await run(
					pageStatement(spelling, table, {
						columns: columnsOf(table.table),
						limit: size,
						...(from !== undefined && { after: ranks(table, from) }),
						...(since !== undefined && { since }),
					}),
				);
				const page = rows.map((row) => ({ row, cursor: cursorOf(table, row) }));
				if (page.length > 0) yield page;
				from = page.at(-1)?.cursor;
				if (page.length < size) return;
				left -= page.length;
			}
		},
		async rowsOf(table, keys) {
			const found: Row[] = [];
			for (let at = 0; at < keys.length; at += KEYS) {
				const some = keys.slice(at, at + KEYS);
				const columns = columnsOf(table.table);
				const statement = rowsStatement(spelling, table, {
					columns,
					keys: some.map((values) => ranks(table, values)),
				});
				found.push(...(await run(statement)));
			}
			return found;
		},
		async select(sql, values) {
			return run(namedStatement(spelling, sql, values));
		},
		openLog(logged, name) {
			const followed = new Map(
				[...Map.groupBy(logged, ({ table }) => table)].map(([table, own]) => [
					table,
					{
						columns: tables.get(table) ?? [],
						keyColumns: own.flatMap(({ key }) => key),
						edgeColumns: own.flatMap(({ edgeColumns }) => edgeColumns),
					},
				]),
			);
			return driver.openLog({ shownUrl, name, tables: followed, query: run });
		},
		lag: () => driver.lag(run).catch(() => null),
		takesWrites: () => driver.takesWrites(run),
		openSessions: () => driver.openSessions(run),
		writeMark: (names) => driver.writeMark(run, names),
		async greatest({ table }, column) {
			const greatest = spelling.asText(`MAX(${spelling.quote(column)})`);
			const [row] = await run({
				text: `SELECT ${greatest} AS greatest FROM ${spelling.quote(table)}`,
				values: [],
			});
			return row?.greatest === null || row === undefined
				? null
				: String(row.greatest);
		},
		async [Symbol.asyncDispose]() {
			isClosed = true;
			if (connection !== null) await close(connection);
		},
	};
}

/** Closes a connection, also one that is only being opened. */
async function close(connection: Promise<SqlConnection>): Promise<void> {
	await connection.then((one) => one.close()).catch(() => {});
}

function cursorOf({ table, key }: SourceTable, row: Row) {
	return key.map((column) => {
		const value = row[column];
		if (typeof value === "string" || typeof value === "number") return value;
		if (typeof value === "bigint") return String(value);
		throw new CorkboardError(
			"BAD_CONFIG",
			`${table}.${column} is a part of the key and holds ${value === null ? "NULL" : `a ${typeof value}`}: name columns as key that identify each row by numbers or texts.`,
		);
	});
}
