/**
 * Loads the tab-separated files of a folder into MySQL and PostgreSQL, with the
 * indexes that the queries need:
 *
 *     node load.ts FOLDER MYSQL_URL POSTGRES_URL
 *
 * Either address may be `-`.
 */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import pg from "pg";

const [folder = ".", mysqlUrl = "-", postgresUrl = "-"] = process.argv.slice(2);
const TABLES = ["users", "boards", "pins", "likes", "follows"] as const;
const DATABASE = "relational";

const MYSQL_TABLES = [
	`CREATE TABLE users (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, username VARCHAR(100) NOT NULL, bio TEXT, seq BIGINT NOT NULL)`,
	`CREATE TABLE boards (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner_id BIGINT NOT NULL, name VARCHAR(200) NOT NULL, description TEXT, seq BIGINT NOT NULL, KEY (owner_id, seq, id))`,
	`CREATE TABLE pins (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, board_id BIGINT NOT NULL, owner_id BIGINT NOT NULL, details TEXT NOT NULL, link TEXT, seq BIGINT NOT NULL, KEY (board_id, seq, id), KEY (owner_id, seq, id))`,
	`CREATE TABLE likes (pin_id BIGINT NOT NULL, user_id BIGINT NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY (pin_id, user_id), KEY (pin_id, seq, user_id), KEY (user_id, seq, pin_id))`,
	`CREATE TABLE follows (follower_id BIGINT NOT NULL, followee_id BIGINT NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY (follower_id, followee_id), KEY (follower_id, seq, followee_id), KEY (followee_id, seq, follower_id))`,
];

const POSTGRES_TABLES = [
	`CREATE TABLE users (id BIGINT NOT NULL, username TEXT NOT NULL, bio TEXT, seq BIGINT NOT NULL)`,
	`CREATE TABLE boards (id BIGINT NOT NULL, owner_id BIGINT NOT NULL, name TEXT NOT NULL, description TEXT, seq BIGINT NOT NULL)`,
	`CREATE TABLE pins (id BIGINT NOT NULL, board_id BIGINT NOT NULL, owner_id BIGINT NOT NULL, details TEXT NOT NULL, link TEXT, seq BIGINT NOT NULL)`,
	`CREATE TABLE likes (pin_id BIGINT NOT NULL, user_id BIGINT NOT NULL, seq BIGINT NOT NULL)`,
	`CREATE TABLE follows (follower_id BIGINT NOT NULL, followee_id BIGINT NOT NULL, seq BIGINT NOT NULL)`,
];

/** After the rows, and with the foreign keys from which PostGraphile derives its fields. */
const POSTGRES_INDEXES = [
	`ALTER TABLE users ADD PRIMARY KEY (id)`,
	`ALTER TABLE boards ADD PRIMARY KEY (id), ADD FOREIGN KEY (owner_id) REFERENCES users (id)`,
	`ALTER TABLE pins ADD PRIMARY KEY (id), ADD FOREIGN KEY (board_id) REFERENCES boards (id), ADD FOREIGN KEY (owner_id) REFERENCES users (id)`,
	`ALTER TABLE likes ADD PRIMARY KEY (pin_id, user_id), ADD FOREIGN KEY (pin_id) REFERENCES pins (id), ADD FOREIGN KEY (user_id) REFERENCES users (id)`,
	`ALTER TABLE follows ADD PRIMARY KEY (follower_id, followee_id), ADD FOREIGN KEY (follower_id) REFERENCES users (id), ADD FOREIGN KEY (followee_id) REFERENCES users (id)`,
	`CREATE INDEX ON boards (owner_id, seq DESC, id)`,
	`CREATE INDEX ON pins (board_id, seq DESC, id)`,
	`CREATE INDEX ON pins (owner_id, seq DESC, id)`,
	`CREATE INDEX ON likes (pin_id, seq DESC, user_id)`,
	`CREATE INDEX ON likes (user_id, seq DESC, pin_id)`,
	`CREATE INDEX ON follows (follower_id, seq DESC, followee_id)`,
	`CREATE INDEX ON follows (followee_id, seq DESC, follower_id)`,
	...["boards", "pins", "likes", "follows"].map(
		(table) => `COMMENT ON COLUMN ${table}.seq IS '@behavior +orderBy'`,
	),
];

async function loadMysql(): Promise<void> {
	const connection = await createConnection({ uri: mysqlUrl });
	try {
		await connection.query("SET GLOBAL local_infile = 1");
		await connection.query(`CREATE DATABASE ${DATABASE}`);
		await connection.query(`USE ${DATABASE}`);
		await connection.query("SET unique_checks = 0");
		for (const statement of MYSQL_TABLES) await connection.query(statement);
		for (const table of TABLES) {
			const path = join(folder, `${table}.tsv`);
			await connection.query({
				sql: `LOAD DATA LOCAL INFILE '${table}' INTO TABLE ${table} CHARACTER SET utf8mb4`,
				infileStreamFactory: () => createReadStream(path),
			});
		}
		await connection.query(`ANALYZE TABLE ${TABLES.join(", ")}`);
	} finally {
		await connection.end();
	}
}

async function loadPostgres(): Promise<void> {
	const first = new pg.Client(`${postgresUrl}/postgres`);
	await first.connect();
	await first.query(`CREATE DATABASE ${DATABASE}`);
	await first.end();
	const client = new pg.Client(`${postgresUrl}/${DATABASE}`);
	await client.connect();
	try {
		for (const statement of POSTGRES_TABLES) await client.query(statement);
		for (const table of TABLES) {
			const path = join(folder, `${table}.tsv`).replaceAll("'", "''");
			// The server reads the file itself: it runs on this machine.
			await client.query(`COPY ${table} FROM '${path}'`);
		}
		for (const statement of POSTGRES_INDEXES) await client.query(statement);
		await client.query("VACUUM ANALYZE");
	} finally {
		await client.end();
	}
}

await Promise.all([
	mysqlUrl === "-" ? undefined : loadMysql(),
	postgresUrl === "-" ? undefined : loadPostgres(),
]);
