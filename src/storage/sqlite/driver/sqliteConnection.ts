import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Statement, StatementTrace } from "../../../trace.ts";
import { STORAGE_CHANNELS } from "../../diagnostics.ts";
import { describeSql } from "../../sqlText.ts";
import { type FailureKind, StorageFailure } from "../../storageFailure.ts";

/** One SQL statement, with placeholders for all values. The text is made once, from the model. */
export interface Sql {
	/** As `Statement.name`: what it does, never a value. */
	readonly name: string;
	readonly text: string;
}

/** BigInt for ids, which do not fit a JavaScript number. */
export type Parameter = null | number | bigint | string;

/** Which file, as errors and `Statement` name it. */
export interface ShardFileLocation {
	readonly path: string;
	readonly host: string;
	readonly shard: number;
	/** Whether `shard` is a mod shard. */
	readonly onModShard?: boolean;
	/** Whether deleted pages can be given back with `incremental_vacuum`. SQLite only lets it be set when the file is created. */
	readonly givesBackSpace?: boolean;
}

export type OpenMode = "read" | "write" | "create";

/**
 * How long a statement waits for another process's lock, in milliseconds. The
 * wait blocks this process, so it is short. One process owns a data folder
 * (`lockFolder`), and in WAL mode readers and the writer do not wait for each
 * other, so only a checkpoint can hold the lock.
 */
const BUSY_MS = 1_000;

/** Size to which the WAL is truncated after a checkpoint; otherwise it stays as large as an import made it. */
const WAL_LIMIT_BYTES = 16 * 1024 * 1024;

/**
 * The page cache of a writer, in KiB. A quarter of SQLite's default, because
 * there is one a shard and imports are no slower with it; readers keep the
 * default of 2,000, with which they fetch objects half as fast again.
 */
const WRITE_CACHE_KIB = 512;

/**
 * Durability: WAL with synchronous = FULL. A commit returns after the WAL is on
 * the disk (fsync).
 *
 * - kill -9 loses nothing that was acknowledged: the pages are in the system's cache.
 * - A power failure loses nothing either, on a disk that honors fsync. (On macOS
 *   fsync stops at the disk's own buffer.)
 *
 * NORMAL would be some 14 times faster for single transactions (59,000 a
 * second against 4,200, measured on a virtual disk) and equal for batches. But a
 * power failure would lose the last commits of some shards and not of others:
 * an inverse edge without its source and without its outbox entry, which no
 * delivery pass can find.
 */
const WRITE_PRAGMAS = `
	PRAGMA cache_size = -${WRITE_CACHE_KIB};
	PRAGMA journal_mode = WAL;
	PRAGMA synchronous = FULL;
	PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES};
`;

/** Result codes after which the file has to be reopened: I/O error, corrupt, cannot open, not a database. */
const LOST = new Set([10, 11, 14, 26]);
const CONSTRAINT = 19;
const BUSY = 5;
/** SQLITE_FULL; and SQLITE_IOERR_SHMSIZE if the shared memory beside the file finds no space. */
const DISK_FULL = 13;
const NO_SPACE_BESIDE = 4_874;

const BEGIN: Sql = { name: "begin", text: "BEGIN IMMEDIATE" };
const COMMIT: Sql = { name: "commit", text: "COMMIT" };
const ROLLBACK: Sql = { name: "rollback", text: "ROLLBACK" };

/** One connection to one file. Everything on it happens at once, within the caller's tick. */
export class SqliteConnection implements Disposable {
	readonly #location: ShardFileLocation;
	readonly #database: DatabaseSync;
	/** By text; as many as the model makes statements. */
	readonly #statements = new Map<string, StatementSync>();
	#lost = false;
	/** The trace of the transaction under way. */
	#trace: StatementTrace | undefined;

	constructor(location: ShardFileLocation, mode: OpenMode) {
		this.#location = location;
		this.#database = open(location, mode);
	}

	/** Whether the file failed in a way that reopening it may repair. */
	get isLost(): boolean {
		return this.#lost;
	}

	/** `rowsIn` returns how many rows to report for a row; one if absent. */
	rows<Row>(
		sql: Sql,
		parameters: readonly Parameter[],
		trace: StatementTrace | undefined = this.#trace,
		rowsIn?: (row: Row) => number,
	): readonly Row[] {
		const began = performance.now();
		const rows = this.#attempt(sql, (statement) =>
			statement.all(...parameters),
		) as unknown as readonly Row[];
		if (trace !== undefined || STORAGE_CHANNELS.statement.hasSubscribers) {
			const count =
				rowsIn === undefined
					? rows.length
					: rows.reduce((sum, row) => sum + rowsIn(row), 0);
			this.#report(sql, parameters, count, began, trace);
		}
		return rows;
	}

	run(
		sql: Sql,
		parameters: readonly Parameter[] = [],
		trace: StatementTrace | undefined = this.#trace,
	): { readonly changes: number; readonly insertedAs: number } {
		const began = performance.now();
		const done = this.#attempt(sql, (statement) =>
			statement.run(...parameters),
		);
		const changes = Number(done.changes);
		this.#report(sql, parameters, changes, began, trace);
		return { changes, insertedAs: Number(done.lastInsertRowid) };
	}

	/**
	 * `body` is synchronous: with an `await` inside, another request's statements
	 * would run in this transaction and be rolled back with it. So all statements
	 * until it returns are its own, and `trace` gets them.
	 */
	transaction<T>(body: () => T, trace?: StatementTrace): T {
		if (this.#database.isTransaction) {
			throw new TypeError(
				`${this.#location.host} has an open transaction already.`,
			);
		}
		this.#trace = trace;
		try {
			this.#control(BEGIN);
			const result = body();
			this.#control(COMMIT);
			return result;
		} catch (thrown) {
			this.#rollBack();
			throw thrown;
		} finally {
			this.#trace = undefined;
		}
	}

	[Symbol.dispose](): void {
		this.#statements.clear();
		if (this.#database.isOpen) this.#database.close();
	}

	/** Reports 0 rows: SQLite returns those of the statement before. */
	#control(sql: Sql): void {
		const began = performance.now();
		this.#attempt(sql, (statement) => statement.run());
		this.#report(sql, [], 0, began, this.#trace);
	}

	#rollBack(): void {
		// After some failures (a full disk) SQLite has rolled back by itself.
		if (!this.#database.isTransaction) return;
		try {
			this.#control(ROLLBACK);
		} catch {
			// Closing the file rolls back; the first error is the one to report.
			this.#lost = true;
		}
	}

	#attempt<T>(sql: Sql, use: (statement: StatementSync) => T): T {
		try {
			let statement = this.#statements.get(sql.text);
			if (statement === undefined) {
				statement = this.#database.prepare(sql.text);
				this.#statements.set(sql.text, statement);
			}
			return use(statement);
		} catch (thrown) {
			if (LOST.has(primaryOf(codeOf(thrown) ?? 0))) this.#lost = true;
			const failure = toStorageFailure(thrown, this.#location, sql.name);
			reportFullDisk(failure);
			throw failure;
		}
	}

	#report(
		{ name, text }: Sql,
		parameters: readonly Parameter[],
		rows: number,
		began: number,
		trace: StatementTrace | undefined,
	): void {
		if (trace === undefined && !STORAGE_CHANNELS.statement.hasSubscribers)
			return;
		const { host, shard, onModShard } = this.#location;
		const statement: Statement = {
			name,
			host,
			shard,
			rows,
			ms: performance.now() - began,
			...(onModShard && { onModShard }),
			...(trace && !trace.isBrief && { sql: describeSql(text, parameters) }),
		};
		trace?.span
			?.start(
				name,
				"client",
				{
					"db.system.name": "sqlite",
					"db.query.summary": name,
					"db.namespace": host,
					"db.response.returned_rows": rows,
					[onModShard ? "corkboard.mod_shard" : "corkboard.shard"]: shard,
				},
				began,
			)
			.end(null);
		trace?.statement(statement);
		if (STORAGE_CHANNELS.statement.hasSubscribers)
			STORAGE_CHANNELS.statement.publish(statement);
	}
}

function open(location: ShardFileLocation, mode: OpenMode): DatabaseSync {
	let database: DatabaseSync | undefined;
	try {
		if (mode === "read") {
			database = new DatabaseSync(location.path, {
				readOnly: true,
				timeout: BUSY_MS,
			});
		} else {
			const url = pathToFileURL(location.path);
			// Only `createTables` creates files: elsewhere a missing file is an error.
			url.searchParams.set("mode", mode === "create" ? "rwc" : "rw");
			database = new DatabaseSync(url, { timeout: BUSY_MS });
			// Before the journal mode, which writes the first page.
			if (location.givesBackSpace) {
				database.exec("PRAGMA auto_vacuum = INCREMENTAL");
			}
			database.exec(WRITE_PRAGMAS);
		}
		return database;
	} catch (thrown) {
		database?.close();
		throw toStorageFailure(thrown, location, "open");
	}
}

/** SQLite's result code, where SQLite threw: https://sqlite.org/rescode.html */
function codeOf(thrown: unknown): number | null {
	return thrown instanceof Error &&
		"errcode" in thrown &&
		typeof thrown.errcode === "number"
		? thrown.errcode
		: null;
}

function primaryOf(code: number): number {
	return code & 0xff;
}

/** Reports a full disk. Other failures are not reported: the file is in this process's own hands. */
function reportFullDisk(failure: unknown): void {
	if (!(failure instanceof StorageFailure)) return;
	const { host, kind } = failure;
	if (kind !== "diskFull") return;
	STORAGE_CHANNELS.databaseFailure.publish({
		host,
		kind,
	});
}

/** The error that SQLite gave a statement; anything else it threw stays as it is. */
function toStorageFailure(
	thrown: unknown,
	{ host, path }: ShardFileLocation,
	statement: string,
): unknown {
	const code = codeOf(thrown);
	if (code === null) return thrown;
	const { message } = thrown as Error;
	return new StorageFailure(
		message.startsWith("no such table") ? "moved" : kindOf(code),
		`${path}: ${message}`,
		{ host, statement, errno: primaryOf(code) },
	);
}

function kindOf(code: number): FailureKind {
	const errno = primaryOf(code);
	if (errno === DISK_FULL || code === NO_SPACE_BESIDE) return "diskFull";
	if (errno === CONSTRAINT) return "constraint";
	if (errno === BUSY) return "timeout";
	return LOST.has(errno) ? "connectionLost" : "failed";
}
