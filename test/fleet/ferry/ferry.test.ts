import assert from "node:assert/strict";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, createConnection } from "mysql2/promise";
import { Ferry } from "../../../src/fleet/ferry/ferry.ts";
import type { FerryOptions } from "../../../src/fleet/ferry/ferryOptions.ts";
import {
	clearOutbox,
	outboxSize,
} from "../../../src/fleet/ferry/movedOutbox.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import { Pace } from "../../../src/util/pace.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { ask, openMysql } from "../../helpers/mysqlStorage.ts";
import { startProgram } from "../../helpers/program.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysql, startMysqlPair } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

const RUNNER = join(import.meta.dirname, "ferryRunner.ts");
const SHARDS = ["db00000", "db00001"];
const ALL = [...SHARDS, "mod00000", "pool00000"];
const WAIT_MS = 20_000;
/** Rows of a table that is copied in three chunks. */
const PINS = 5_000;

let from: Server;
let to: Server;
let source: FleetServer;
let target: FleetServer;

before(async () => {
	[from, to] = await Promise.all([startMysql(), startMysql()]);
	source = new FleetServer(from.url, {});
	target = new FleetServer(to.url, {});
	for (const server of [from, to]) {
		await using storage = await openMysql(server.url);
		await storage.admin.createTables();
	}
	// The target has shards and an outbox of its own.
	for (const database of [...SHARDS, "mod00000"]) {
		await ask(to, `DROP DATABASE ${database}`);
	}
	await ask(
		from,
		"CREATE DATABASE pool00000",
		`CREATE TABLE pool00000.pool (user_id BIGINT UNSIGNED NOT NULL, state TINYINT UNSIGNED NOT NULL, score BIGINT UNSIGNED NOT NULL, pin_id BIGINT UNSIGNED NOT NULL, origin_id BIGINT UNSIGNED NOT NULL, PRIMARY KEY (user_id, state, score, pin_id), UNIQUE KEY origin (user_id, origin_id))`,
		...SHARDS.flatMap((database) => [
			`INSERT INTO ${database}.pins (data, ts) ${numbers(PINS, "CONCAT('{\"a\":\"', REPEAT('é\\\\n''', i % 50), '\"}'), i")}`,
			`INSERT INTO ${database}.board_has_pins ${numbers(3_000, "i % 70, i, i * 3, i % 3, i")}`,
			`INSERT INTO ${database}.lists ${numbers(300, "i, x'66ff00275c', 1, 2, 3")}`,
		]),
		`INSERT INTO mod00000.lookups ${numbers(2_200, "'username', CONCAT(x'ff0027', i), i, ''")}`,
		`INSERT INTO pool00000.pool ${numbers(2_200, "i % 9, i % 2, i, i, i")}`,
	);
});

/** What a test that failed has left. */
afterEach(async () => {
	for (const database of [...ALL, "corkboard_ops"]) {
		await ask(to, `DROP DATABASE IF EXISTS ${database}`);
	}
});

after(async () => {
	await source?.[Symbol.asyncDispose]();
	await target?.[Symbol.asyncDispose]();
	await Promise.all([from?.stop(), to?.stop()]);
});

function numbers(count: number, columns: string): string {
	return `WITH RECURSIVE d AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM d WHERE i < 99), n AS (SELECT a.i * 100 + b.i AS i FROM d a, d b) SELECT ${columns} FROM n WHERE i < ${count}`;
}

const same = (name: string) => ({ source: name, target: name });

function optionsOf(
	name: string,
	more: Partial<FerryOptions> = {},
): FerryOptions {
	return {
		name,
		source,
		replica: null,
		target,
		targetReplica: null,
		databases: ALL.map(same),
		from: null,
		pace: new Pace({
			rowsPerSecond: null,
			bytesPerSecond: null,
			maxLagSeconds: 2,
		}),
		parallel: 2,
		signal: new AbortController().signal,
		...more,
		limits: { quietMs: 200, ...more.limits },
	};
}

/** The checksum of each table. */
async function checksums(server: Server, databases: readonly string[]) {
	const rows = await ask(
		server,
		`SELECT CONCAT(table_schema, '.', table_name) AS name FROM information_schema.tables WHERE table_schema IN (${databases.map((name) => `'${name}'`).join()}) ORDER BY 1`,
	);
	const found = await ask(
		server,
		`CHECKSUM TABLE ${rows.map(({ name }) => name).join(", ")}`,
	);
	return found.map(({ Table, Checksum }) => [
		String(Table).replace(/^park/, "db"),
		Checksum,
	]);
}

/** Between two rounds of writes. Milliseconds. */
const PAUSE_MS = 60;

/** Writes of all kinds, until it is stopped. */
async function load(
	server: Server,
	databases: readonly string[],
	besides = true,
) {
	let isOver = false;
	let writes = 0;
	const write = async (connection: Connection, text: string) => {
		try {
			await connection.query(text);
			writes++;
		} catch (thrown) {
			// One of two writers may be the victim of a deadlock.
			if ((thrown as { errno?: number }).errno !== 1213) throw thrown;
		}
	};
	const run = async (database: string) => {
		const connection = await createConnection({ uri: server.url });
		await using _ = { [Symbol.asyncDispose]: () => connection.end() };
		for (let at = 0; !isOver; at++) {
			await sleep(PAUSE_MS);
			const pin = 1 + ((at * 37) % PINS);
			for (const text of [
				`INSERT INTO ${database}.pins (data, ts) VALUES ('{"new":true}', ${at})`,
				`UPDATE ${database}.pins SET data = CONCAT(data, ' '), ts = ts + 1 WHERE local_id = ${pin}`,
				`DELETE FROM ${database}.pins WHERE local_id = ${pin + 3}`,
				`UPDATE ${database}.board_has_pins SET state = (state + 1) % 3, sequence = sequence + 1 WHERE from_id = ${at % 70} AND to_id % 11 = ${at % 11}`,
				`REPLACE INTO ${database}.board_has_pins VALUES (${at % 70}, ${at}, ${at}, 1, 1)`,
				`DELETE FROM ${database}.board_has_pins WHERE from_id = ${(at + 5) % 70} LIMIT 2`,
				`UPDATE ${database}.lists SET count = count + 1 WHERE from_id = 1`,
				...(besides
					? [
							`UPDATE mod00000.lookups SET id = id + 1 WHERE id % 200 = ${at % 200}`,
							`UPDATE pool00000.pool SET state = 1 - state, score = score + 1 WHERE user_id = ${at % 9} ORDER BY pin_id LIMIT 20`,
						]
					: []),
			]) {
				await write(connection, text);
			}
		}
	};
	const running = databases.map(run);
	return {
		async stop() {
			isOver = true;
			await Promise.all(running);
			return writes;
		},
	};
}

async function moved(name: string, more: Partial<FerryOptions> = {}) {
	const ferry = await Ferry.open(optionsOf(name, more));
	await ferry.prepare();
	await ferry.copy();
	await ferry.follow();
	return ferry;
}

describe("a ferry", () => {
	test("brings all rows over while they change, and shows that they are the same", async () => {
		const writing = await load(from, SHARDS);
		const ferry = await moved("m/1");
		assert.deepEqual(await ferry.verify(), []);
		assert.equal(ferry.failure, null);
		const writes = await writing.stop();
		assert.ok(writes > 100, `${writes} writes`);
		const executed = await source.executed();
		assert.ok(await ferry.caughtUp(executed, WAIT_MS));
		assert.deepEqual(await ferry.recheck(WAIT_MS), {
			pending: 0,
			differences: [],
		});
		assert.deepEqual(await checksums(to, ALL), await checksums(from, ALL));
		const { tables, streamed, rows } = ferry.progress();
		assert.equal(tables.copied, tables.total);
		assert.ok(streamed.rows > 100);
		assert.ok(rows.copied > 20_000);
		await ferry.dropCopies();
		const left = await ask(to, "SHOW DATABASES");
		const names = left.map(({ Database }) => Database);
		assert.ok(!names.includes("corkboard_ops"));
		assert.ok(!names.some((name) => ALL.includes(name)));
	});

	test("finds each row that was changed behind its back on either side, and names it", async () => {
		await using ferry = await moved("m/2");
		assert.deepEqual(await ferry.verify(), []);
		const planted: string[] = [];
		const plant = async (
			server: Server,
			table: string,
			key: string,
			text: string,
		) => {
			planted.push(`${table} ${key}`);
			await ask(server, "SET sql_log_bin = 0", text);
		};
		for (let at = 0; at < 20; at++) {
			const database = "db00001";
			const pins = `${database}.pins`;
			const [row] = await ask(
				from,
				`SELECT MIN(local_id) AS id FROM ${pins} WHERE local_id > ${at * 200}`,
			);
			const id = Number(row?.id);
			// A row of the target, a change that was never logged, a row of the source.
			await plant(
				to,
				pins,
				`local_id ${id}`,
				`UPDATE ${pins} SET data = CONCAT(data, 'x') WHERE local_id = ${id}`,
			);
			await plant(
				from,
				"pool00000.pool",
				`user_id ${at % 9}, origin_id ${7_000 + at}`,
				`INSERT INTO pool00000.pool VALUES (${at % 9}, 1, 99, ${7_000 + at}, ${7_000 + at})`,
			);
			const [edge] = await ask(
				from,
				`SELECT from_id, to_id FROM ${database}.board_has_pins WHERE from_id = ${at} LIMIT 1`,
			);
			const ends = `from_id = ${edge?.from_id} AND to_id = ${edge?.to_id}`;
			await plant(
				from,
				`${database}.board_has_pins`,
				`from_id ${edge?.from_id}, to_id ${edge?.to_id}`,
				`UPDATE ${database}.board_has_pins SET version = version + 1 WHERE ${ends}`,
			);
		}
		await plant(
			to,
			"mod00000.lookups",
			"name x'757365726e616d65', key x'ff00273737'",
			"DELETE FROM mod00000.lookups WHERE `key` = CONCAT(x'ff0027', 77)",
		);
		await plant(
			to,
			"db00001.lists",
			"from_id 9, mapping x'66'",
			"INSERT INTO db00001.lists VALUES (9, 'f', 0, 0, 0)",
		);
		const writing = await load(from, ["db00000"]);
		const found = await ferry.verify();
		await writing.stop();
		const names = found.map(({ table, key }) => `${table} ${key}`);
		assert.deepEqual(names.toSorted(), planted.toSorted());
		assert.deepEqual(
			found
				.filter(
					({ table }) =>
						table === "mod00000.lookups" || table === "db00001.lists",
				)
				.map(({ kind }) => kind)
				.toSorted(),
			["missing on the target", "only on the target"],
		);
		await ferry.dropCopies();
		await ask(
			from,
			"SET sql_log_bin = 0",
			"DELETE FROM pool00000.pool WHERE pin_id >= 7000",
		);
	});

	test("finds a change that was lost after the rows were compared, once the row is touched", async () => {
		await using ferry = await moved("m/3", { databases: [same("db00001")] });
		assert.deepEqual(await ferry.verify(), []);
		await ask(
			to,
			"UPDATE db00001.pins SET ts = 99 WHERE local_id BETWEEN 10 AND 20",
		);
		await ask(
			from,
			"UPDATE db00001.pins SET ts = ts + 1 WHERE local_id BETWEEN 10 AND 20",
		);
		// Each change brings the row right again; what is not applied stays wrong.
		await until("the rows to be applied", () => {
			const { streamed } = ferry.progress();
			return streamed.rows >= 11;
		});
		await ask(to, "DELETE FROM db00001.pins WHERE local_id = 15");
		const { pending, differences } = await ferry.recheck(WAIT_MS);
		assert.equal(pending, 0);
		assert.deepEqual(differences, [
			{
				table: "db00001.pins",
				key: "local_id 15",
				kind: "missing on the target",
			},
		]);
		await ferry.dropCopies();
	});

	test("goes on in the middle of a table after it was ended, and who ended it has no say any more", async () => {
		const databases = [same("db00001"), same("mod00000")];
		const ending = new AbortController();
		const slow = new Pace({
			rowsPerSecond: 4_000,
			bytesPerSecond: null,
			maxLagSeconds: 2,
		});
		const first = await Ferry.open(
			optionsOf("m/4", { databases, pace: slow, signal: ending.signal }),
		);
		await first.prepare();
		const copying = first.copy();
		await until("two chunks", () => first.progress().rows.copied >= 4_000);
		assert.equal(first.progress().throttledBy, "rate");
		ending.abort(new Error("ended"));
		await assert.rejects(copying);
		await ask(
			from,
			"UPDATE db00001.pins SET ts = ts + 7 WHERE local_id % 3 = 0",
		);
		await using second = await Ferry.open(optionsOf("m/4", { databases }));
		await second.prepare();
		const state = await ask(
			to,
			"SELECT SUM(copied_rows) AS done FROM corkboard_ops.ferry_tables WHERE name = 'm/4'",
		);
		assert.ok(Number(state[0]?.done) >= 2_000);
		await using third = await Ferry.open(optionsOf("m/4", { databases }));
		await assert.rejects(second.copy(), {
			code: "CONFLICT",
			message: /Somebody else continues m\/4/,
		});
		await third.copy();
		await third.follow();
		assert.deepEqual(await third.verify(), []);
		const names = databases.map(({ source }) => source);
		assert.deepEqual(await checksums(to, names), await checksums(from, names));
		await third.dropCopies();
	});

	test("applies nothing any more once somebody else has opened it", async () => {
		const databases = [same("db00001")];
		await using first = await moved("m/13", { databases });
		assert.ok(await first.caughtUp(await source.executed(), WAIT_MS));
		await using second = await Ferry.open(optionsOf("m/13", { databases }));
		await ask(from, "UPDATE db00001.pins SET ts = 4711 WHERE local_id = 5000");
		await assert.rejects(first.caughtUp(await source.executed(), WAIT_MS), {
			code: "CONFLICT",
			message: /Somebody else continues m\/13/,
		});
		const ts = "SELECT ts FROM db00001.pins WHERE local_id = 5000";
		assert.notEqual((await ask(to, ts))[0]?.ts, 4711);
		await second.follow();
		assert.ok(await second.caughtUp(await source.executed(), WAIT_MS));
		assert.equal((await ask(to, ts))[0]?.ts, 4711);
		await second.dropCopies();
	});

	test("goes on after either server was killed, and has lost nothing", async () => {
		await using ferry = await moved("m/5");
		const writing = await load(from, ["db00001"]);
		await sleep(300);
		await to.restart();
		await sleep(300);
		await writing.stop();
		await from.kill();
		await from.restart();
		await ask(from, "UPDATE db00000.pins SET ts = 5 WHERE local_id < 50");
		assert.ok(await ferry.caughtUp(await source.executed(), 60_000));
		assert.deepEqual(await ferry.verify(), []);
		assert.deepEqual(await checksums(to, ALL), await checksums(from, ALL));
		await ferry.dropCopies();
	});

	test("loses nothing where its process is killed at any moment", async () => {
		const random = seededRandom(26);
		const writing = await load(from, SHARDS);
		for (let kills = 0; kills < 5; kills++) {
			await using runner = startProgram(
				[from.url, to.url, "m/12", "12000", ...ALL],
				{ command: [process.execPath, RUNNER] },
			);
			// In the copy at first, then in the stream and the comparison.
			await runner.printed("out", kills < 3 ? /opened/ : /copied/);
			await sleep(1_000 * random.fraction());
			runner.send("SIGKILL");
			await runner.ended;
			assert.equal(runner.err(), "");
		}
		await using ferry = await moved("m/12");
		assert.deepEqual(await ferry.verify(), []);
		await writing.stop();
		await ferry.caughtUp(await source.executed(), WAIT_MS);
		assert.equal((await ferry.recheck(WAIT_MS)).pending, 0);
		assert.deepEqual(ferry.differences, []);
		assert.deepEqual(await checksums(to, ALL), await checksums(from, ALL));
		await ferry.dropCopies();
	});

	test("brings what changed on the new server back into copies that are kept under other names", async () => {
		const name = "db00000";
		await using ferry = await moved("m/6", { databases: [same(name)] });
		await ferry.caughtUp(await source.executed(), WAIT_MS);
		const begin = await target.executed();
		await ferry.stop();
		const tables = await ask(
			from,
			`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${name}'`,
		);
		await ask(
			from,
			"CREATE DATABASE park_db00000",
			`RENAME TABLE ${tables.map((table) => `${name}.${table.name} TO park_db00000.${table.name}`).join(", ")}`,
		);
		const writing = await load(to, [name], false);
		await using back = await Ferry.open(
			optionsOf("m/6/back", {
				source: target,
				target: source,
				databases: [{ source: name, target: "park_db00000" }],
				from: begin,
			}),
		);
		await back.prepare();
		await back.follow();
		assert.deepEqual(await back.verify(), []);
		await writing.stop();
		assert.ok(await back.caughtUp(await target.executed(), WAIT_MS));
		assert.deepEqual(await back.recheck(WAIT_MS), {
			pending: 0,
			differences: [],
		});
		assert.deepEqual(
			(await checksums(from, ["park_db00000"])).map(([table, sum]) => [
				String(table).replace("db_db", "db"),
				sum,
			]),
			await checksums(to, [name]),
		);
		await back.dropCopies();
		await ask(
			from,
			`RENAME TABLE ${tables.map((table) => `park_db00000.${table.name} TO ${name}.${table.name}`).join(", ")}`,
			"DROP DATABASE park_db00000",
		);
		await ferry.dropCopies();
	});

	test("follows only what is copied, and from a log that reaches back", async () => {
		const databases = [same("db00001")];
		await using ferry = await Ferry.open(optionsOf("m/7", { databases }));
		await ferry.prepare();
		await assert.rejects(ferry.follow(), {
			code: "CONFLICT",
			message: /Not all tables are copied/,
		});
		await ferry.copy();
		await ask(from, "UPDATE db00001.pins SET ts = 1 LIMIT 1");
		await ask(from, "FLUSH BINARY LOGS");
		const logs = await ask(from, "SHOW BINARY LOGS");
		await ask(from, `PURGE BINARY LOGS TO '${logs.at(-1)?.Log_name}'`);
		await assert.rejects(ferry.follow(), {
			code: "CONFLICT",
			message: /does not reach back to where .* was deleted/,
		});
		await ferry.dropCopies();
	});

	test("ends with a sentence where the tables are changed under it", async () => {
		await using ferry = await moved("m/8", { databases: [same("mod00000")] });
		await ask(from, "CREATE INDEX late ON mod00000.lookups (id)");
		await assert.rejects(
			ferry.caughtUp(await source.executed(), WAIT_MS),
			/tables of mod00000 were changed meanwhile: CREATE INDEX late/,
		);
		assert.match(String(ferry.failure), /CREATE INDEX late/);
		await assert.rejects(ferry.verify(), /CREATE INDEX late/);
		await ask(from, "DROP INDEX late ON mod00000.lookups");
		await ferry.dropCopies();
	});

	test("refuses what it cannot move, and where somebody else's database is in the way", async () => {
		await ask(
			from,
			"CREATE DATABASE odd",
			"CREATE TABLE odd.nothing (a INT)",
			"CREATE TABLE odd.when_made (a INT PRIMARY KEY, at DATETIME, d JSON)",
		);
		await assert.rejects(
			Ferry.open(optionsOf("m/9", { databases: [same("odd"), same("none")] })),
			(error: Error) => {
				for (const expected of [
					/has no tables in none/,
					/odd.nothing has no primary key/,
					/odd.when_made.at is datetime/,
					/odd.when_made.d is json/,
				]) {
					assert.match(error.message, expected);
				}
				return true;
			},
		);
		await ask(
			from,
			"DROP DATABASE odd",
			"SET GLOBAL binlog_row_image = MINIMAL",
		);
		await assert.rejects(
			Ferry.open(optionsOf("m/9", { databases: [same("db00001")] })),
			/binlog_row_image must be FULL .* got MINIMAL/,
		);
		await ask(from, "SET GLOBAL binlog_row_image = FULL");
		// It has shard 2 of its own.
		await using ferry = await Ferry.open(
			optionsOf("m/9", { databases: [same("db00002")] }),
		);
		await assert.rejects(ferry.prepare(), {
			code: "CONFLICT",
			message: /has a database db00002 already, which this move did not make/,
		});
		await ferry.dropCopies();
		const left = await ask(to, "SHOW DATABASES LIKE 'db00002'");
		assert.equal(left.length, 1);
	});

	test("brings outbox entries over under ids of the target, and takes them away where they were", async () => {
		const entry = (server: Server, shard: number, text: string) =>
			ask(
				server,
				`INSERT INTO corkboard.outbox (entry, ts, attempts, next_attempt_at, last_error, shard) VALUES ('${text}', 5, 2, 7, NULL, ${shard})`,
			);
		await using ferry = await moved("m/10", {
			databases: [same("db00001"), same("mod00000")],
		});
		await entry(to, 2, '{"its":"own"}');
		for (const shard of [0, 1, 1, 65_537])
			await entry(from, shard, `{"of":${shard}}`);
		await ask(to, "ALTER TABLE corkboard.outbox AUTO_INCREMENT = 1000");
		assert.equal(await outboxSize(source, ["db00001", "mod00000"]), 2);
		// Twice: the first cut-over may have been given up.
		assert.equal(await ferry.moveOutbox(), 2);
		assert.equal(await ferry.moveOutbox(), 2);
		const entries =
			"SELECT local_id, entry, ts, attempts, next_attempt_at, last_error, shard FROM corkboard.outbox ORDER BY local_id";
		const there = await ask(to, entries);
		assert.deepEqual(
			there.map(({ entry, shard }) => [entry, shard]),
			[
				['{"its":"own"}', 2],
				['{"of":1}', 1],
				['{"of":1}', 1],
			],
		);
		const { local_id: id, ...rest } = there[1] as (typeof there)[number];
		assert.ok(Number(id) >= 1_000);
		assert.deepEqual(
			{ ...rest },
			{
				entry: '{"of":1}',
				ts: 5,
				attempts: 2,
				next_attempt_at: 7,
				last_error: null,
				shard: 1,
			},
		);
		await clearOutbox(source, ["db00001"]);
		const here = await ask(from, entries);
		assert.deepEqual(
			here.map(({ shard }) => shard),
			[0, 65_537],
		);
		for (const server of [from, to])
			await ask(server, "DELETE FROM corkboard.outbox");
		await ferry.dropCopies();
	});
});

test("a ferry that copies from a replica waits while it is behind, and finds what the replica has otherwise than its primary", async () => {
	await using pair = await startMysqlPair();
	const database = "db00000";
	{
		await using storage = await openMysql(pair.primary.url);
		await storage.admin.createTables();
	}
	await ask(
		pair.primary,
		`INSERT INTO ${database}.pins (data, ts) ${numbers(9_000, "'{}', i")}`,
	);
	await caughtUp(pair);
	// A replica that has drifted: what is copied from it is not what clients see.
	await ask(
		pair.replica,
		"SET GLOBAL super_read_only = OFF",
		"SET sql_log_bin = 0",
		`UPDATE ${database}.pins SET ts = 0 WHERE local_id = 4321`,
		"SET GLOBAL super_read_only = ON",
	);
	await using primary = new FleetServer(pair.primary.url, {});
	await using replica = new FleetServer(pair.replica.url, {});
	await ask(to, `DROP DATABASE IF EXISTS ${database}`);
	const options = optionsOf("m/11", {
		source: primary,
		replica,
		databases: [same(database)],
	});
	await ask(pair.replica, "STOP REPLICA");
	await using ferry = await Ferry.open(options);
	await ferry.prepare();
	const copying = ferry.copy();
	await until("the copy to wait", () => ferry.progress().throttledBy !== null);
	assert.equal(ferry.progress().throttledBy, `lag of ${pair.replica.address}`);
	await ask(
		pair.primary,
		`UPDATE ${database}.pins SET ts = 7 WHERE local_id < 100`,
	);
	await ask(pair.replica, "START REPLICA");
	await copying;
	await ferry.follow();
	assert.deepEqual(await ferry.verify(), [
		{ table: `${database}.pins`, key: "local_id 4321", kind: "differs" },
	]);
	await ferry.dropCopies();
});

test("copies are held back by a rate, a pause and a replica, each of which can be changed while they wait", async () => {
	const pace = new Pace({
		rowsPerSecond: 100,
		bytesPerSecond: null,
		maxLagSeconds: 2,
	});
	const { signal } = new AbortController();
	await pace.take(1_000, 0, signal);
	assert.equal(pace.reason, null);
	const waiting = pace.take(1_000, 0, signal);
	assert.equal(pace.reason, "rate");
	pace.set({ rowsPerSecond: null });
	await waiting;
	pace.pause();
	const paused = pace.take(1, 0, signal);
	assert.equal(pace.reason, "moves pause");
	pace.resume();
	await paused;
	const replica = {};
	pace.setLate(replica, "db001b:3306");
	const late = pace.take(1, 0, signal);
	assert.equal(pace.reason, "lag of db001b:3306");
	pace.setLate(replica, null);
	await late;
	assert.equal(pace.reason, null);
	assert.ok(pace.waitedShare > 0);
	const bytes = new Pace({
		rowsPerSecond: null,
		bytesPerSecond: 1e6,
		maxLagSeconds: 2,
	});
	const began = performance.now();
	for (let at = 0; at < 6; at++) await bytes.take(1, 100_000, signal);
	assert.ok(performance.now() - began > 250);
});
