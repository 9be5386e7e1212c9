import { connect, type Socket } from "node:net";
import { createConnection, type SslOptions } from "mysql2";

/** Where a server is, and as whom we come. */
export interface ServerAddress {
	readonly host: string;
	readonly port: number;
	readonly user: string;
	readonly password: string;
	/** `host:port`, as statements and errors name it. */
	readonly name: string;
	/** Null for none. The same object for every connection: sessions are resumed by it. */
	readonly ssl: SslOptions | null;
}

export type Scalar = null | number | bigint | string;

/** A list stands for the inside of `IN (?)`. */
export type Value = Scalar | readonly (number | bigint | string)[];

/** Rows of a SELECT, or what a write did. */
export type Row = readonly unknown[];
export interface WriteResult {
	/** Rows that were changed: one set to what it was is not counted. */
	readonly affectedRows: number;
	/** A string where it is large. */
	readonly insertId: number | string;
}

/** The part of mysql2 that is used. */
export interface Mysql2Connection {
	readonly threadId: number | null;
	query(
		query: {
			readonly sql: string;
			readonly values: readonly Value[];
			readonly rowsAsArray: true;
		},
		done: (error: unknown, answer: readonly Row[] | WriteResult) => void,
	): void;
	on(event: "error" | "connect", listener: (thrown: unknown) => void): void;
	/** Says goodbye after what is under way. */
	end(done: () => void): void;
}

/** From when an idle connection is asked whether the other side is still there. */
const KEEP_ALIVE_MS = 10_000;

/**
 * A connection and its socket, which is ours so that it can be cut off: mysql2
 * itself only closes its half of it. FIELD §3.3 and §0.3 have the reasons for
 * the options; two more:
 *
 * - Values are put into the text by the client (`query`, not `execute`: each
 *   length of an IN list would be another prepared statement). Its escaping
 *   relies on backslashes, so the session's sql_mode is set by `session.ts`.
 * - Without FOUND_ROWS an insert tells how many rows were not there before.
 */
export function openMysql2Connection(
	{ host, port, user, password, ssl }: ServerAddress,
	connectMs: number,
): { readonly driver: Mysql2Connection; readonly socket: Socket } {
	const socket = connect({
		host,
		port,
		noDelay: true,
		keepAlive: true,
		keepAliveInitialDelay: KEEP_ALIVE_MS,
	});
	const driver = createConnection({
		stream: () => socket,
		// What the certificate has to name.
		host,
		port,
		...(ssl && { ssl }),
		user,
		password,
		connectTimeout: connectMs,
		charset: "utf8mb4",
		supportBigNumbers: true,
		bigNumberStrings: true,
		jsonStrings: true,
		dateStrings: true,
		timezone: "Z",
		stringifyObjects: true,
		multipleStatements: false,
		flags: ["-FOUND_ROWS", "-LOCAL_FILES"],
	});
	// Its types want mutable arrays and know many more forms of a query.
	return { driver: driver as unknown as Mysql2Connection, socket };
}
