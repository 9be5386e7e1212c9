import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { CorkboardError } from "../../../src/errors.ts";
import { ask, mysqlForSuite, openMysql } from "../../helpers/mysqlStorage.ts";
import { pin } from "../../helpers/storageModel.ts";
import { create } from "../../helpers/storing.ts";
import { startMysql } from "../../services/mysql.ts";
import { mysqlFaultsSuite } from "../../suites/mysqlFaults.ts";
import { mysqlFrozenSuite } from "../../suites/mysqlFrozen.ts";
import { mysqlStatementsSuite } from "../../suites/mysqlStatements.ts";
import { storageSuite } from "../../suites/storage.ts";

const server = await startMysql();
after(() => server.stop());
const open = await mysqlForSuite(server);

storageSuite("MySQL", open);
mysqlStatementsSuite("MySQL", server, open);
mysqlFaultsSuite("MySQL", server, open);
mysqlFrozenSuite("MySQL", server, open);

test("a MySQL server set to read-only rejects writes as UNAVAILABLE and serves reads; writes resume when it is writable again", async () => {
	await using opened = await open();
	const { storage } = opened;
	await create(storage, 0, "Pin", {});
	await ask(server, "SET GLOBAL super_read_only = ON");
	try {
		await assert.rejects(create(storage, 0, "Pin", {}), {
			code: "UNAVAILABLE",
			message: "Shard 0 does not answer at the moment.",
		});
		await assert.rejects(
			storage.deleteOutboxEntries([{ shard: 1, local: 1 }]),
			({ details }: CorkboardError) => details.kind === "readOnly",
		);
		assert.deepEqual(await storage.readObjects([pin(1)]), ["{}"]);
	} finally {
		await ask(
			server,
			"SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF",
		);
	}
	assert.deepEqual(await create(storage, 0, "Pin", {}), [pin(2)]);
});

test("createTables rejects a MySQL server with unsafe settings, and names the server", async () => {
	await using storage = await openMysql(server.url);
	await ask(server, "SET GLOBAL innodb_flush_log_at_trx_commit = 0");
	try {
		await assert.rejects(storage.createTables(), {
			code: "BAD_CONFIG",
			message: `${server.address}: innodb_flush_log_at_trx_commit must be 1 or 2, got 0`,
		});
	} finally {
		await ask(server, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
	}
});

test("createTables reports an unreachable MySQL host by name, without its password", async () => {
	await using storage = await openMysql("mysql://me:secret@127.0.0.1:1");
	await assert.rejects(storage.createTables(), {
		code: "UNAVAILABLE",
		message:
			"127.0.0.1:1 could not create the missing tables: connect ECONNREFUSED 127.0.0.1:1",
	});
});

test("MySQL storage rejects a topology with other than mysql: URLs, and quotes no password", async () => {
	for (const primary of ["sqlite:data", "redis://me:secret@a"]) {
		await assert.rejects(openMysql(primary), (thrown: CorkboardError) => {
			assert.equal(thrown.code, "BAD_TOPOLOGY");
			assert.match(
				thrown.message,
				/^The primary of a range must be mysql:\/\/USER:PASSWORD@HOST:PORT, got /,
			);
			assert.doesNotMatch(thrown.message, /secret/);
			return true;
		});
	}
});
