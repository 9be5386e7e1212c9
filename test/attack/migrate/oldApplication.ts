import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import type { Random } from "../../../src/util/random.ts";
import type { Server } from "../../services/server.ts";

/** An application as Rails would have it: numbers for keys, counters, rows that are marked as deleted and rows that are deleted. */
export interface OldApplication extends AsyncDisposable {
	readonly url: string;
	/** Fills the tables from the lines of an import. Returns the rows. */
	load(lines: Iterable<string>): Promise<number>;
	/** One write, of any kind. While the server is away it waits for it, and the write is lost. */
	write(random: Random): Promise<void>;
	/** Rows and transactions of the kinds that get lost. Call what it returns to commit the late one. */
	plantGremlins(): Promise<() => Promise<void>>;
	/** Lets nobody write to it any more. */
	stopWrites(): Promise<void>;
	/** All rows of a table, without any code of a migration. Times are texts. */
	rows(table: string): Promise<readonly OldRow[]>;
	readonly writes: number;
	/** How often its server was away. */
	readonly outages: number;
}

export type OldRow = Readonly<Record<string, string | number | Buffer | null>>;

/** The ids of rows that are planted. */
export const PLANTED = {
	notUtf8: -1,
	zeroDate: -2,
	usedAgain: -3,
	collides: -4,
	late: -5,
	moved: -6,
} as const;

interface Statements {
	run(text: string): Promise<readonly OldRow[]>;
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
			const connection = await createConnection({
				uri: url,
				dateStrings: true,
			});
			connection.on("error", () => {});
			const run = async (text: string) => {
				const [rows] = await connection.query(text);
				return rows as readonly OldRow[];
			};
			await run("SET sql_mode = ''");
			await run("SET time_zone = '+00:00'");
			return { run, close: () => connection.end() };
		},
	});
}

interface PgClient {
	connect(): Promise<void>;
	on(event: "error", listener: () => void): void;
	query(text: string): Promise<{ readonly rows: readonly OldRow[] }>;
	end(): Promise<void>;
}

/** Times as the server writes them. */
const AS_TEXT = {
	getTypeParser: (oid: number) =>
		[17, 20, 23].includes(oid) ? readers.get(oid) : (text: string) => text,
};
const readers = new Map<number, (text: string) => unknown>([
	[17, (text) => Buffer.from(text.slice(2), "hex")],
	[20, Number],
	[23, Number],
]);

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
			const client = new Client({ connectionString: url, types: AS_TEXT });
			client.on("error", () => {});
			await client.connect();
			await client.query("SET TIME ZONE 'UTC'");
			const run = async (text: string) => (await client.query(text)).rows;
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
/** No server is away nearly as long. Milliseconds. */
const OUTAGE_MS = 180_000;
const EPOCH = Date.UTC(2015, 0);

async function open(dialect: Dialect): Promise<OldApplication> {
	let statements = await dialect.connect();
	/** Whether the session was closed because writes are stopped. */
	let isStopped = false;
	const run = (text: string) => statements.run(text);
	for (const table of dialect.tables) await run(table);
	const last = { users: 0, boards: 0, pins: 0, likes: 0 };
	let clock = EPOCH;
	let writes = 0;
	let outages = 0;
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

	async function reconnect(): Promise<void> {
		outages++;
		await statements.close().catch(() => {});
		const until = performance.now() + OUTAGE_MS;
		for (;;) {
			try {
				statements = await dialect.connect();
				return;
			} catch (error) {
				if (performance.now() > until) throw error;
				await sleep(50);
			}
		}
	}

	/** What one write of the application says. */
	function statementsOf(random: Random): readonly string[] {
		const any = (table: keyof typeof last) =>
			1 + Math.floor(random.fraction() * last[table]);
		const n = writes;
		const user = (login: string) =>
			`INSERT INTO users (login, full_name, created_at, updated_at) VALUES ('${login}', 'Written ${n}', ${time()}, ${time()})`;
		const pin = () =>
			`INSERT INTO pins (board_id, copied_from, caption, created_at, updated_at) VALUES (${any("boards")}, ${any("pins")}, 'Pin ${n}', ${time()}, ${time()})`;
		const like = (type: string) =>
			`INSERT INTO likes (user_id, likeable_type, likeable_id, created_at) VALUES (${any("users")}, '${type}', ${any("pins")}, ${time()})`;
		switch (Math.floor(random.fraction() * 14)) {
			case 0:
				last.users++;
				return [user(`written_${n}`)];
			case 1:
				// The clock of a server that jumps: a time that is older than what was there.
				return [
					`UPDATE users SET full_name = 'Named ${n}', updated_at = '2001-01-01 00:00:00' WHERE id = ${any("users")}`,
				];
			case 2:
				last.boards++;
				return [
					`INSERT INTO boards (user_id, title) VALUES (${any("users")}, 'Board ${n}')`,
				];
			case 3:
				last.pins++;
				return [pin()];
			case 4:
				return [
					`UPDATE pins SET caption = 'Again ${n}' WHERE id = ${any("pins")}`,
				];
			case 5:
				return [
					`UPDATE pins SET deleted_at = ${time()} WHERE id = ${any("pins")}`,
				];
			case 6:
				return [`DELETE FROM pins WHERE id = ${any("pins")}`];
			case 7:
				return [like("Pin")];
			case 8:
				return [like("Comment")];
			case 9:
				return [`DELETE FROM likes WHERE user_id = ${any("users")}`];
			case 10:
				// Not deleted any more, and on another board.
				return [
					`UPDATE pins SET deleted_at = NULL, board_id = ${any("boards")} WHERE id = ${any("pins")}`,
				];
			case 11:
				// Another edge from now on, and maybe a polymorphic row of another type.
				return [
					`UPDATE likes SET likeable_id = ${any("pins")}, likeable_type = '${n % 5 === 0 ? "Comment" : "Pin"}' WHERE id = ${any("likes")}`,
				];
			case 12: {
				// One follows and is not followed any more, many times: the key is used again.
				const [from, to] = [any("users"), any("users")];
				return [
					`DELETE FROM follows WHERE follower_id = ${from} AND followed_id = ${to}`,
					`INSERT INTO follows (follower_id, followed_id, created_at) VALUES (${from}, ${to}, ${time()})`,
				];
			}
			default:
				// A transaction over several tables, which is not always committed.
				last.users++;
				last.pins++;
				return [
					"BEGIN",
					user(`together_${n}`),
					pin(),
					like("Pin"),
					n % 3 === 0 ? "ROLLBACK" : "COMMIT",
				];
		}
	}

	return {
		url: dialect.url,
		get writes() {
			return writes;
		},
		get outages() {
			return outages;
		},
		async rows(table) {
			if (isStopped) {
				statements = await dialect.connect();
				isStopped = false;
			}
			return run(`SELECT * FROM ${table}`);
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
					last.likes++;
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
			await run(
				`INSERT INTO pins (id, board_id, caption) VALUES (${PLANTED.usedAgain}, 1, 'first')`,
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
			return Object.values(tables).reduce((sum, rows) => sum + rows.length, 1);
		},
		async write(random) {
			writes++;
			try {
				for (const text of statementsOf(random)) await run(text);
			} catch (error) {
				// A transaction that was under way is gone with the server.
				if (!isLost(error)) throw error;
				await reconnect();
			}
		},
		async plantGremlins() {
			// Sessions of their own: in the one of the writes, they might be within a transaction that is rolled back.
			const planting = await dialect.connect();
			const late = await dialect.connect();
			const user = (id: number, email: string, more = "NULL", at = time()) =>
				`INSERT INTO users (id, login, full_name, email, bio, created_at, updated_at) VALUES (${id}, 'gremlin_${-id}', 'Gremlin', ${email}, ${more}, ${at}, ${at})`;
			await planting.run(user(PLANTED.notUtf8, "NULL", dialect.noUtf8));
			await planting.run(
				user(PLANTED.zeroDate, "NULL", "NULL", dialect.zeroDate),
			);
			await planting.run(user(PLANTED.collides, "NULL"));
			// A changed e-mail that collides.
			await planting.run(
				`UPDATE users SET email = 'pinner1@example.org' WHERE id = ${PLANTED.collides}`,
			);
			const pin = (id: number, caption: string, at: string) =>
				`INSERT INTO pins (id, board_id, caption, created_at, updated_at) VALUES (${id}, 1, ${quote(caption)}, ${at}, ${at})`;
			// A key that is used again, later.
			await planting.run(`DELETE FROM pins WHERE id = ${PLANTED.usedAgain}`);
			// One whose transaction stays open while passes go on, with an old time.
			await late.run("BEGIN");
			await late.run(pin(PLANTED.late, "late", "'2001-01-01 00:00:00'"));
			return async () => {
				await planting.run(pin(PLANTED.usedAgain, "again", time()));
				await late.run("COMMIT");
				await late.close();
				await planting.close();
				// A row in two pages: it moves to the end while it is read. In the session of the writes, as two could wait for each other.
				await run(
					`UPDATE likes SET id = ${PLANTED.moved} WHERE id = (SELECT id FROM (SELECT MIN(id) AS id FROM likes) AS least)`,
				);
			};
		},
		async stopWrites() {
			for (const text of dialect.stop) await run(text);
			// `finish` refuses sessions that may be older than the setting.
			await statements.close();
			isStopped = true;
		},
		async [Symbol.asyncDispose]() {
			await statements.close().catch(() => {});
		},
	};
}

/** Whether the server is away, and not the statement wrong. */
function isLost(error: unknown): boolean {
	const { code = "", message = "" } = error as Partial<
		Error & { code: string }
	>;
	return (
		/^(?:PROTOCOL_|ECONN|EPIPE|57P0|08|ER_SERVER_SHUTDOWN)/.test(code) ||
		/closed state|Connection (?:terminated|lost)|not queryable/.test(message)
	);
}

function stamp(time: number): string {
	return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

function quote(text: string | undefined): string {
	return text === undefined ? "NULL" : `'${text.replaceAll("'", "''")}'`;
}
