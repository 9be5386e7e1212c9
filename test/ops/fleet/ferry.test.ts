import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Ferry } from "../../../src/fleet/ferry/ferry.ts";
import type { FerryOptions } from "../../../src/fleet/ferry/ferryOptions.ts";
import { Pace } from "../../../src/fleet/ferry/pace.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import { ask, openMysql } from "../../helpers/mysqlStorage.ts";
import { until } from "../../helpers/until.ts";
import { startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

const SHARDS = ["db00000", "db00001"];
const ALL = [...SHARDS, "mod00000", "pool00000"];
const WAIT_MS = 20_000;

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
			`INSERT INTO ${database}.pins (data, ts) ${numbers(7_000, "CONCAT('{\"a\":\"', REPEAT('é\\\\n''', i % 50), '\"}'), i")}`,
			`INSERT INTO ${database}.board_has_pins ${numbers(5_000, "i % 70, i, i * 3, i % 3, i")}`,
			`INSERT INTO ${database}.lists ${numbers(300, "i, x'66ff00275c', 1, 2, 3")}`,
		]),
		`INSERT INTO mod00000.lookups ${numbers(3_000, "'username', CONCAT(x'ff0027', i), i, ''")}`,
		`INSERT INTO pool00000.pool ${numbers(3_000, "i % 9, i % 2, i, i, i")}`,
	);
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

/** Of each table, its checksum. */
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

/** Writes of all kinds, until it is stopped. */
async function load(server: Server, databases: readonly string[]) {
	let isOver = false;
	let writes = 0;
	const run = async (database: string) => {
		for (let at = 0; !isOver; at++) {
			const pin = 1 + ((at * 37) % 7_000);
			await ask(
				server,
				`INSERT INTO ${database}.pins (data, ts) VALUES ('{"new":true}', ${at})`,
				`UPDATE ${database}.pins SET data = CONCAT(data, ' '), ts = ts + 1 WHERE local_id = ${pin}`,
				`DELETE FROM ${database}.pins WHERE local_id = ${pin + 3}`,
				`UPDATE ${database}.board_has_pins SET state = (state + 1) % 3, sequence = sequence + 1 WHERE from_id = ${at % 70} AND to_id % 11 = ${at % 11}`,
				`REPLACE INTO ${database}.board_has_pins VALUES (${at % 70}, ${at}, ${at}, 1, 1)`,
				`DELETE FROM ${database}.board_has_pins WHERE from_id = ${(at + 5) % 70} LIMIT 2`,
				`UPDATE ${database}.lists SET count = count + 1 WHERE from_id = 1`,
				`UPDATE mod00000.lookups SET id = id + 1 WHERE id % 200 = ${at % 200}`,
				`UPDATE pool00000.pool SET state = 1 - state, score = score + 1 WHERE user_id = ${at % 9} LIMIT 20`,
			);
			writes += 9;
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
});
void sleep;
void until;
