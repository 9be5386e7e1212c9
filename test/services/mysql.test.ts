import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	type Connection,
	createConnection,
	type RowDataPacket,
} from "mysql2/promise";
import { assertGone, isAlive } from "./gone.ts";
import { caughtUp, startMysql, startMysqlPair } from "./mysql.ts";
import type { Server } from "./server.ts";

async function connect({ url }: Server) {
	const connection = await createConnection({
		uri: url,
		connectTimeout: 60_000,
	});
	connection.on("error", () => {});
	return {
		query: (sql: string, timeout = 60_000) => rows(connection, sql, timeout),
		[Symbol.dispose]: () => connection.destroy(),
	};
}

async function rows(connection: Connection, sql: string, timeout: number) {
	const [answer] = await connection.query<RowDataPacket[]>({ sql, timeout });
	return Array.isArray(answer) ? answer.map((row) => ({ ...row })) : [];
}

const CREATE = "CREATE TABLE db00000.notes (id INT PRIMARY KEY, note TEXT)";

describe("a private MySQL", () => {
	test("answers a client, and leaves no process and no file", async () => {
		const server = await startMysql();
		{
			using client = await connect(server);
			await client.query("CREATE DATABASE db00000");
			await client.query(CREATE);
			await client.query("INSERT INTO db00000.notes VALUES (1, 'one')");
			assert.deepEqual(await client.query("SELECT * FROM db00000.notes"), [
				{ id: 1, note: "one" },
			]);
		}
		await server.stop();
		await assertGone(server);
	});

	test("has the settings that a shard's host needs", async () => {
		await using server = await startMysql();
		using client = await connect(server);
		const [settings] = await client.query(
			"SELECT @@auto_increment_increment AS step, @@innodb_flush_log_at_trx_commit AS flush, @@sql_mode LIKE '%STRICT_TRANS_TABLES%' AS strict, @@gtid_mode AS gtids, @@log_bin AS log",
		);
		assert.deepEqual(settings, {
			step: 1,
			flush: 2,
			strict: 1,
			gtids: "ON",
			log: 1,
		});
	});

	test("has its own server identity and data", async () => {
		await using one = await startMysql();
		await using other = await startMysql();
		using oneClient = await connect(one);
		using otherClient = await connect(other);
		await oneClient.query("CREATE DATABASE db00000");
		assert.deepEqual(await otherClient.query("SHOW DATABASES LIKE 'db%'"), []);
		const identity = "SELECT @@server_uuid AS uuid, @@server_id AS id";
		const [mine] = await oneClient.query(identity);
		const [theirs] = await otherClient.query(identity);
		assert.notEqual(mine?.uuid, theirs?.uuid);
		assert.notEqual(mine?.id, theirs?.id);
	});

	test("keeps acknowledged writes through SIGKILL, and restarts on its port", async () => {
		await using server = await startMysql();
		const { url, pid } = server;
		using before = await connect(server);
		await before.query("CREATE DATABASE db00000");
		await before.query(CREATE);
		for (let id = 1; id <= 100; id++) {
			await before.query(`INSERT INTO db00000.notes VALUES (${id}, 'kept')`);
		}
		await server.kill();
		assert.equal(isAlive(pid), false);
		await assert.rejects(connect(server), { code: "ECONNREFUSED" });
		await server.restart();
		assert.equal(server.url, url);
		using after = await connect(server);
		assert.deepEqual(
			await after.query("SELECT COUNT(*) AS kept FROM db00000.notes"),
			[{ kept: 100 }],
		);
	});

	test("answers nothing while it is paused, and every request after it resumes", async () => {
		await using server = await startMysql();
		using stalled = await connect(server);
		server.pause();
		await assert.rejects(stalled.query("SELECT 1", 300), {
			code: "PROTOCOL_SEQUENCE_TIMEOUT",
		});
		server.resume();
		using client = await connect(server);
		assert.deepEqual(await client.query("SELECT 1 AS one"), [{ one: 1 }]);
	});
});

describe("a MySQL pair", () => {
	test("replicates the primary's writes to the replica, which rejects others", async () => {
		const pair = await startMysqlPair();
		{
			using primary = await connect(pair.primary);
			using replica = await connect(pair.replica);
			await primary.query("CREATE DATABASE db00000");
			await primary.query(CREATE);
			await primary.query("INSERT INTO db00000.notes VALUES (1, 'one')");
			await caughtUp(pair);
			assert.deepEqual(await replica.query("SELECT * FROM db00000.notes"), [
				{ id: 1, note: "one" },
			]);
			await assert.rejects(
				replica.query("INSERT INTO db00000.notes VALUES (2, 'two')"),
				{ errno: 1290 },
			);
		}
		await pair[Symbol.asyncDispose]();
		await assertGone(pair.primary);
		await assertGone(pair.replica);
	});

	test("continues after either server was killed and restarted", async () => {
		await using pair = await startMysqlPair();
		await pair.replica.kill();
		{
			using primary = await connect(pair.primary);
			await primary.query("CREATE DATABASE db00000");
		}
		await pair.primary.kill();
		await pair.primary.restart();
		await pair.replica.restart();
		using primary = await connect(pair.primary);
		await primary.query("CREATE DATABASE db00001");
		await caughtUp(pair);
		using replica = await connect(pair.replica);
		assert.equal((await replica.query("SHOW DATABASES LIKE 'db%'")).length, 2);
		assert.deepEqual(await replica.query("SELECT @@super_read_only AS ro"), [
			{ ro: 1 },
		]);
	});

	test("reports a replica that does not catch up in time", async () => {
		await using pair = await startMysqlPair();
		{
			using replica = await connect(pair.replica);
			await replica.query("STOP REPLICA");
		}
		using primary = await connect(pair.primary);
		await primary.query("CREATE DATABASE db00000");
		await assert.rejects(caughtUp(pair, 200), {
			message:
				"expected the replica to catch up within 200 ms but got: no error, it is late",
		});
	});
});
