import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readMovedTables } from "../../../src/fleet/ferry/movedTables.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import type { BinlogOptions } from "../../../src/storage/mysql/binlog/binlogReader.ts";
import type {
	BinlogTable,
	BinlogTransaction,
} from "../../../src/storage/mysql/binlog/binlogTypes.ts";
import { refusalOf } from "../../../src/storage/mysql/binlog/queryEvents.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { until } from "../../helpers/until.ts";
import { startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

const DATABASE = "db00042";

let server: Server;
let asked: FleetServer;
let tables: readonly BinlogTable[];

before(async () => {
	server = await startMysql();
	asked = new FleetServer(server.url, {});
	for (const text of [
		`CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
		"CREATE DATABASE other",
		`CREATE TABLE ${DATABASE}.pins (local_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, data MEDIUMTEXT NOT NULL, ts BIGINT UNSIGNED NOT NULL)`,
		`CREATE TABLE ${DATABASE}.kinds (a BIGINT NOT NULL, b VARBINARY(2900) NOT NULL, c TINYINT UNSIGNED NOT NULL, d VARCHAR(255), PRIMARY KEY (a, c), UNIQUE KEY one (b(10)), UNIQUE KEY two (c), UNIQUE KEY three ((a DIV 2)))`,
		"CREATE TABLE other.rest (a INT PRIMARY KEY)",
	]) {
		await ask(server, text);
	}
	({ tables } = await readMovedTables(asked, [DATABASE]));
});

after(async () => {
	await asked?.[Symbol.asyncDispose]();
	await server?.stop();
});

/** All that the server has since then. */
async function read(
	from: string,
	options: Partial<BinlogOptions<BinlogTable>> = {},
): Promise<readonly BinlogTransaction[]> {
	const found: BinlogTransaction[] = [];
	const transactions = asked.readBinlog({
		after: from,
		tables,
		...options,
		until: options.until ?? (await asked.executed()),
	});
	for await (const some of transactions) found.push(...some);
	return found;
}

const rowsOf = (transactions: readonly BinlogTransaction[]) =>
	transactions.flatMap(({ rows }) =>
		rows.map(({ table, before, after }) => [table.name, before, after]),
	);

describe("a binary log, read by GTID", () => {
	test("has each row as it was and as it is, exactly, and of other databases the transactions only", async () => {
		const from = await asked.executed();
		const bytes = Buffer.from([0, 0xff, 0x80, 0x27, 0x5c]);
		const text = "\uFEFFIt's \\ a \u{1F600} \n\0 text".repeat(40_000);
		const kinds = `INSERT INTO ${DATABASE}.kinds VALUES`;
		await ask(
			server,
			`${kinds} (-9223372036854775808, x'${bytes.toString("hex")}', 255, NULL)`,
		);
		await ask(server, `${kinds} (9223372036854775807, '', 0, 'd')`);
		await ask(server, "INSERT INTO other.rest VALUES (1)");
		const pins = `INSERT INTO ${DATABASE}.pins VALUES`;
		const hex = Buffer.from(text).toString("hex");
		await ask(
			server,
			`${pins} (9007199254740993, CONVERT(x'${hex}' USING utf8mb4), 18446744073709551614)`,
		);
		await ask(server, `UPDATE ${DATABASE}.pins SET ts = 2`);
		await ask(server, `DELETE FROM ${DATABASE}.pins`);
		const found = await read(from);
		assert.equal(found.length, 6);
		const [first, second, , , ,] = rowsOf(found);
		assert.deepEqual(first, [
			"kinds",
			null,
			["-9223372036854775808", bytes, "255", null],
		]);
		assert.deepEqual(second, [
			"kinds",
			null,
			["9223372036854775807", Buffer.alloc(0), "0", "d"],
		]);
		const pin = ["9007199254740993", text, "18446744073709551614"];
		const changed = ["9007199254740993", text, "2"];
		assert.deepEqual(rowsOf(found).slice(2), [
			["pins", null, pin],
			["pins", pin, changed],
			["pins", changed, null],
		]);
	});

	test("can be read from a place in its files, as a server without GTIDs has it", async () => {
		const [row] = await ask(server, "SHOW BINARY LOG STATUS");
		const [file, position] = Object.values(row ?? {});
		const after = { file: String(file), position: Number(position) };
		const insert = (a: number) =>
			ask(
				server,
				`INSERT INTO ${DATABASE}.kinds VALUES (${a}, x'${a}', 7, NULL)`,
			);
		const stop = new AbortController();
		const found: BinlogTransaction[] = [];
		const readFrom = async (place: typeof after) => {
			const log = asked.readBinlog({
				after: place,
				tables,
				signal: stop.signal,
			});
			for await (const some of log) {
				found.push(...some.filter(({ rows }) => rows.length > 0));
				if (found.length > 0) break;
			}
			return found.splice(0);
		};
		await insert(71);
		await ask(server, `DELETE FROM ${DATABASE}.kinds WHERE a = 71`);
		const [first] = await readFrom(after);
		assert.deepEqual(rowsOf([first as BinlogTransaction])[0]?.[2]?.[0], "71");
		const [second] = await readFrom((first as BinlogTransaction).end);
		assert.deepEqual(rowsOf([second as BinlogTransaction])[0]?.[1]?.[0], "71");
	});

	test("ends with the set that it was given, and has nothing of what is known", async () => {
		const from = await asked.executed();
		assert.deepEqual(await read(from), []);
	});

	test("goes on where its connection was killed, and misses nothing", async () => {
		const from = await asked.executed();
		const insert = async (first: number) => {
			for (let ts = first; ts < first + 50; ts++) {
				await ask(
					server,
					`INSERT INTO ${DATABASE}.pins (data, ts) VALUES ('{}', ${ts})`,
				);
			}
		};
		const stopping = new AbortController();
		const seen: string[] = [];
		let kills = 0;
		await insert(0);
		const transactions = asked.readBinlog({
			after: from,
			tables,
			signal: stopping.signal,
		});
		for await (const some of transactions) {
			seen.push(
				...some.flatMap(({ rows }) =>
					rows.map(({ after }) => String(after?.[2])),
				),
			);
			if (seen.length >= 150) break;
			if (seen.length < 50 * (kills + 1)) continue;
			kills++;
			const dumps = await ask(
				server,
				"SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'",
			);
			for (const { id, ID = id } of dumps) await ask(server, `KILL ${ID}`);
			await insert(50 * kills);
		}
		assert.ok(kills >= 2);
		assert.deepEqual(
			[...new Set(seen)],
			Array.from({ length: 150 }, (_, ts) => String(ts)),
		);
	});

	test("keeps its connection while nothing happens", async () => {
		const stopping = new AbortController();
		const { signal } = stopping;
		const reading = read(await asked.executed(), {
			until: "11111111-2222-3333-4444-555555555555:1",
			silenceMs: 1_000,
			signal,
		});
		reading.catch(() => {});
		const ids = async () =>
			JSON.stringify(
				await ask(
					server,
					"SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'",
				),
			);
		await until("a connection", async () => (await ids()) !== "[]");
		const first = await ids();
		await sleep(2_500);
		assert.equal(await ids(), first);
		stopping.abort();
		await assert.rejects(reading);
		await until("no connection", async () => (await ids()) === "[]");
	});

	test("of a large transaction comes in parts, the last of which says so", async () => {
		const from = await asked.executed();
		await ask(
			server,
			`INSERT INTO ${DATABASE}.pins (data, ts) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900), m AS (SELECT 1 AS j UNION ALL SELECT j + 1 FROM m WHERE j < 20) SELECT '{}', i FROM n, m`,
		);
		const found = await read(from);
		assert.equal(rowsOf(found).length, 18_000);
		assert.ok(found.length > 1);
		assert.equal(new Set(found.map(({ gtid }) => gtid)).size, 1);
		assert.deepEqual(
			found.map(({ isComplete }) => isComplete),
			found.map((_, at) => at === found.length - 1),
		);
	});

	const refused: readonly (readonly [
		what: string,
		texts: readonly string[],
		expected: RegExp,
	])[] = [
		[
			"a change of the tables",
			[`CREATE INDEX late ON ${DATABASE}.pins (ts)`],
			/tables of db00042 were changed meanwhile: CREATE INDEX late/,
		],
		[
			"a statement in place of rows",
			[
				"SET SESSION binlog_format = 'STATEMENT'",
				`UPDATE ${DATABASE}.pins SET ts = 1 WHERE local_id = 1`,
			],
			/logged as a statement, not as rows/,
		],
		[
			"a part of a row",
			[
				"SET SESSION binlog_row_image = 'NOBLOB'",
				`UPDATE ${DATABASE}.pins SET ts = ts + 1 LIMIT 1`,
			],
			/logged without all of its columns/,
		],
		[
			"a compressed transaction",
			[
				"SET SESSION binlog_transaction_compression = ON",
				`INSERT INTO ${DATABASE}.pins (data, ts) VALUES (REPEAT('x', 10000), 1)`,
			],
			/compress/,
		],
		[
			"a transaction that was prepared",
			[
				"XA START 'one'",
				`INSERT INTO ${DATABASE}.pins (data, ts) VALUES ('{}', 1)`,
				"XA END 'one'",
				"XA PREPARE 'one'",
				"XA ROLLBACK 'one'",
			],
			/was prepared \(XA\), and may be rolled back/,
		],
	];
	for (const [what, texts, expected] of refused) {
		test(`is refused with a sentence where it has ${what}`, async () => {
			const from = await asked.executed();
			await ask(server, ...texts);
			await assert.rejects(read(from), (error: Error) => {
				assert.match(error.message, expected);
				assert.ok(error.message.startsWith(server.address));
				return true;
			});
		});
	}

	test("passes over fences, grants and the changes of other databases", async () => {
		const from = await asked.executed();
		for (const text of [
			`ALTER DATABASE ${DATABASE} READ ONLY = 1`,
			`ALTER DATABASE ${DATABASE} READ ONLY = 0`,
			`GRANT SELECT ON ${DATABASE}.* TO corkboard`,
			"CREATE TABLE other.more (a INT PRIMARY KEY)",
			`ANALYZE TABLE ${DATABASE}.pins`,
		]) {
			await ask(server, text);
		}
		assert.deepEqual(rowsOf(await read(from)), []);
	});

	test("has rows up to and past a change of the tables, for who asks for that", async () => {
		const from = await asked.executed();
		const insert = `INSERT INTO ${DATABASE}.pins (data, ts) VALUES`;
		await ask(
			server,
			`${insert} ('{}', 1)`,
			`CREATE DATABASE park_${DATABASE}`,
			`RENAME TABLE ${DATABASE}.pins TO park_${DATABASE}.pins`,
			`INSERT INTO park_${DATABASE}.pins (data, ts) VALUES ('{}', 2)`,
			`RENAME TABLE park_${DATABASE}.pins TO ${DATABASE}.pins`,
			`${insert} ('{}', 3)`,
		);
		const found = await read(from, { ignoresDdl: true });
		assert.deepEqual(
			rowsOf(found).map(([, , after]) => (after as readonly string[])[2]),
			["1", "3"],
		);
	});

	test("of a server that lacks what was read from it before is another's, for who asks for that", async () => {
		const unknown = "11111111-2222-3333-4444-555555555555:1-3";
		const from = `${await asked.executed()},${unknown}`;
		await ask(
			server,
			`INSERT INTO ${DATABASE}.pins (data, ts) VALUES ('{}', 4)`,
		);
		assert.equal(rowsOf(await read(from)).length, 1);
		await assert.rejects(
			read(from, { hasAll: true, outageMs: 300 }),
			/lacks 11111111-2222-3333-4444-555555555555:1-3, which was read from it before/,
		);
	});

	test("is refused where a transaction is missing", async () => {
		const executed = await asked.executed();
		const [, uuid, last] = /^(.+):1-(\d+)$/.exec(executed) ?? [];
		await ask(
			server,
			`SET gtid_next = '${uuid}:${Number(last) + 5}'`,
			"INSERT INTO other.rest VALUES (78)",
		);
		await assert.rejects(read(executed), /lacks the transaction before/);
		// The gap is filled for the tests that follow.
		for (let missing = 1; missing < 5; missing++) {
			await ask(
				server,
				`SET gtid_next = '${uuid}:${Number(last) + missing}'`,
				"BEGIN",
				"COMMIT",
			);
		}
	});

	test("is refused where what is missing was deleted", async () => {
		const from = await asked.executed();
		await ask(
			server,
			`INSERT INTO ${DATABASE}.pins (data, ts) VALUES ('{}', 1)`,
		);
		await ask(server, "FLUSH BINARY LOGS");
		const logs = await ask(server, "SHOW BINARY LOGS");
		const newest = logs.at(-1)?.Log_name;
		await ask(server, `PURGE BINARY LOGS TO '${newest}'`);
		await assert.rejects(read(from), /does not reach back far enough/);
	});

	test("that nobody sends any more is given up after the time that it was given", async () => {
		const from = await asked.executed();
		server.pause();
		try {
			await assert.rejects(
				read("", {
					after: from,
					until: `${from.split(":")[0]}:1-999999`,
					silenceMs: 200,
					outageMs: 400,
				}),
				/not back after/,
			);
		} finally {
			server.resume();
		}
	});
});

test("a table's rows are the same by its shortest whole unique key, and are read in the order of its primary key", async () => {
	const kinds = tables.find(({ name }) => name === "kinds");
	const { order, identity } = kinds as typeof kinds & {
		order: { name: string }[];
		identity: { name: string }[];
	};
	assert.deepEqual(
		order.map(({ name }) => name),
		["a", "c"],
	);
	assert.deepEqual(
		identity.map(({ name }) => name),
		["c"],
	);
});

test("a statement concerns the database that it names or runs in", () => {
	const databases = new Set(["db00042"]);
	const refuses = (query: string, schema = "") =>
		refusalOf({ query, schema }, databases) !== null;
	assert.ok(refuses("DROP TABLE `db00042`.`pins`"));
	assert.ok(refuses("/* c */ TRUNCATE pins", "db00042"));
	assert.ok(refuses("RENAME TABLE db00042.pins TO park00042.pins"));
	assert.ok(refuses("ALTER DATABASE db00042 CHARACTER SET latin1"));
	assert.ok(!refuses("DROP TABLE db000421.pins"));
	assert.ok(!refuses("BEGIN", "db00042"));
	assert.ok(!refuses("alter schema `db00042` read only = 1"));
});
