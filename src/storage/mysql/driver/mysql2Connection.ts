import { connect, type Socket } from "node:net";
import type { SslOptions } from "mysql2";
import { loadWhenUsed } from "../../../util/loadWhenUsed.ts";

const mysql2 = loadWhenUsed<typeof import("mysql2")>("mysql2");

/** A server's address, and the user to log in as. */
export interface ServerAddress {
	readonly host: string;
	readonly port: number;
	readonly user: string;
	/** Asked for each connection: a password in a file may change while the program runs. */
	readonly password: () => string;
	/** `host:port`, as statements and errors name it. */
	readonly name: string;
	/** Null for no TLS. The same object for every connection, so that TLS sessions are resumed. */
	readonly ssl: SslOptions | null;
	/** See `HostUrl`. */
	readonly isLossless: boolean;
}

/** A server's kind of SQL. */
export type Product = "MySQL" | "MariaDB";

type Scalar = null | number | bigint | string;

/** A list is for `IN (?)`. */
export type Value = Scalar | readonly (number | bigint | string)[];

/** A row of a SELECT. */
export type Row = readonly unknown[];
export interface WriteResult {
	/** Rows that changed. A row set to the values it had is not counted. */
	readonly affectedRows: number;
	/** A string where it is large. */
	readonly insertId: number | string;
	/** What the server says that the statement changed of the session. */
	readonly stateChanges?: {
		/** GTIDs of transactions that it committed, if the session tracks them. */
		readonly gtids: readonly string[];
	};
}

/** The result of one statement. */
export type Result = readonly Row[] | WriteResult;

/** The part of mysql2 that is used. */
export interface Mysql2Connection {
	readonly threadId: number | null;
	query(
		query: {
			readonly sql: string;
			readonly values: readonly Value[];
			readonly rowsAsArray: true;
		},
		done: (error: unknown, response: Result | readonly Result[]) => void,
	): {
		/** Emitted for each row of a SELECT, and for each write. */
		on(event: "result", listener: () => void): unknown;
	};
	on(event: "error" | "connect", listener: (thrown: unknown) => void): void;
	/** Sends the server the end of the connection, after the running statement. Its callback would come before that is sent. */
	end(): void;
}

/** Idle time before the first TCP keep-alive probe. */
const KEEP_ALIVE_MS = 10_000;
const TIME_ZONE = "Z";

/**
 * A connection and its socket. The socket is ours so that it can be destroyed:
 * mysql2 itself only closes its half.
 *
 * - The client puts values into the text (`query`, not `execute`, which would
 *   prepare another statement for each length of an IN list). Its escaping
 *   relies on backslashes, so `session.ts` sets the session's sql_mode.
 * - The caller limits the time to connect.
 * - With `multipleStatements` one query may hold several statements. The server
 *   stops at the first that fails. Values are escaped in the same way.
 * - Without FOUND_ROWS, an INSERT returns how many rows are new.
 */
export function openMysql2Connection(
	{ host, port, user, password, ssl }: ServerAddress,
	multipleStatements: boolean,
): {
	readonly driver: Mysql2Connection;
	readonly socket: Socket;
} {
	const socket = connect({
		host,
		port,
		noDelay: true,
		keepAlive: true,
		keepAliveInitialDelay: KEEP_ALIVE_MS,
	});
	const { createConnection } = mysql2();
	const driver = createConnection({
		stream: () => socket,
		// The name the certificate must have.
		host,
		port,
		...(ssl && { ssl }),
		user,
		password: password(),
		// Its timer would not look once more at what the socket holds.
		connectTimeout: 0,
		charset: "utf8mb4",
		supportBigNumbers: true,
		bigNumberStrings: true,
		jsonStrings: true,
		dateStrings: true,
		timezone: TIME_ZONE,
		stringifyObjects: true,
		multipleStatements,
		// Nothing is prepared. Room for 16,000 would take half a megabyte of V8's heap.
		maxPreparedStatements: 1,
		queryFormat: withValues,
		flags: ["-FOUND_ROWS", "-LOCAL_FILES"],
	});
	// mysql2's types want mutable arrays and allow many more forms of a query.
	return { driver: driver as unknown as Mysql2Connection, socket };
}

/** The statement with its values in place of the placeholders. In single quotes only a quote and a backslash mean something: JSON is mostly sent as it is. */
export function withValues(sql: string, values: readonly Value[]): string {
	if (values.length === 0) return sql;
	const parts = sql.split("?");
	const isList = (value: Value) => typeof value === "object" && value !== null;
	if (parts.length !== values.length + 1 || values.some(isList)) {
		return mysql2().format(sql, values as Scalar[], true, TIME_ZONE);
	}
	let text = parts[0] as string;
	for (const [at, value] of values.entries()) {
		if (typeof value === "string")
			text += `'${value.replace(/['\\]/g, "\\$&")}'`;
		else text += value === null ? "NULL" : value;
		text += parts[at + 1];
	}
	return text;
}
