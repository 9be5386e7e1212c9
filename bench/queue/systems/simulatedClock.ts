import { createConnection, type RowDataPacket } from "mysql2/promise";

const USER = "simulated";
const PASSWORD = "simulated";

/** A MySQL server whose new sessions of one user read the time that was set. */
export interface SimulatedClock extends AsyncDisposable {
	/** For sessions that read that time. */
	readonly url: string;
	/** Sessions that are opened from now on read this; their clock is stopped. Milliseconds since 1970. */
	set(ms: number): Promise<void>;
	/** Bytes of the files of all tables of databases with such a name (LIKE). */
	fileBytes(databases: string): Promise<number>;
}

/**
 * `init_connect` sets the session's `timestamp`, which NOW() follows. It is not
 * run for users who may do everything, so the user is another one.
 */
export async function openSimulatedClock(url: string): Promise<SimulatedClock> {
	const admin = await createConnection({ uri: url });
	await admin.query(`DROP USER IF EXISTS ${USER}`);
	await admin.query(`CREATE USER ${USER} IDENTIFIED BY '${PASSWORD}'`);
	await admin.query(
		`GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, LOCK TABLES, PROCESS ON *.* TO ${USER}`,
	);
	const own = new URL(url);
	own.username = USER;
	own.password = PASSWORD;
	return {
		url: own.href,
		async set(ms) {
			await admin.query("SET GLOBAL init_connect = ?", [
				`SET timestamp = ${Math.floor(ms / 1_000)}`,
			]);
		},
		async fileBytes(databases) {
			const [[row]] = await admin.query<RowDataPacket[]>(
				"SELECT SUM(file_size) AS bytes FROM information_schema.innodb_tablespaces WHERE name LIKE ?",
				[`${databases}/%`],
			);
			return Number(row?.bytes);
		},
		async [Symbol.asyncDispose]() {
			await admin.query("SET GLOBAL init_connect = ''");
			await admin.end();
		},
	};
}
