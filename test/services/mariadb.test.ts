import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { assertGone } from "./gone.ts";
import { startMariadb } from "./mariadb.ts";

test("a private MariaDB answers a client, keeps its data through SIGKILL, and leaves no process and no file", async () => {
	const server = await startMariadb();
	const query = async (sql: string) => {
		const connection = await createConnection({
			uri: server.url,
			connectTimeout: 2_000,
		});
		try {
			const [answer] = await connection.query<RowDataPacket[]>({
				sql,
				timeout: 60_000,
			});
			return answer;
		} finally {
			connection.destroy();
		}
	};
	await query("CREATE DATABASE db00000");
	await query("CREATE TABLE db00000.notes (id INT PRIMARY KEY, note JSON)");
	await query(`INSERT INTO db00000.notes VALUES (1, '{"a":1}')`);
	const pid = server.pid;
	await server.kill();
	await server.restart();
	assert.notEqual(server.pid, pid);
	const [row] = await query(
		"SELECT COUNT(*) AS kept, VERSION() LIKE '%MariaDB%' AS mariadb, @@innodb_flush_log_at_trx_commit AS flush FROM db00000.notes",
	);
	assert.deepEqual({ ...row }, { kept: 1, mariadb: 1, flush: 2 });
	await server.stop();
	await assertGone(server);
});
