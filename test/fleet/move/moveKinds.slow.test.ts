import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openMysqlPools } from "../../../src/feed/pools/mysqlPools.ts";
import { planMove } from "../../../src/fleet/move/planMove.ts";
import { completeMove } from "../../../src/fleet/move/redirect.ts";
import { startMove } from "../../../src/fleet/move/startMove.ts";
import { type Id, packId } from "../../../src/id/ids.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { createReloadableStorage } from "../../../src/storage/versions/reloadableStorage.ts";
import { checkTopology } from "../../../src/topology/check.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { openLastGood } from "../../../src/topology/guards/lastGood.ts";
import { readCurrent } from "../../../src/topology/history.ts";
import { Membership } from "../../../src/topology/members.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { MODEL } from "../../helpers/storageModel.ts";
import { good } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { startMariadb } from "../../services/mariadb.ts";
import { startMysql } from "../../services/mysql.ts";

const PATIENT = { maxPauseMs: 60_000, maxLagMs: 60_000, settleMs: 0 };

test("lookups and pools move under load as shards do, also to a host that serves others; MariaDB is refused in a sentence", async () => {
	const [source, target, mariadb] = await Promise.all([
		startMysql(),
		startMysql(),
		startMariadb(),
	]);
	await using stack = new AsyncDisposableStack();
	for (const server of [source, target, mariadb]) {
		stack.defer(() => server.stop());
	}
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const topology = checkTopology({
		version: 1,
		shards: [
			{ range: [0, 1], primary: source.url, open: true },
			{ range: [2, 3], primary: target.url, open: true },
		],
		lookups: [{ range: [0, 3], primary: source.url }],
		queues: [{ range: [0, 0], primary: source.url }],
		pools: [{ range: [0, 1], primary: source.url }],
	});
	writeFileSync(file, JSON.stringify(topology));
	const store = stack.use(openFileStore(file, { pollMs: 50 }));
	const followed = stack.use(await openLastGood(store, {}));
	const storage = stack.use(
		await createReloadableStorage(
			(topology) => openMysqlStorage({ model: MODEL, topology }),
			topology,
		),
	);
	await storage.admin.createTables();
	const limits = { readMs: 60_000, writeMs: 60_000, movingMs: 60_000 };
	const pools = stack.use(
		openMysqlPools({ pools: topology.pools ?? [], version: 1, limits }),
	);
	await pools.createTables();
	const membership = stack.use(
		new Membership(store, { role: "test", model: "" }),
	);
	await membership.say(1, 1);
	followed.follow(async (next) => {
		pools.switchTopology(next);
		await storage.switchTopology(next);
		await membership.say(next.version, next.version);
	});

	const keys: string[] = [];
	const users: Id[] = [];
	const failures: unknown[] = [];
	let isOver = false;
	const id = (n: number) => packId({ shard: n % 4, type: 3, local: n + 1 });
	const claims = async () => {
		for (let n = 0; !isOver; n++) {
			const key = `user${n}`;
			const next = { id: id(n), token: key };
			try {
				const [taken] = await storage.compareAndSetLookups([
					{ name: "username", key, expect: null, next },
				]);
				assert.deepEqual(good(taken), { name: "username", key, ...next });
				keys.push(key);
			} catch (thrown) {
				failures.push(thrown);
			}
			await sleep(5);
		}
	};
	const visits = async () => {
		for (let n = 0; !isOver; n++) {
			try {
				await pools.noteVisit(id(n), { visitedAt: n + 1 });
				users.push(id(n));
			} catch (thrown) {
				failures.push(thrown);
			}
			await sleep(5);
		}
	};
	const load = Promise.all([claims(), visits()]);
	const more = async () => {
		const [a, b] = [keys.length, users.length];
		await until(
			"more writes",
			() => keys.length > a + 20 && users.length > b + 20,
		);
	};
	const options = {
		store,
		environment: {},
		agreeMs: 60_000,
		lookMs: 50,
		againMs: 50,
	};
	for (const [list, range] of [
		["lookups", [0, 1]],
		["pools", [0, 1]],
	] as const) {
		await more();
		const asked = { list, range, to: target.address, wave: 1 };
		const plan = await planMove(options, asked);
		assert.deepEqual([plan.faults, plan.found.isNew], [[], false]);
		const { operation } = await startMove(options, plan.found, [], PATIENT);
		await more();
		const done = await completeMove(options, operation, {
			skipsRehearsal: false,
		});
		assert.equal(done.step, "done");
	}
	await more();
	isOver = true;
	await load;
	assert.deepEqual(failures, []);
	const map = (await readCurrent(store))?.topology;
	assert.deepEqual(map?.lookups, [
		{ range: [0, 1], primary: target.url },
		{ range: [2, 3], primary: source.url },
	]);
	assert.deepEqual(map?.pools, [{ range: [0, 1], primary: target.url }]);
	const found = await storage.read(
		"lookups",
		keys.map((key) => ({ name: "username", key })),
	);
	assert.equal(found.filter((row) => good(row) === null).length, 0);
	for (const user of users) assert.ok(await pools.visit(user));
	const left = await ask(
		source,
		"SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name REGEXP '^(pool|mod0000[01]|park)'",
	);
	assert.deepEqual(left, []);

	const plan = await planMove(options, {
		list: "shards",
		range: [0, 1],
		wave: 16,
		to: mariadb.url,
	});
	const [fault] = plan.faults;
	assert.equal(fault?.check, "version");
	assert.match(
		fault?.fault ?? "",
		/is MariaDB .*, which cannot fence one database/,
	);
});
