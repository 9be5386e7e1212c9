import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type ZongJi from "@vlasky/zongji";
import type {
	AnyBinlogEvent,
	ColumnSchema,
	QueryEvent,
	RowData,
	RowsEvent,
	TableMapEvent,
} from "@vlasky/zongji";
import { CorkboardError } from "../../../errors.ts";
import type { ServerAddress } from "../driver/mysql2Connection.ts";
import type {
	BinlogPlace,
	BinlogTable,
	BinlogTables,
	BinlogTransaction,
	Cells,
	RowChange,
} from "./binlogTypes.ts";

export interface BinlogConnectionOptions<Table extends BinlogTable> {
	/** By `database.table`. */
	readonly tables: BinlogTables<Table>;
	/** What the server does not send: a set of GTIDs, or all before a place. */
	readonly after: string | BinlogPlace;
	/** A server that sends nothing, not even that it is there, for so long is lost. Milliseconds. */
	readonly silenceMs: number;
	/** Why rows cannot be followed past a statement; null: they can. */
	readonly refusalOf: (statement: {
		readonly query: string;
		readonly schema: string;
	}) => string | null;
	/** Whether a server that lacks something of `after` is another one, and lost. */
	readonly hasAll: boolean;
}

/** The connection, not the log, is at fault: another one may continue. */
export class BinlogLost extends Error {}

/** How often an idle server says that it is there. Milliseconds. */
const HEARTBEAT_MS = 500;
/** Rows that wait to be taken; then the server waits. */
const ROWS_WAITING = 20_000;
/** Rows of a part of a large transaction. */
const PART_ROWS = 5_000;
const STOP_MS = 2_000;
/** Server ids of replicas are small numbers, as a rule. */
const FIRST_SERVER_ID = 2 ** 31;

/** Errors of the server after which a new connection may find it well: too many connections, shutdown, killed, network. */
const PASSING = new Set([1040, 1053, 1077, 1158, 1159, 1160, 1161, 1317, 3169]);
const DUMP_FAILED = 1236;

const EVENTS = [
	"gtid",
	"anonymousgtid",
	"mariadbgtid",
	"query",
	"tablemap",
	"writerows",
	"updaterows",
	"deleterows",
	"xid",
	"xaprepare",
	"heartbeat",
];

/** The events of a table's rows, with what the package's types leave out. */
type Rows = RowsEvent & {
	readonly columns_present_bitmap: Buffer;
	readonly columns_present_bitmap2?: Buffer;
	readonly rows: readonly (
		| RowData
		| { readonly before: RowData; readonly after: RowData }
	)[];
};

/** One connection that a server sends its binary log to, as if to a replica. Events become transactions here. */
export class BinlogConnection<Table extends BinlogTable>
	implements AsyncDisposable
{
	readonly #options: BinlogConnectionOptions<Table>;
	readonly #zongji: ZongJi;
	readonly #waiting: BinlogTransaction<Table>[] = [];
	#rowsWaiting = 0;
	#isPaused = false;
	#gtid: string | null = null;
	#rows: RowChange<Table>[] = [];
	#failure: unknown = null;
	#wake: (() => void) | null = null;
	#aliveAt = performance.now();
	/** Whether a transaction has begun whose end is an event of its own. */
	#isOpen = false;
	/** When it last sent an event, on the clock of `performance.now()`; 0: never. */
	lastEventAt = 0;
	readonly #timer: NodeJS.Timeout;

	private constructor(zongji: ZongJi, options: BinlogConnectionOptions<Table>) {
		this.#options = options;
		this.#zongji = zongji;
		zongji.on("error", (thrown) => this.#fail(failureOf(thrown)));
		zongji.on("binlog", (event) => {
			this.#aliveAt = performance.now();
			this.lastEventAt = this.#aliveAt;
			if (this.#failure !== null) return;
			try {
				this.#take(event);
			} catch (thrown) {
				this.#fail(thrown);
			}
		});
		this.#timer = setInterval(
			() => {
				const silent = performance.now() - this.#aliveAt;
				if (this.#isPaused || silent < options.silenceMs) return;
				this.#fail(
					new BinlogLost(`it sent nothing for ${Math.round(silent)} ms`),
				);
			},
			Math.min(HEARTBEAT_MS, options.silenceMs / 2),
		);
	}

	static async open<Table extends BinlogTable>(
		{ host, port, user, password, ssl }: ServerAddress,
		options: BinlogConnectionOptions<Table>,
	): Promise<BinlogConnection<Table>> {
		const { tables, after } = options;
		const { default: Package } = await import("@vlasky/zongji");
		/** The package asks information_schema for the columns of a table as they are now, by a name that it may not have any more. */
		class WithKnownColumns extends Package {
			_skipSchema(database: string, table: string): boolean {
				return tables.get(`${database}.${table}`) === undefined;
			}

			_fetchTableInfo(event: TableMapEvent, next: () => void): void {
				const { tableId, schemaName, tableName, columnCount } = event;
				const columns = tables.get(`${schemaName}.${tableName}`)?.columns ?? [];
				if (columns.length !== columnCount) {
					this.emit(
						"error",
						new CorkboardError(
							"CONFLICT",
							`The tables of ${schemaName} were changed meanwhile: ${tableName} has ${columns.length} columns, its events have ${columnCount}.`,
						),
					);
					return;
				}
				this.tableMap[tableId] = {
					columnSchemas: columns.map(schemaOf),
					parentSchema: schemaName,
					tableName,
				};
				next();
			}
		}
		const zongji = new WithKnownColumns({
			host,
			port,
			user,
			password: password(),
			// Times as a SELECT gives them to a connection in UTC.
			dateStrings: true,
			timezone: "Z",
			...(ssl && { ssl }),
		});
		const opened = new BinlogConnection(zongji, options);
		zongji.start({
			serverId: randomInt(FIRST_SERVER_ID, 2 ** 32),
			...(typeof after === "string"
				? { gtidSet: after }
				: { filename: after.file, position: after.position }),
			includeEvents: EVENTS,
		});
		// Before the command that begins the dump, which is sent later. Nanoseconds.
		const period = HEARTBEAT_MS * 1e6;
		zongji.connection?.query(
			`SET @source_heartbeat_period = ${period}, @master_heartbeat_period = ${period}`,
			(thrown: unknown) => {
				if (thrown) opened.#fail(failureOf(thrown));
			},
		);
		if (options.hasAll) {
			zongji.connection?.query(
				"SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed) AS lacks",
				[after],
				(thrown: unknown, rows: unknown) => {
					const [{ lacks = "" } = {}] = (rows ?? []) as { lacks?: string }[];
					if (thrown) opened.#fail(failureOf(thrown));
					else if (lacks !== "") {
						opened.#fail(
							new BinlogLost(
								`it lacks ${lacks}, which was read from it before`,
							),
						);
					}
				},
			);
		}
		return opened;
	}

	/** The next transactions, at least one. Throws BinlogLost, or an error for which the log is to blame. */
	async next(
		signal: AbortSignal,
	): Promise<readonly BinlogTransaction<Table>[]> {
		for (;;) {
			signal.throwIfAborted();
			if (this.#waiting.length > 0) {
				const taken = this.#waiting.splice(0);
				this.#rowsWaiting = 0;
				this.#pause(false);
				return taken;
			}
			if (this.#failure !== null) throw this.#failure;
			const { promise, resolve } = Promise.withResolvers<void>();
			const wake = () => resolve();
			this.#wake = wake;
			signal.addEventListener("abort", wake);
			await promise;
			signal.removeEventListener("abort", wake);
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		clearInterval(this.#timer);
		this.#failure ??= new BinlogLost("it was closed");
		const stopped = new Promise<void>((resolve) => {
			this.#zongji.once("stopped", resolve);
		});
		this.#zongji.stop();
		const timer = new AbortController();
		await Promise.race([
			stopped,
			sleep(STOP_MS, undefined, { signal: timer.signal }).catch(() => {}),
		]);
		timer.abort();
	}

	#take(event: AnyBinlogEvent): void {
		switch (event.getEventName()) {
			case "gtid":
				this.#begin(event.timestamp, event.gtid);
				return;
			case "mariadbgtid":
				this.#begin(event.timestamp);
				return;
			case "anonymousgtid":
				if (this.#isFromPlace) {
					this.#begin(event.timestamp);
					return;
				}
				throw conflict(
					"It has transactions without a GTID: gtid_mode has to be ON.",
				);
			case "query":
				this.#takeQuery(event as unknown as QueryEvent);
				return;
			case "xid":
				this.#complete(event.timestamp);
				return;
			case "xaprepare":
				if (this.#rows.length > 0) {
					throw conflict(
						"A transaction was prepared (XA), and may be rolled back: its rows cannot be followed.",
					);
				}
				return;
			case "writerows":
			case "updaterows":
			case "deleterows":
				this.#takeRows(event as unknown as Rows);
				return;
		}
	}

	get #isFromPlace(): boolean {
		return typeof this.#options.after !== "string";
	}

	/** The one before has ended, whatever ended it. */
	#begin(at: number, gtid?: string): void {
		this.#complete(at);
		this.#gtid = this.#isFromPlace ? "" : (gtid ?? null);
		this.#isOpen = false;
	}

	#takeQuery(event: QueryEvent): void {
		const refusal = this.#options.refusalOf(event);
		if (refusal !== null) throw conflict(refusal);
		const query = event.query.trim();
		if (/^(?:BEGIN|XA\s+(?:START|BEGIN))\b/i.test(query)) {
			// Old servers write nothing before it.
			if (this.#isFromPlace) this.#gtid ??= "";
			this.#isOpen = true;
		}
		// What is no part of a transaction is one by itself, as CREATE TABLE is.
		else if (!this.#isOpen || /^(?:COMMIT|ROLLBACK)$/i.test(query)) {
			this.#complete(event.timestamp);
		}
	}

	#takeRows(event: Rows): void {
		const { parentSchema, tableName } = event.tableMap[event.tableId] ?? {};
		const table = this.#options.tables.get(`${parentSchema}.${tableName}`);
		if (table === undefined) return;
		const { columns } = table;
		const bitmaps = [
			event.columns_present_bitmap,
			event.columns_present_bitmap2,
		];
		if (
			!bitmaps.every(
				(bitmap) => bitmap === undefined || isFull(bitmap, columns.length),
			)
		) {
			throw conflict(
				`A change of ${parentSchema}.${tableName} was logged without all of its columns: the session that sent it has another binlog_row_image than FULL.`,
			);
		}
		const name = event.getEventName();
		const cells = (row: RowData) => cellsOf(row, table);
		for (const row of event.rows) {
			if ("before" in row && name === "updaterows") {
				const { before, after } = row as { before: RowData; after: RowData };
				this.#rows.push({ table, before: cells(before), after: cells(after) });
			} else if (name === "deleterows") {
				this.#rows.push({ table, before: cells(row), after: null });
			} else this.#rows.push({ table, before: null, after: cells(row) });
		}
		if (this.#rows.length >= PART_ROWS) this.#yield(event.timestamp, false);
	}

	#complete(at: number): void {
		if (this.#gtid === null) return;
		this.#yield(at, true);
		this.#gtid = null;
	}

	#yield(at: number, isComplete: boolean): void {
		const gtid = this.#gtid;
		if (gtid === null)
			throw conflict("Rows came before the GTID of their transaction.");
		const { filename = "", position = 0 } = this.#zongji.options;
		const end = { file: filename, position };
		this.#waiting.push({ gtid, at, rows: this.#rows, isComplete, end });
		this.#rowsWaiting += this.#rows.length + 1;
		this.#rows = [];
		if (this.#rowsWaiting > ROWS_WAITING) this.#pause(true);
		this.#wake?.();
	}

	#pause(isPaused: boolean): void {
		if (this.#isPaused === isPaused) return;
		this.#isPaused = isPaused;
		this.#aliveAt = performance.now();
		if (isPaused) this.#zongji.connection?.pause();
		else this.#zongji.connection?.resume();
	}

	#fail(failure: unknown): void {
		this.#failure ??= failure;
		this.#wake?.();
	}
}

/** The schema of a column as the package asks for it. */
function schemaOf({
	name,
	kind,
	type,
	characterSet,
}: BinlogTable["columns"][number]): ColumnSchema {
	return {
		COLUMN_NAME: name,
		COLLATION_NAME: null,
		CHARACTER_SET_NAME: kind === "text" ? (characterSet ?? "utf8") : null,
		COLUMN_COMMENT: "",
		COLUMN_TYPE: type,
	};
}

function cellsOf(row: RowData, { columns }: BinlogTable): Cells {
	return columns.map(({ name, kind }) => {
		const value = row[name];
		if (value === null || value === undefined) return null;
		return kind === "bytes" ? (value as Buffer) : String(value);
	});
}

function isFull(bitmap: Buffer, columns: number): boolean {
	for (let at = 0; at < columns; at++) {
		if (((bitmap[at >> 3] ?? 0) & (1 << (at & 7))) === 0) return false;
	}
	return true;
}

function conflict(message: string): CorkboardError {
	return new CorkboardError("CONFLICT", message);
}

function failureOf(thrown: unknown): unknown {
	if (thrown instanceof CorkboardError) return thrown;
	const { code, errno, message } = thrown as NodeJS.ErrnoException;
	if (errno === DUMP_FAILED) {
		return conflict(
			/purged/i.test(message)
				? `Its binary log does not reach back far enough: what is missing was deleted already (binlog_expire_logs_seconds, PURGE). ${message}`
				: `It cannot send its binary log from there: ${message}`,
		);
	}
	const isPassing = errno === undefined || errno < 0 || PASSING.has(errno);
	if (code !== undefined && isPassing) return new BinlogLost(message);
	// The package throws for an event that it cannot read.
	return conflict(message);
}
