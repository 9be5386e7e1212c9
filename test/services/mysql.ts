import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { findProgram } from "./program.ts";
import type { Server } from "./server.ts";
import {
	CREATE_USER,
	type Dialect,
	type Filling,
	IDENTITY,
	PASSWORD,
	startSql,
	USER,
} from "./sql.ts";

const INITIALISE_LIMIT_MS = 600_000;
const STATEMENT_LIMIT_MS = 60_000;

/** A replica that follows its primary, as one pair of the fleet. */
export interface Pair extends AsyncDisposable {
	readonly primary: Server;
	readonly replica: Server;
}

/** A MySQL of one's own, with a binary log and GTIDs as in a fleet. `args` are further options and win over ours. */
export async function startMysql({
	args = [],
	filling = null,
}: {
	readonly args?: readonly string[];
	/** What it has from its start. */
	readonly filling?: Filling | null;
} = {}): Promise<Server> {
	const dialect: Dialect = {
		program: await findProgram("mysqld"),
		messages: "share/mysql",
		options: [
			"--secure-file-priv=NULL",
			"--mysqlx=OFF",
			"--innodb-redo-log-capacity=16M",
			"--gtid-mode=ON",
			"--enforce-gtid-consistency=ON",
			// No two servers of a pair, or of runs beside each other, have the same.
			`--server-id=${randomInt(1, 2 ** 32)}`,
		],
		initialise,
	};
	return startSql(dialect, args, filling);
}

/** Two servers, of which the second takes writes from the first only, by GTID. */
export async function startMysqlPair({
	args = [],
}: {
	readonly args?: readonly string[];
} = {}): Promise<Pair> {
	await using stack = new AsyncDisposableStack();
	const start = async (...more: readonly string[]) =>
		stack.use(await startMysql({ args: [...args, ...more] }));
	const starting = [
		start(),
		// As an option: it holds after every restart.
		start("--super-read-only"),
	] as const;
	// Waited for even if one fails, so that the other is stopped.
	await Promise.allSettled(starting);
	const [primary, replica] = await Promise.all(starting);
	await follow(replica, primary);
	const owned = stack.move();
	return {
		primary,
		replica,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** Resolves once the replica has everything that its primary has now; rejects after `limitMs`. */
export async function caughtUp(
	{ primary, replica }: Pick<Pair, "primary" | "replica">,
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
		"CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?, SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 0, GET_SOURCE_PUBLIC_KEY = 1",
		[primary.host, primary.port, USER, PASSWORD],
	);
	await query(replica, "START REPLICA");
}

async function query(
	{ url }: Server,
	sql: string,
	values: readonly unknown[] = [],
	timeout = STATEMENT_LIMIT_MS,
): Promise<readonly RowDataPacket[]> {
	const connection = await createConnection({
		uri: url,
		connectTimeout: STATEMENT_LIMIT_MS,
	});
	try {
		const [rows] = await connection.query<RowDataPacket[]>({
			sql,
			values: [...values],
			timeout,
		});
		return rows;
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
				"--innodb-redo-log-capacity=16M",
				"--innodb-doublewrite=OFF",
			],
			{ timeout: INITIALISE_LIMIT_MS },
		);
	} finally {
		await rm(init, { force: true });
	}
	await rm(join(folder, IDENTITY), { force: true });
}
