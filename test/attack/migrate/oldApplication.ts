import { createRequire } from "node:module";
import { createConnection } from "mysql2/promise";
import type { Random } from "../../../src/util/random.ts";
import type { Server } from "../../services/server.ts";

/** An application as Rails would have it: numbers for keys, counters, rows that are marked as deleted and rows that are deleted. */
export interface OldApplication extends AsyncDisposable {
	readonly url: string;
	/** Fills the tables from the lines of an import. Returns the rows. */
	load(lines: Iterable<string>): Promise<number>;
	/** One write, of any kind. */
	write(random: Random): Promise<void>;
	/** Rows and transactions of the kinds that get lost. Call what it returns to commit the late one. */
	plantGremlins(): Promise<() => Promise<void>>;
	/** What it lets nobody write to it any more. */
	stopWrites(): Promise<void>;
	readonly writes: number;
}

/** Keys of rows that cannot be taken over. */
export const PLANTED_BAD = /^(?:User:(?:900001|900002|900004)|Pin:900003)\b/;

interface Statements {
	run(text: string): Promise<void>;
	close(): Promise<void>;
}

interface Dialect {
	readonly url: string;
	readonly tables: readonly string[];
	readonly zeroDate: string;
	readonly noUtf8: string;
	readonly stop: readonly string[];
	connect(): Promise<Statements>;
}

export async function openOldMysql(server: Server): Promise<OldApplication> {
	const base = server.url.replace(/\/$/, "");
	const admin = await createConnection({ uri: base });
	await admin.query("CREATE DATABASE legacy");
	await admin.end();
	const url = `${base}/legacy`;
	return open({
		url,
		tables: [
			"CREATE TABLE users (id BIGINT AUTO_INCREMENT PRIMARY KEY, login VARCHAR(60) CHARACTER SET latin1, full_name VARCHAR(120) CHARACTER SET utf8mb4, email VARCHAR(120), bio VARBINARY(500), pins_count INT NOT NULL DEFAULT 0, created_at DATETIME, updated_at DATETIME)",
			"CREATE TABLE boards (id INT AUTO_INCREMENT PRIMARY KEY, user_id BIGINT, title VARCHAR(120), deleted_at DATETIME)",
			"CREATE TABLE pins (id INT AUTO_INCREMENT PRIMARY KEY, board_id INT, copied_from INT, caption TEXT, source_url TEXT, deleted_at DATETIME, created_at DATETIME(3), updated_at DATETIME, KEY (board_id))",
			"CREATE TABLE likes (id INT AUTO_INCREMENT PRIMARY KEY, user_id BIGINT, likeable_type VARCHAR(20), likeable_id INT, created_at DATETIME, KEY (user_id))",
			"CREATE TABLE follows (follower_id BIGINT, followed_id BIGINT, created_at DATETIME, PRIMARY KEY (follower_id, followed_id))",
		],
		zeroDate: "'0000-00-00 00:00:00'",
		noUtf8: "X'FF41'",
		stop: ["SET GLOBAL super_read_only = ON"],
		async connect() {
			const connection = await createConnection({ uri: url });
			const run = async (text: string) => {
				await connection.query(text);
			};
			await run("SET sql_mode = ''");
			await run("SET time_zone = '+00:00'");
			return { run, close: () => connection.end() };
		},
	});
}

interface PgClient {
	connect(): Promise<void>;
	query(text: string): Promise<unknown>;
	end(): Promise<void>;
}

export async function openOldPostgres(server: Server): Promise<OldApplication> {
	const { Client } = createRequire(import.meta.url)("pg") as {
		readonly Client: new (options: object) => PgClient;
	};
	const url = `${server.url.replace(/\/$/, "")}/postgres`;
	return open({
		url,
		tables: [
			"CREATE TABLE users (id BIGSERIAL PRIMARY KEY, login TEXT, full_name TEXT, email TEXT, bio BYTEA, pins_count INT NOT NULL DEFAULT 0, created_at TIMESTAMP, updated_at TIMESTAMP)",
			"CREATE TABLE boards (id SERIAL PRIMARY KEY, user_id BIGINT, title TEXT, deleted_at TIMESTAMP)",
			"CREATE TABLE pins (id SERIAL PRIMARY KEY, board_id INT, copied_from INT, caption TEXT, source_url TEXT, deleted_at TIMESTAMP, created_at TIMESTAMP, updated_at TIMESTAMP)",
			"CREATE INDEX ON pins (board_id)",
			"CREATE TABLE likes (id SERIAL PRIMARY KEY, user_id BIGINT, likeable_type TEXT, likeable_id INT, created_at TIMESTAMP)",
			"CREATE INDEX ON likes (user_id)",
			"CREATE TABLE follows (follower_id BIGINT, followed_id BIGINT, created_at TIMESTAMP, PRIMARY KEY (follower_id, followed_id))",
			"ALTER TABLE likes REPLICA IDENTITY FULL",
			"CREATE PUBLICATION corkboard_old FOR TABLE users, boards, pins, likes, follows",
		],
		zeroDate: "'infinity'",
		noUtf8: "'\\xff41'",
		stop: ["ALTER DATABASE postgres SET default_transaction_read_only = on"],
		async connect() {
			const client = new Client({ connectionString: url });
			await client.connect();
			await client.query("SET TIME ZONE 'UTC'");
			const run = async (text: string) => {
				await client.query(text);
			};
			return { run, close: () => client.end() };
		},
	});
}

/** The mapping of these tables. The source is in the environment. */
export const MAPPING = `import { blankToNull, local, migration, ref, utc } from "corkboard";

export default migration({
	source: process.env.OLD_DATABASE ?? "",
	types: {
		User: {
			table: "users", key: "id", changed: "updated_at",
			fields: {
				username: "login", name: "full_name", email: blankToNull("email"), bio: "bio",
				createdAt: local("created_at", "Europe/Berlin"),
			},
		},
		Board: {
			table: "boards", key: "id", deleted: "deleted_at",
			fields: { name: "title", owner: ref("User", "user_id") },
		},
		Pin: {
			table: "pins", key: "id", changed: "updated_at", deleted: "deleted_at",
			fields: {
				details: blankToNull("caption"), link: blankToNull("source_url"), board: ref("Board", "board_id"),
				origin: ref("Pin", "copied_from"), createdAt: utc("created_at"),
			},
		},
	},
	edges: {
		likePin: {
			table: "likes", key: "id", only: (row) => row.likeable_type === "Pin",
			from: ref("User", "user_id"), to: ref("Pin", "likeable_id"), at: utc("created_at"),
		},
		followUser: {
			table: "follows", from: ref("User", "follower_id"), to: ref("User", "followed_id"), at: utc("created_at"),
		},
	},
});
`;

/** Rows of one statement. */
const ROWS = 2_000;
const EPOCH = Date.UTC(2015, 0);

async function open(dialect: Dialect): Promise<OldApplication> {
	const statements = await dialect.connect();
	const { run } = statements;
	for (const table of dialect.tables) await run(table);
	const last = { users: 0, boards: 0, pins: 0 };
	let clock = EPOCH;
	let writes = 0;
	const time = () => {
		clock += 1_000;
		return quote(stamp(clock));
	};

	async function insert(
		table: string,
		columns: string,
		rows: readonly string[],
	): Promise<void> {
		for (let at = 0; at < rows.length; at += ROWS) {
			const some = rows.slice(at, at + ROWS).map((row) => `(${row})`);
			await run(`INSERT INTO ${table} (${columns}) VALUES ${some.join(", ")}`);
		}
	}

	return {
		url: dialect.url,
		get writes() {
			return writes;
		},
		async load(lines) {
			const ids = new Map<string, number>();
			const tables = {
				users: [] as string[],
				boards: [] as string[],
				pins: [] as string[],
				likes: [] as string[],
				follows: [] as string[],
			};
			const idOf = (key: string) => ids.get(key) ?? "NULL";
			for (const text of lines) {
				const line = JSON.parse(text);
				const { fields = {} } = line;
				if (line.type === "User") {
					ids.set(line.key, ++last.users);
					const mail =
						last.users % 3 === 0
							? "''"
							: quote(`${fields.username}@example.org`);
					tables.users.push(
						`${quote(fields.username)}, ${quote(fields.name)}, ${mail}, 7, ${time()}, ${time()}`,
					);
				} else if (line.type === "Board") {
					ids.set(line.key, ++last.boards);
					tables.boards.push(`${idOf(fields.owner)}, ${quote(fields.name)}`);
				} else if (line.type === "Pin") {
					ids.set(line.key, ++last.pins);
					tables.pins.push(
						`${idOf(fields.board)}, ${idOf(fields.origin)}, ${quote(fields.details)}, ${quote(fields.link)}, ${time()}, ${time()}`,
					);
				} else if (line.edge === "likePin") {
					tables.likes.push(
						`${idOf(line.from)}, 'Pin', ${idOf(line.to)}, ${time()}`,
					);
				} else if (line.edge === "followUser") {
					tables.follows.push(
						`${idOf(line.from)}, ${idOf(line.to)}, ${time()}`,
					);
				}
			}
			await insert(
				"users",
				"login, full_name, email, pins_count, created_at, updated_at",
				tables.users,
			);
			await insert("boards", "user_id, title", tables.boards);
			await insert(
				"pins",
				"board_id, copied_from, caption, source_url, created_at, updated_at",
				tables.pins,
			);
			await insert(
				"likes",
				"user_id, likeable_type, likeable_id, created_at",
				tables.likes,
			);
			await insert(
				"follows",
				"follower_id, followed_id, created_at",
				tables.follows,
			);
			return Object.values(tables).reduce((sum, rows) => sum + rows.length, 0);
		},
		async write(random) {
			writes++;
			const any = (table: keyof typeof last) =>
				1 + Math.floor(random.fraction() * last[table]);
			const n = writes;
			switch (Math.floor(random.fraction() * 9)) {
				case 0:
					last.users++;
					return run(
						`INSERT INTO users (login, full_name, created_at, updated_at) VALUES ('w${n}', 'Written ${n}', ${time()}, ${time()})`,
					);
				case 1:
					// The clock of a server that jumps: a time that is older than what was there.
					return run(
						`UPDATE users SET full_name = 'Named ${n}', updated_at = '2001-01-01 00:00:00' WHERE id = ${any("users")}`,
					);
				case 2:
					last.boards++;
					return run(
						`INSERT INTO boards (user_id, title) VALUES (${any("users")}, 'Board ${n}')`,
					);
				case 3:
					last.pins++;
					return run(
						`INSERT INTO pins (board_id, copied_from, caption, created_at, updated_at) VALUES (${any("boards")}, ${any("pins")}, 'Pin ${n}', ${time()}, ${time()})`,
					);
				case 4:
					return run(
						`UPDATE pins SET caption = 'Again ${n}' WHERE id = ${any("pins")}`,
					);
				case 5:
					return run(
						`UPDATE pins SET deleted_at = ${time()} WHERE id = ${any("pins")}`,
					);
				case 6:
					return run(`DELETE FROM pins WHERE id = ${any("pins")}`);
				case 7:
					return run(
						`INSERT INTO likes (user_id, likeable_type, likeable_id, created_at) VALUES (${any("users")}, 'Pin', ${any("pins")}, ${time()})`,
					);
				default:
					return run(`DELETE FROM likes WHERE user_id = ${any("users")}`);
			}
		},
		async plantGremlins() {
			const user = (id: number, email: string, more = "NULL", at = time()) =>
				`INSERT INTO users (id, login, full_name, email, bio, created_at, updated_at) VALUES (${id}, 'gremlin${id}', 'Gremlin', ${email}, ${more}, ${at}, ${at})`;
			await run(user(900_001, "NULL", dialect.noUtf8));
			await run(user(900_002, "NULL", "NULL", dialect.zeroDate));
			await run(user(900_004, "NULL"));
			// A changed e-mail that collides.
			await run(
				"UPDATE users SET email = 'pinner1@example.org' WHERE id = 900004",
			);
			// A key that is used again.
			const pin = (id: number, caption: string, at: string) =>
				`INSERT INTO pins (id, board_id, caption, created_at, updated_at) VALUES (${id}, 1, ${quote(caption)}, ${at}, ${at})`;
			await run(pin(900_003, "first", time()));
			// One whose transaction stays open while passes go on, with an old time.
			const late = await dialect.connect();
			await late.run("BEGIN");
			await late.run(pin(900_005, "late", "'2001-01-01 00:00:00'"));
			return async () => {
				await run("DELETE FROM pins WHERE id = 900003");
				await late.run("COMMIT");
				await late.close();
				// A row in two pages: it moves to the end while it is read.
				await run(
					"UPDATE likes SET id = 900006 WHERE id = (SELECT id FROM (SELECT MIN(id) AS id FROM likes) AS least)",
				);
			};
		},
		async stopWrites() {
			for (const text of dialect.stop) await run(text);
		},
		async [Symbol.asyncDispose]() {
			await statements.close().catch(() => {});
		},
	};
}

function stamp(time: number): string {
	return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

function quote(text: string | undefined): string {
	return text === undefined ? "NULL" : `'${text.replaceAll("'", "''")}'`;
}
