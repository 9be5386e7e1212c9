import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";
import { type Connection, createConnection } from "mysql2/promise";
import type {
	RowImage,
	SourceLog,
} from "../../../src/ops/migrate/sources/log.ts";
import { openSource } from "../../../src/ops/migrate/sources/openSource.ts";
import type { Source } from "../../../src/ops/migrate/sources/source.ts";
import { startMariadb } from "../../services/mariadb.ts";
import { startPostgres } from "../../services/postgres.ts";
import type { Server } from "../../services/server.ts";

const logged = (...tables: readonly string[]) =>
	tables.map((table) => ({ table, key: ["id"], edgeColumns: [] }));

/** The images that follow a position, until one is of this table; and the last position. */
async function read(
	log: SourceLog,
	after: string,
	last: string,
): Promise<{ images: readonly RowImage[]; position: string }> {
	const stop = new AbortController();
	const images: RowImage[] = [];
	let position = after;
	for await (const batch of log.read(after, stop.signal)) {
		images.push(...batch.images);
		position = batch.position ?? position;
		if (images.some(({ table }) => table === last)) break;
	}
	return { images, position };
}

describe("the binary log of a MariaDB", () => {
	let server: Server;
	let connection: Connection;
	let source: Source;
	let log: SourceLog;
	let url: string;
	const run = (text: string) => connection.query(text);

	before(async () => {
		server = await startMariadb({
			args: ["--log-bin=binlog", "--binlog-format=ROW", "--server-id=7"],
		});
		connection = await createConnection({
			uri: server.url,
			multipleStatements: true,
		});
		await run(
			`SET sql_mode = ''; CREATE DATABASE legacy; USE legacy;
			CREATE TABLE names (name VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY, id BIGINT UNSIGNED, day DATETIME);
			CREATE TABLE parents (id INT PRIMARY KEY);
			CREATE TABLE children (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parents (id) ON DELETE CASCADE);
			CREATE TABLE ends (id INT PRIMARY KEY);
			CREATE TABLE timed (at DATETIME(3), day DATE, born YEAR, flags BIT(12), PRIMARY KEY (at, day, born, flags));
			INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1, 1)`,
		);
		url = `${server.url.replace(/\/$/, "")}/legacy`;
		source = await openSource(url, ".");
		log = await source.openLog(
			logged("names", "parents", "children", "ends", "timed"),
			"corkboard_test",
		);
	});
	after(async () => {
		await connection?.end();
		await source?.[Symbol.asyncDispose]();
		await server?.[Symbol.asyncDispose]();
	});

	it("names rows by what they hold, and says what it lacks", async () => {
		assert.match((await log.check()).join(), /foreign key changes in children/);
		const start = await log.begin();
		await run(
			"INSERT INTO names VALUES ('Müller', 18446744073709551615, '0000-00-00')",
		);
		await run("DELETE FROM parents WHERE id = 1");
		await run("UPDATE names SET name = 'Möller'");
		await run("INSERT INTO ends VALUES (1)");
		const { images, position } = await read(log, start, "ends");
		assert.deepEqual(
			images.map(({ table, row, isBefore }) => [
				...[table, isBefore, row.name ?? null, row.id],
			]),
			[
				["names", false, "Müller", "18446744073709551615"],
				["parents", true, null, 1],
				["names", true, "Müller", "18446744073709551615"],
				["names", false, "Möller", "18446744073709551615"],
				["ends", false, null, 1],
			],
		);
		assert.ok(log.has(position, start) && !log.has(start, position));
		assert.equal(log.has(await log.end(), position), true);
	});

	it("names rows by times, years and bits as a SELECT shows them", async () => {
		const key = ["at", "day", "born", "flags"];
		const start = await log.begin();
		await run(
			"INSERT INTO timed VALUES ('2020-01-02 03:04:05.670', '0000-00-00', 1999, 300); INSERT INTO ends VALUES (7)",
		);
		const { images } = await read(log, start, "ends");
		const row = images[0]?.row ?? {};
		const found = await source.rowsOf({ table: "timed", key }, [
			key.map((column) => String(row[column])),
		]);
		assert.deepEqual(found, [row]);
		await run("DELETE FROM ends WHERE id = 7");
	});

	it("is refused with a sentence without grants, and when it cannot be followed", async () => {
		await run(
			"CREATE USER reader IDENTIFIED BY 'x'; GRANT SELECT ON legacy.* TO reader",
		);
		const theirs = new URL(url);
		theirs.username = "reader";
		theirs.password = "x";
		await using poor = await openSource(theirs.href, ".");
		const its = await poor.openLog(logged("names"), "corkboard_test");
		await assert.rejects(its.check(), /GRANT REPLICATION SLAVE, REPLICATION/);
		await run("GRANT BINLOG MONITOR ON *.* TO reader");
		const start = await log.end();
		await assert.rejects(read(its, start, "names"), /GRANT REPLICATION SLAVE/);
		await run("TRUNCATE TABLE children");
		const truncated = read(log, start, "ends");
		await assert.rejects(truncated, { code: "CONFLICT" });
		await assert.rejects(truncated, /TRUNCATE TABLE children/);
		const other = JSON.stringify({ ...JSON.parse(start), server: "another" });
		await assert.rejects(read(log, other, "ends"), /is another server/);
		const next = await log.end();
		await run("SET binlog_format = STATEMENT; INSERT INTO ends VALUES (2)");
		await assert.rejects(read(log, next, "ends"), /logged as a statement/);
		await run("SET binlog_format = ROW; FLUSH BINARY LOGS");
		const [files] = await connection.query("SHOW BINARY LOGS");
		const { Log_name: newest } = (files as { Log_name: string }[]).at(
			-1,
		) as never;
		await run(`PURGE BINARY LOGS TO '${newest}'`);
		await assert.rejects(read(log, start, "ends"), { code: "CONFLICT" });
	});
});

interface PgClient {
	connect(): Promise<void>;
	query(text: string): Promise<{ readonly rows: readonly never[] }>;
	end(): Promise<void>;
}

describe("the replication slot of a PostgreSQL", () => {
	let server: Server;
	let client: PgClient;
	let source: Source;
	let log: SourceLog;
	let url: string;
	const run = async (text: string) => (await client.query(text)).rows;

	before(async () => {
		server = await startPostgres({
			args: ["-c", "wal_level=logical", "-c", "max_replication_slots=1"],
		});
		const { Client } = createRequire(import.meta.url)("pg") as {
			readonly Client: new (options: object) => PgClient;
		};
		url = `${server.url.replace(/\/$/, "")}/postgres`;
		client = new Client({ connectionString: url });
		await client.connect();
		await run(
			`CREATE TABLE plain (id BIGINT PRIMARY KEY, body TEXT, flag BOOLEAN);
			CREATE TABLE keyless (id INT, n INT);
			CREATE TABLE others (id SERIAL PRIMARY KEY, body TEXT);
			CREATE SCHEMA theirs; CREATE TABLE theirs.plain (id INT PRIMARY KEY)`,
		);
		source = await openSource(url, ".");
		log = await source.openLog(logged("plain", "keyless"), "corkboard_test");
	});
	after(async () => {
		await log?.[Symbol.asyncDispose]();
		await client?.end();
		await source?.[Symbol.asyncDispose]();
		await server?.[Symbol.asyncDispose]();
	});

	it("is refused with the statements that it needs, none of which breaks the old application", async () => {
		const refused = log.check();
		await assert.rejects(refused, /CREATE PUBLICATION "corkboard_test"/);
		const { message } = (await refused.catch((error) => error)) as Error;
		const statements = message.match(/^ {2}(ALTER|CREATE) .*;$/gm) ?? [];
		// Published without an identity, the table would take no update.
		assert.match(statements[0] ?? "", /keyless" REPLICA IDENTITY FULL/);
		for (const statement of statements) await run(statement);
		assert.deepEqual(await log.check(), []);
		await run("CREATE VIEW seen AS SELECT * FROM plain");
		const viewed = await source.openLog(
			logged("plain", "keyless", "seen"),
			"corkboard_test",
		);
		assert.match((await viewed.check()).join(), /seen is a view/);
		await viewed[Symbol.asyncDispose]();
		await run("INSERT INTO keyless VALUES (1, 1)");
		await run("UPDATE keyless SET n = 2");
	});

	it("ends with a message where a column was renamed that the rows are read with", async () => {
		await run(
			"CREATE TABLE renamed (id INT PRIMARY KEY, name TEXT); INSERT INTO renamed VALUES (1, 'ada')",
		);
		await using source = await openSource(url, ".");
		await run("ALTER TABLE renamed RENAME COLUMN name TO login");
		const pages = source.scan({ table: "renamed", key: ["id"] }, {});
		await assert.rejects(pages[Symbol.asyncIterator]().next(), {
			code: "BAD_CONFIG",
			message: /does not understand the mapping: .*name/,
		});
	});

	it("names a table with partitions, and says which tables it does not follow", async () => {
		await run(
			`CREATE TABLE events (id INT, day DATE, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
			CREATE TABLE events_2020 PARTITION OF events FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
			CREATE TABLE made (a INT, id INT GENERATED ALWAYS AS (a * 10) STORED PRIMARY KEY)`,
		);
		await using source = await openSource(url, ".");
		await using its = await source.openLog(
			logged("events", "made"),
			"corkboard_events",
		);
		const statements = async () =>
			its.check().then(
				() => [],
				({ message }: Error) => message.match(/^ {2}(ALTER|CREATE) .*;$/gm),
			);
		assert.match((await statements())?.join() ?? "", /CREATE PUBLICATION/);
		// One that somebody made without looking.
		await run('CREATE PUBLICATION "corkboard_events" FOR TABLE events, made');
		for (const statement of (await statements()) ?? []) await run(statement);
		assert.match((await its.check()).join(), /made is known by id/);
		const start = await its.begin();
		await run("INSERT INTO events VALUES (1, '2020-02-02')");
		const { images } = await read(its, start, "events");
		assert.deepEqual(
			images.map(({ row }) => row.day),
			["2020-02-02"],
		);
		await its.drop();
	});

	it("names rows by what they hold, and keeps no log that was read", async () => {
		const start = await log.begin();
		const long = "x".repeat(100_000);
		await run(
			`INSERT INTO plain VALUES (9007199254740993, md5('${long}') || repeat('é', 9000), true)`,
		);
		await run("INSERT INTO theirs.plain VALUES (5)");
		await run("UPDATE plain SET flag = false");
		await run("UPDATE plain SET id = 8");
		await run("DELETE FROM plain");
		await run("DELETE FROM keyless");
		const { images, position } = await read(log, start, "keyless");
		assert.deepEqual(
			images.map(({ table, row, isBefore }) => [table, isBefore, row.id]),
			[
				["plain", false, "9007199254740993"],
				["plain", false, "9007199254740993"],
				["plain", true, "9007199254740993"],
				["plain", false, "8"],
				["plain", true, "8"],
				["keyless", true, 1],
			],
		);
		await log.confirm(position);
		// What is written to other tables is not kept either.
		await run("INSERT INTO others (body) VALUES ('x')");
		const stop = new AbortController();
		for await (const batch of log.read(position, stop.signal)) {
			assert.deepEqual(batch.images, []);
			if (batch.position === null) continue;
			await log.confirm(batch.position);
			break;
		}
		const [slot] = await run(
			"SELECT pg_current_wal_lsn() - confirmed_flush_lsn < 1000 AS near FROM pg_replication_slots",
		);
		assert.deepEqual(slot, { near: true });
	});

	it("is refused with a sentence without rights, slots or its place", async () => {
		await run(
			"CREATE ROLE reader LOGIN PASSWORD 'x'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
		);
		const theirs = new URL(url);
		theirs.username = "reader";
		theirs.password = "x";
		await using poor = await openSource(theirs.href, ".");
		// It sees whose sessions are open, though not what they do; its own are left out.
		const [row] = await run("SELECT pg_backend_pid() AS pid, user AS account");
		const { pid, account } = row as never;
		const open = await poor.openSessions();
		assert.deepEqual(open?.sessions, [
			{ pid, shown: `${pid} (user ${account})` },
		]);
		await using its = await poor.openLog(logged("plain"), "corkboard_test");
		await assert.rejects(its.begin(), /ALTER ROLE the account REPLICATION/);
		await run(
			'ALTER ROLE reader REPLICATION; CREATE PUBLICATION "corkboard_other" FOR TABLE plain',
		);
		await using other = await poor.openLog(logged("plain"), "corkboard_other");
		await assert.rejects(other.begin(), /raise max_replication_slots/);
		const start = await log.begin();
		await run("INSERT INTO plain VALUES (1); TRUNCATE plain");
		await assert.rejects(read(log, start, "none"), /plain was truncated/);
		await log.drop();
		const lost = read(log, start, "none");
		await assert.rejects(lost, { code: "CONFLICT" });
		await assert.rejects(lost, /keeps no log for the slot/);
	});
});
