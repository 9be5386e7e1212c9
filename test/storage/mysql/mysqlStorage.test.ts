import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import type { CorkboardError } from "../../../src/errors.ts";
import {
	MYSQL_LIMITS,
	openMysqlStorage,
} from "../../../src/storage/mysql/mysqlStorage.ts";
import { SharedHosts } from "../../../src/storage/mysql/sharedHosts.ts";
import {
	createReloadableStorage,
	type ReloadableStorageLimits,
} from "../../../src/storage/versions/reloadableStorage.ts";
import type { Topology } from "../../../src/topology/types.ts";
import { ask, mysqlForSuite, openMysql } from "../../helpers/mysqlStorage.ts";
import { MODEL, pin, topologyOn } from "../../helpers/storageModel.ts";
import { codes, create } from "../../helpers/storing.ts";
import { timed } from "../../helpers/timing.ts";
import { until } from "../../helpers/until.ts";
import { recordWriteTrace } from "../../helpers/writeTrace.ts";
import { startMysql } from "../../services/mysql.ts";
import { mysqlFaultsSuite } from "../../suites/mysqlFaults.ts";
import { mysqlFrozenSuite } from "../../suites/mysqlFrozen.ts";
import { mysqlStatementsSuite } from "../../suites/mysqlStatements.ts";
import { storageSuite } from "../../suites/storage.ts";

const server = await startMysql();
after(() => server.stop());
const open = await mysqlForSuite(server);

/** How many transactions wait for a lock. */
const WAITING =
	"SELECT COUNT(*) AS n FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";

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
		assert.deepEqual(await storage.read("objects", [pin(1)]), ["{}"]);
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
		await assert.rejects(storage.admin.createTables(), {
			code: "BAD_CONFIG",
			message: `${server.address}: innodb_flush_log_at_trx_commit must be 1 or 2, got 0`,
		});
	} finally {
		await ask(server, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
	}
});

test("createTables reports an unreachable MySQL host by name, without its password", async () => {
	await using storage = await openMysql("mysql://me:secret@127.0.0.1:1");
	await assert.rejects(storage.admin.createTables(), {
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

describe("versions of a topology on MySQL", () => {
	const limits = { ...MYSQL_LIMITS, connections: 2 };
	/** The same server by another name, which is another host. */
	const elsewhere = server.url.replace("127.0.0.1", "localhost");

	async function reloadable(
		first: Topology,
		options: Partial<ReloadableStorageLimits> = {},
	) {
		const hosts = new SharedHosts(limits, false, {});
		return createReloadableStorage(
			(topology) => openMysqlStorage({ model: MODEL, topology, limits, hosts }),
			first,
			options,
		);
	}

	/** The topology of the suite, shards 2 and 3 on another host. */
	function version(number: number, second = server.url): Topology {
		const { shards, lookups } = topologyOn(server.url);
		const [low, high] = shards;
		assert.ok(low && high);
		const generation = second === server.url ? 0 : 1;
		return {
			version: number,
			shards: [low, { ...high, primary: second, generation }],
			lookups,
		};
	}

	async function connections(): Promise<number> {
		const [row] = await ask(server, "SHOW GLOBAL STATUS LIKE 'Connections'");
		return Number(row?.Value);
	}

	/** Those that this storage opened between two looks, each of which is one itself. */
	async function openedDuring(body: () => Promise<void>): Promise<number> {
		const before = await connections();
		await body();
		return (await connections()) - before - 1;
	}

	test("share their hosts: one that adds none opens no connection, and a call on the old one ends well", async () => {
		await using opened = await open();
		await using storage = await reloadable(version(1), { drainMs: 50 });
		await create(opened.storage, 0, "Pin", {});
		const read = () => storage.read("objects", [pin(1), pin(1, 2)]);
		assert.deepEqual(await read(), ["{}", null]);
		await using locker = await createConnection(server.url);
		await locker.beginTransaction();
		await locker.query("SELECT * FROM db00000.pins FOR UPDATE");
		const writing = storage.transact({
			shard: 0,
			objects: [pin(1)],
			decide: () => ({
				result: null,
				objects: [{ id: pin(1), data: { n: 2 } }],
			}),
		});
		await until("the lock to be waited for", async () => {
			const [row] = await ask(server, WAITING);
			return row?.n === 1;
		});
		const count = await openedDuring(async () => {
			for (const number of [2, 3, 4]) {
				await storage.switchTopology(version(number));
				assert.deepEqual(await read(), ["{}", null]);
			}
		});
		assert.equal(count, 0);
		// Long after the old version was closed.
		await sleep(200);
		await locker.rollback();
		await writing;
		assert.deepEqual(await storage.read("objects", [pin(1)]), ['{"n":2}']);
	});

	test("open connections to hosts that are new, and close those of hosts that are gone", async () => {
		await using opened = await open();
		await create(opened.storage, 0, "Pin", {});
		await using storage = await reloadable(version(1));
		const read = async () => {
			assert.deepEqual(await storage.read("objects", [pin(1)]), ["{}"]);
			assert.deepEqual(await storage.read("objects", [pin(1, 2)]), [null]);
		};
		await read();
		const count = await openedDuring(async () => {
			await storage.switchTopology(version(2, elsewhere));
			await read();
			await storage.switchTopology(version(3, elsewhere));
			await read();
		});
		assert.equal(count, 1);
		const connected = async () => {
			const rows = await ask(server, "SHOW PROCESSLIST");
			return rows.filter(({ Command }) => Command === "Sleep").length;
		};
		const before = await connected();
		await storage.switchTopology({
			...version(4),
			shards: version(4).shards.map((range) => ({ ...range, generation: 2 })),
		});
		await read();
		await until("it closed", async () => (await connected()) < before);
	});

	test("reads and writes of tables that are not there wait for a newer version, and never find nothing", async () => {
		await using opened = await open();
		await create(opened.storage, 2, "Pin", {});
		await using storage = await reloadable(version(1), {
			readWaitMs: 60_000,
			waitMs: 60_000,
		});
		await ask(server, "RENAME TABLE db00002.pins TO db00002.elsewhere");
		try {
			const reading = storage.read("objects", [pin(1, 2), pin(1, 3)]);
			const trace = recordWriteTrace();
			const writing = storage.transact(
				{
					shard: 2,
					creates: [{ type: "Pin", data: { n: 2 } }],
					decide: ({ created }) => ({ result: created }),
				},
				trace,
			);
			// Others are read at once.
			assert.deepEqual(await storage.read("objects", [pin(1)]), [null]);
			const isWaiting = Symbol("it waits");
			assert.equal(
				await Promise.race([reading, writing, sleep(300, isWaiting)]),
				isWaiting,
			);
			await ask(server, "RENAME TABLE db00002.elsewhere TO db00002.pins");
			await storage.switchTopology(version(2));
			assert.deepEqual(await reading, ["{}", null]);
			assert.deepEqual((await writing).result, [pin(2, 2)]);
			assert.ok(trace.retries.includes("moved"));
		} finally {
			await ask(server, "RENAME TABLE db00002.elsewhere TO db00002.pins").catch(
				() => {},
			);
		}
	});

	test("reads of tables that are nowhere are UNAVAILABLE after their bounded wait", async () => {
		await using opened = await open();
		await create(opened.storage, 2, "Pin", {});
		await using storage = await reloadable(version(1), { readWaitMs: 200 });
		await ask(server, "RENAME TABLE db00002.pins TO db00002.elsewhere");
		try {
			const { result, ms } = await timed(() =>
				storage.read("objects", [pin(1, 2), pin(1, 3)]),
			);
			assert.deepEqual(codes(result), ["UNAVAILABLE", "UNAVAILABLE"]);
			assert.ok(ms >= 190, `after ${ms} ms`);
		} finally {
			await ask(server, "RENAME TABLE db00002.elsewhere TO db00002.pins");
		}
	});
});
