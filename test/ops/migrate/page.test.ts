import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createConnection } from "mysql2/promise";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { command } from "../../helpers/runCommand.ts";
import { until } from "../../helpers/until.ts";
import { startMysql } from "../../services/mysql.ts";
import { startPostgres } from "../../services/postgres.ts";

const PAGE = readFileSync(
	join(import.meta.dirname, "../../../docs/how-to/coming-over.md"),
	"utf8",
);
const [GUIDE = "", EXAMPLE = ""] = PAGE.split(/^## An example/m);

interface Shown {
	/** What follows `corkboard --`. */
	readonly args: readonly string[];
	readonly output: string;
}

/** The commands of a part of the page, with what it shows of their output. */
function shownIn(text: string): readonly Shown[] {
	const blocks = text.match(/(?:^ {4}.*\n)+/gm) ?? [];
	return blocks.flatMap((block) =>
		block.split(/^ {4}\$ /m).flatMap((part) => {
			const [line = "", ...output] = part.split("\n");
			const [, args] = /^npm run -s corkboard -- (.*)$/.exec(line) ?? [];
			return args === undefined
				? []
				: [{ args: args.split(" "), output: output.join("\n") }];
		}),
	);
}

/** The mapping of a part of the page, as a module. */
function mappingIn(text: string): string {
	const blocks = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(
		([, code = ""]) => code,
	);
	const mapping = blocks.find((code) => code.includes("migration({")) ?? "";
	return mapping.startsWith("import")
		? mapping
		: `import { blankToNull, migration, ref, utc } from "corkboard";\n${mapping}`;
}

/** Without what differs from run to run, and without the ends of lines. */
function comparable(text: string): string {
	return text
		.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\dZ/g, "TIME")
		.replaceAll(/\b[\d.]+ s\b/g, "SECONDS")
		.replaceAll(/\bid \d+/g, "id ID")
		.replaceAll(/127\.0\.0\.1:\d+/g, "old:PORT")
		.replaceAll(/\bold:\d+/g, "old:PORT")
		.replaceAll(/\s+/g, " ")
		.trim();
}

/** Runs commands as the page has them, and holds their output against it. */
function pageRunner(url: string, part: string) {
	const folder = mkdtempSync(join(tmpdir(), "page-"));
	const mapping = join(folder, "old.ts");
	writeFileSync(mapping, mappingIn(part));
	const left = [...shownIn(part)];

	async function run(
		args: readonly string[],
		given: Parameters<typeof command>[1] = {},
	): Promise<string> {
		process.env.OLD_DATABASE = url;
		const words = args.map((word) =>
			word === "old.ts" ? mapping : word === "$OLD_DATABASE" ? url : word,
		);
		const { out, err } = await command(words, {
			env: { CORKBOARD_DATA: join(folder, "data") },
			open: openCorkboard,
			...given,
		});
		return err + out;
	}

	/** What the page shows next, which has to be this command. */
	function shift(line: string): Shown {
		const one = left.shift();
		assert.equal(one?.args.join(" "), `migrate ${line}`);
		return one as Shown;
	}
	return {
		run,
		left,
		/** What the page shows next, without running it. */
		take: shift,
		async next(line: string): Promise<void> {
			const { args, output } = shift(line);
			const text = await run(args);
			assert.equal(comparable(text), comparable(output));
		},
		/** Interrupts it when it has followed so many rows. */
		async follow(line: string, rows: number, change: () => Promise<unknown>) {
			const { args, output } = shift(line);
			const stop = new AbortController();
			let progress = "";
			const running = run(args, {
				isTerminal: true,
				interruptSignal: () => stop.signal,
				stderrRaw(text) {
					progress = text.trim() || progress;
				},
			});
			const last = () =>
				JSON.parse(
					readFileSync(join(folder, "old.state.json"), "utf8"),
				).passes.at(-1);
			await until("the log is followed", () => last().kind === "follow");
			await change();
			await until("all is here", () => last().rows === rows).finally(() =>
				stop.abort("SIGINT"),
			);
			await running;
			assert.equal(comparable(progress), comparable(output));
		},
		[Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
	};
}

describe("docs/how-to/coming-over.md", () => {
	it("shows what its commands print", async () => {
		await using server = await startMysql();
		const connection = await createConnection({
			uri: server.url,
			multipleStatements: true,
		});
		const sql = (text: string) => connection.query(text);
		await sql(
			`CREATE DATABASE legacy; USE legacy; SET time_zone = '+00:00';
			CREATE TABLE users (id INT PRIMARY KEY, login VARCHAR(60), first VARCHAR(60), last VARCHAR(60), email VARCHAR(120), created_at DATETIME, updated_at DATETIME);
			CREATE TABLE boards (id INT PRIMARY KEY, user_id INT, title VARCHAR(60), private TINYINT(1));
			CREATE TABLE pins (id INT PRIMARY KEY, board_id INT, caption TEXT, deleted_at DATETIME, created_at DATETIME, updated_at DATETIME);
			CREATE TABLE likes (id INT PRIMARY KEY, user_id INT, likeable_type VARCHAR(20), likeable_id INT, created_at DATETIME);
			INSERT INTO users VALUES (1, 'ada', 'Ada', 'Lovelace', 'ada@example.org', '2019-07-01 12:00:00', '2020-01-01 00:00:00'),
				(2, 'bob', 'Bob', 'Ross', '', '2019-01-01 12:00:00', '2020-01-01 00:00:00'),
				(3, 'cyd', 'Cyd', 'Charisse', 'ADA@example.org', '2019-01-01 12:00:00', '2020-01-01 00:00:00');
			INSERT INTO boards VALUES (1, 1, 'Machines', 0), (2, 99, 'Orphan', 0);
			INSERT INTO pins VALUES (1, 1, 'one', NULL, '2020-01-01 00:00:01', '2020-01-01 00:00:00'),
				(2, 1, 'two', '2020-02-02 00:00:00', '2020-01-01 00:00:02', '2020-01-01 00:00:00');
			INSERT INTO likes VALUES (1, 2, 'Pin', 1, '2020-01-01 00:00:00'), (2, 2, 'Comment', 1, '2020-01-01 00:00:00');
			CREATE USER reader IDENTIFIED BY 'x'; GRANT SELECT ON legacy.* TO reader;
			GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO reader`,
		);
		using page = pageRunner(`mysql://reader:x@${server.address}/legacy`, GUIDE);
		const guessed = await page.run([
			"migrate",
			"scaffold",
			"--from",
			"$OLD_DATABASE",
		]);
		assert.match(guessed, /owner: ref\("User", "user_id"\)/);
		page.take("scaffold --from $OLD_DATABASE > old.ts");
		await page.next("check old.ts");
		await page.run(["migrate", "run", "old.ts"]);
		await sql(
			"UPDATE users SET last = 'Rosso' WHERE id = 2; DELETE FROM likes WHERE id = 1",
		);
		await page.run(["migrate", "run", "old.ts"]);
		await page.next("run old.ts");
		// The two rows that were refused are tried again too, and not counted.
		await page.follow("run old.ts --follow", 2, () =>
			sql(
				"BEGIN; UPDATE boards SET title = 'Engines' WHERE id = 1; UPDATE pins SET caption = 'first' WHERE id = 1; COMMIT",
			),
		);
		await page.next("show old.ts User:2");
		await page.next("compare old.ts --all");
		// test/ops/migrate/shadow.test.ts has its screens.
		page.take("shadow old.ts old.screens.ts --sample 100");
		await page.next("finish old.ts");
		assert.deepEqual(page.left, []);
		connection.destroy();
	});

	it("brings over a Mastodon as it says", async () => {
		await using server = await startPostgres({
			args: ["-c", "wal_level=logical"],
		});
		const { Client } = createRequire(import.meta.url)("pg") as {
			readonly Client: new (
				url: string,
			) => {
				connect(): Promise<void>;
				on(event: "error", listener: () => void): void;
				query(text: string): Promise<unknown>;
				end(): Promise<void>;
			};
		};
		const base = server.url.replace(/\/$/, "");
		const admin = new Client(`${base}/postgres`);
		await admin.connect();
		await admin.query("CREATE DATABASE mastodon");
		await admin.end();
		const client = new Client(`${base}/mastodon`);
		client.on("error", () => {});
		await client.connect();
		// The columns as in Mastodon, of the tables that count.
		await client.query(
			`CREATE TABLE accounts (id BIGINT PRIMARY KEY, username VARCHAR NOT NULL DEFAULT '', domain VARCHAR, note TEXT NOT NULL DEFAULT '', display_name VARCHAR NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, suspended_at TIMESTAMP);
			CREATE TABLE users (id BIGSERIAL PRIMARY KEY, email VARCHAR NOT NULL DEFAULT '', account_id BIGINT NOT NULL, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL);
			CREATE TABLE statuses (id BIGINT PRIMARY KEY, uri VARCHAR, text TEXT NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, in_reply_to_id BIGINT, reblog_of_id BIGINT, url VARCHAR, sensitive BOOLEAN NOT NULL DEFAULT FALSE, visibility INT NOT NULL DEFAULT 0, local BOOLEAN, account_id BIGINT NOT NULL, deleted_at TIMESTAMP);
			CREATE TABLE favourites (id BIGSERIAL PRIMARY KEY, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, account_id BIGINT NOT NULL, status_id BIGINT NOT NULL);
			CREATE TABLE follows (id BIGSERIAL PRIMARY KEY, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, account_id BIGINT NOT NULL, target_account_id BIGINT NOT NULL, uri VARCHAR);
			INSERT INTO accounts (id, username, domain, note, display_name, created_at, updated_at)
				SELECT n, 'person' || n, CASE WHEN n > 6 THEN 'elsewhere.example' END, '', CASE WHEN n = 2 THEN 'Bob' ELSE '' END, '2020-01-01', '2020-01-01' FROM generate_series(1, 8) n;
			INSERT INTO accounts (id, username, created_at, updated_at) VALUES (-99, 'mastodon.internal', '2020-01-01', '2020-01-01');
			INSERT INTO users (email, account_id, created_at, updated_at) SELECT 'person' || n || '@example.org', n, '2020-01-01', '2020-01-01' FROM generate_series(1, 6) n;
			INSERT INTO statuses (id, text, created_at, updated_at, local, account_id, reblog_of_id, visibility, deleted_at)
				SELECT n, 'Status ' || n, TIMESTAMP '2020-01-01' + n * INTERVAL '1 minute', '2020-01-01', n % 10 <> 7, CASE WHEN n % 10 = 7 THEN 7 ELSE n % 6 + 1 END,
					CASE WHEN n % 10 = 8 THEN n - 1 END, CASE WHEN n % 10 = 9 THEN 3 ELSE 0 END, CASE WHEN n % 50 = 0 THEN TIMESTAMP '2021-01-01' END FROM generate_series(1001, 1600) n;
			INSERT INTO favourites (created_at, updated_at, account_id, status_id)
				SELECT TIMESTAMP '2020-02-01' + n * INTERVAL '1 minute', '2020-02-01', n % 8 + 1, 1000 + n FROM generate_series(1, 400) n;
			INSERT INTO follows (created_at, updated_at, account_id, target_account_id)
				SELECT TIMESTAMP '2020-03-01' + n * INTERVAL '1 minute', '2020-03-01', n, n + 1 FROM generate_series(1, 7) n;
			CREATE ROLE reader LOGIN PASSWORD 'x'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`,
		);
		const [, view = ""] = /`(CREATE VIEW people [^`]*)`/.exec(EXAMPLE) ?? [];
		await client.query(view);
		await client.query("GRANT SELECT ON people TO reader");
		using page = pageRunner(
			`postgres://reader:x@${server.address}/mastodon`,
			EXAMPLE,
		);
		await page.next("check old.ts");
		const refusal = page.left[0]?.output ?? "";
		await page.next("run old.ts --follow");
		const [statement = ""] =
			/CREATE PUBLICATION[^;]*;/.exec(refusal.replaceAll(/\s+/g, " ")) ?? [];
		await client.query(statement);
		await client.query("ALTER ROLE reader REPLICATION");
		const { args, output } = page.take("run old.ts --follow --timeout 30s");
		const text = await page.run(args.with(-1, "5s"));
		assert.equal(comparable(text), comparable(output));
		await page.next("finish old.ts");
		await client.query(
			"ALTER DATABASE mastodon SET default_transaction_read_only = on",
		);
		await client.end();
		await page.next("finish old.ts");
		assert.deepEqual(page.left, []);
	});
});
