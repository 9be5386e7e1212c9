import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConnection } from "mysql2/promise";
import type { Say } from "./debian.ts";
import { findProgram } from "./program.ts";
import type { Server } from "./server.ts";
import { CREATE_USER, type Dialect, PASSWORD, startSql, USER } from "./sql.ts";

const INITIALISE_LIMIT_MS = 120_000;
const STATEMENT_LIMIT_MS = 10_000;

/** A replica that follows its primary, as one pair of the fleet. */
export interface Pair extends AsyncDisposable {
	readonly primary: Server;
	readonly replica: Server;
}

/** A MySQL of one's own, with a binary log and GTIDs as in a fleet. `args` are further options and win over ours. */
export async function startMysql({
	args = [],
	say = () => {},
}: {
	readonly args?: readonly string[];
	readonly say?: Say;
} = {}): Promise<Server> {
	const dialect: Dialect = {
		program: await findProgram("mysqld", say),
		messages: "share/mysql",
		options: [
			"--secure-file-priv=NULL",
			"--mysqlx=OFF",
			"--innodb-redo-log-capacity=64M",
			"--gtid-mode=ON",
			"--enforce-gtid-consistency=ON",
			// No two servers of a pair, or of runs beside each other, have the same.
			`--server-id=${randomInt(1, 2 ** 32)}`,
		],
		initialise,
	};
	return startSql(dialect, args, say);
}

/** Two servers, of which the second takes writes from the first only, by GTID. */
export async function startMysqlPair(
	options: { readonly args?: readonly string[]; readonly say?: Say } = {},
): Promise<Pair> {
	const stack = new AsyncDisposableStack();
	try {
		const start = async () => stack.use(await startMysql(options));
		const [primary, replica] = await settled([start(), start()]);
		await follow(replica, primary);
		stack.move();
		return {
			primary,
			replica,
			[Symbol.asyncDispose]: async () => {
				await settled([primary.stop(), replica.stop()]);
			},
		};
	} catch (error) {
		await stack.disposeAsync();
		throw error;
	}
}

/** Resolves once the replica has everything that its primary has now; rejects after `limitMs`. */
export async function caughtUp(
	{ primary, replica }: Pair,
	limitMs = STATEMENT_LIMIT_MS,
): Promise<void> {
	const [row] = await query(primary, "SELECT @@global.gtid_executed AS gtids");
	const [waited] = await query(
		replica,
		"SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?) AS late",
		[row?.gtids, limitMs / 1_000],
		limitMs + STATEMENT_LIMIT_MS,
	);
	if (waited?.late === 0) return;
	const [status] = await query(replica, "SHOW REPLICA STATUS");
	throw new Error(
		`expected the replica to catch up within ${limitMs} ms but got: ${status?.Last_Error || status?.Last_IO_Error || "no error, it is late"}`,
	);
}

async function follow(replica: Server, primary: Server): Promise<void> {
	await query(
		replica,
		"CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?, SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1, GET_SOURCE_PUBLIC_KEY = 1",
		[primary.host, primary.port, USER, PASSWORD],
	);
	await query(replica, "START REPLICA");
	await query(replica, "SET PERSIST super_read_only = ON");
}

async function query(
	{ url }: Server,
	sql: string,
	values: readonly unknown[] = [],
	timeout = STATEMENT_LIMIT_MS,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
	const connection = await createConnection({
		uri: url,
		connectTimeout: STATEMENT_LIMIT_MS,
	});
	try {
		const [rows] = await connection.query({ sql, values, timeout });
		return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
	} finally {
		connection.destroy();
	}
}

async function initialise(
	[file = "", ...args]: readonly string[],
	folder: string,
): Promise<void> {
	const init = `${folder}.sql`;
	await writeFile(init, CREATE_USER);
	try {
		await promisify(execFile)(
			file,
			[
				...args,
				"--initialize-insecure",
				`--init-file=${init}`,
				"--innodb-redo-log-capacity=32M",
			],
			{ timeout: INITIALISE_LIMIT_MS },
		);
	} finally {
		await rm(init, { force: true });
	}
	// The server's identity: each copy makes one of its own.
	await rm(join(folder, "auto.cnf"), { force: true });
}

/** All of them, waited for also where one fails: what was started is then known. */
async function settled<T extends readonly unknown[]>(
	promises: {
		readonly [K in keyof T]: Promise<T[K]>;
	},
): Promise<T> {
	await Promise.allSettled(promises);
	return (await Promise.all(promises)) as unknown as T;
}
