import { createRequire } from "node:module";
import { createConnection } from "mysql2/promise";
import type { Server } from "../../services/server.ts";

/** A database that an application has filled for years. */
export interface OldDatabase extends AsyncDisposable {
	readonly url: string;
	/** The rows that cannot be taken over. */
	readonly bad: readonly string[];
	run(...statements: readonly string[]): Promise<void>;
	/** Ends the session, and begins another. Of PostgreSQL only. */
	reconnect?(): Promise<void>;
}

/** What both databases understand. */
const ROWS = [
	// 1 and 4 have the same e-mail, 2 and 3 an empty one and none.
	"INSERT INTO users VALUES (1, 'ada', 'Ada', 'Lovelace', 'ada@example.org', 'first', 0, '2019-07-01 12:00:00', '2020-01-01 00:00:00')",
	"INSERT INTO users VALUES (2, 'bob', 'Bob', 'Ross', '', '', 0, '2019-01-01 12:00:00', '2020-01-01 00:00:00')",
	"INSERT INTO users VALUES (3, 'cyd', 'Cyd', 'Charisse', NULL, NULL, 7, '2019-10-27 02:30:00', '2020-01-01 00:00:00')",
	"INSERT INTO users VALUES (4, 'dan', 'Dan', 'Dare', 'ADA@example.org', NULL, 0, '2019-01-01 00:00:00', '2020-01-01 00:00:00')",
	"INSERT INTO users VALUES (6, 'x', 'Too', 'Short', NULL, NULL, 0, '2019-01-01 00:00:00', '2020-01-01 00:00:00')",
	"INSERT INTO users VALUES (7, 'eve', 'Eve', 'Online', NULL, NULL, 0, NULL, '2020-01-01 00:00:00')",
	"INSERT INTO boards VALUES (1, 1, 'CafÃ©', FALSE), (2, 2, 'Straße', TRUE), (3, 99, 'Orphan', FALSE)",
	"INSERT INTO pins VALUES (1, 1, NULL, 'one', NULL, '2020-01-01 00:00:01', '2020-01-01 00:00:00')",
	"INSERT INTO pins VALUES (2, 1, 1, '', NULL, '2020-01-01 00:00:02', '2020-01-01 00:00:00')",
	"INSERT INTO pins VALUES (3, 2, NULL, 'soft deleted', '2020-02-02 00:00:00', '2020-01-01 00:00:03', '2020-01-01 00:00:00')",
	"INSERT INTO pins VALUES (4, 2, 5, 'copied before', NULL, '2020-01-01 00:00:04', '2020-01-01 00:00:00')",
	"INSERT INTO pins VALUES (5, 2, NULL, '2 lines\nand 🎉', NULL, '2020-01-01 00:00:05', '2020-01-01 00:00:00')",
	// In another order than that of their times, and two in one second.
	"INSERT INTO likes VALUES (1, 1, 'Pin', 1, '2021-01-01 00:00:00'), (2, 1, 'Pin', 2, '2020-01-01 00:00:00'), (3, 1, 'Pin', 5, '2020-01-01 00:00:00'), (4, 2, 'Comment', 1, '2020-01-01 00:00:00'), (5, 2, 'Pin', 1, '2020-01-01 00:00:00'), (6, 2, 'Pin', 77, '2020-01-01 00:00:00')",
	"INSERT INTO follows VALUES (1, 2, '2020-01-01 00:00:00'), (2, 1, '2020-01-01 00:00:00'), (3, 3, '2020-01-01 00:00:00')",
];

const NOBODY = (end: string, key: string) =>
	`${end}: no row of the mapping has the key "${key}".`;

const BAD = [
	`Board:3: ${NOBODY("owner", "User:99")}`,
	'Pin:4: origin: "Pin:5" is not here yet. The next pass tries again.',
	"User:4: The User's email is taken.",
	'User:6: username must be 3 to 30 of A-Z a-z 0-9 _, got "x".',
	"followUser User:3 User:3: from and to must differ.",
	`likePin User:2 Pin:77: ${NOBODY("to", "Pin:77")}`,
];

export async function openOldMysql({ url }: Server): Promise<OldDatabase> {
	const connection = await createConnection({
		uri: url,
		charset: "utf8mb4",
		multipleStatements: false,
	});
	const run = async (...statements: readonly string[]) => {
		for (const statement of statements) await connection.query(statement);
	};
	await run(
		"SET sql_mode = ''",
		"CREATE DATABASE legacy",
		"USE legacy",
		"CREATE TABLE users (id BIGINT AUTO_INCREMENT PRIMARY KEY, login VARCHAR(60) CHARACTER SET latin1, first VARCHAR(60), last VARCHAR(60), email VARCHAR(120), bio BLOB, pins_count INT, created_at DATETIME, updated_at DATETIME)",
		"CREATE TABLE boards (id INT AUTO_INCREMENT PRIMARY KEY, user_id BIGINT, title VARCHAR(60) CHARACTER SET latin1, private TINYINT(1))",
		"CREATE TABLE pins (id INT AUTO_INCREMENT PRIMARY KEY, board_id INT, copied_from INT, caption TEXT CHARACTER SET utf8mb4, deleted_at DATETIME, created_at TIMESTAMP(3), updated_at DATETIME)",
		"CREATE TABLE likes (id INT AUTO_INCREMENT PRIMARY KEY, user_id BIGINT, likeable_type VARCHAR(20), likeable_id INT, created_at DATETIME)",
		"CREATE TABLE follows (follower_id BIGINT, followed_id BIGINT, created_at DATETIME, PRIMARY KEY (follower_id, followed_id))",
		"SET time_zone = '+00:00'",
		...ROWS,
		"INSERT INTO users VALUES (8, 'zero', 'Zero', 'Date', NULL, NULL, 0, '0000-00-00 00:00:00', NULL)",
		"INSERT INTO users VALUES (9, 'bytes', 'Bytes', 'Wrong', NULL, X'FF41', 0, NULL, NULL)",
	);
	return {
		url: `${url.replace(/\/$/, "")}/legacy`,
		run,
		bad: [
			...BAD,
			'User:8: created_at is the date of zeros 0000-00-00 00:00:00: write utc("created_at", { zero: "null" }) for no value, or a function.',
			"User:9: bio is not UTF-8.",
		].toSorted(),
		[Symbol.asyncDispose]: async () => connection.destroy(),
	};
}

interface PgClient {
	connect(): Promise<void>;
	query(text: string): Promise<unknown>;
	end(): Promise<void>;
}

export async function openOldPostgres({ url }: Server): Promise<OldDatabase> {
	const { Client } = createRequire(import.meta.url)("pg") as {
		readonly Client: new (options: object) => PgClient;
	};
	const base = url.replace(/\/$/, "");
	const admin = new Client({ connectionString: `${base}/postgres` });
	await admin.connect();
	await admin.query("CREATE DATABASE legacy");
	await admin.end();
	const connect = async () => {
		const client = new Client({ connectionString: `${base}/legacy` });
		await client.connect();
		return client;
	};
	let client = await connect();
	const run = async (...statements: readonly string[]) => {
		for (const statement of statements) await client.query(statement);
	};
	await run(
		"CREATE TABLE users (id BIGSERIAL PRIMARY KEY, login TEXT, first TEXT, last TEXT, email TEXT, bio BYTEA, pins_count INT, created_at TIMESTAMP, updated_at TIMESTAMP)",
		"CREATE TABLE boards (id SERIAL PRIMARY KEY, user_id BIGINT, title TEXT, private BOOLEAN)",
		"CREATE TABLE pins (id SERIAL PRIMARY KEY, board_id INT, copied_from INT, caption TEXT, deleted_at TIMESTAMP, created_at TIMESTAMPTZ, updated_at TIMESTAMP)",
		"CREATE TABLE likes (id SERIAL PRIMARY KEY, user_id BIGINT, likeable_type TEXT, likeable_id INT, created_at TIMESTAMP)",
		"CREATE TABLE follows (follower_id BIGINT, followed_id BIGINT, created_at TIMESTAMP, PRIMARY KEY (follower_id, followed_id))",
		"SET TIME ZONE 'UTC'",
		...ROWS,
		"INSERT INTO users VALUES (8, 'zero', 'Zero', 'Date', NULL, NULL, 0, 'infinity', NULL)",
		"INSERT INTO users VALUES (9, 'bytes', 'Bytes', 'Wrong', NULL, '\\xff41', 0, NULL, NULL)",
	);
	return {
		url: `${base}/legacy`,
		run,
		bad: [
			...BAD,
			"User:8: created_at is no time: infinity.",
			"User:9: bio is not UTF-8.",
		].toSorted(),
		async reconnect() {
			await client.end();
			client = await connect();
		},
		[Symbol.asyncDispose]: () => client.end(),
	};
}
