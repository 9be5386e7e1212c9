import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
	createConnection,
	type ResultSetHeader,
	type RowDataPacket,
} from "mysql2/promise";
import { exchangeHosts } from "../../../src/fleet/map/edits.ts";
import {
	findPromotion,
	promotedDatabases,
} from "../../../src/fleet/map/promotionHosts.ts";
import { listOperations } from "../../../src/fleet/operations/operations.ts";
import {
	checkPromotion,
	promote,
} from "../../../src/fleet/operations/promote.ts";
import type { PromoteOptions } from "../../../src/fleet/operations/promotion.ts";
import { isHeld } from "../../../src/fleet/operations/signOfLife.ts";
import { checkServers } from "../../../src/fleet/preflight/checkServers.ts";
import { clockFaults } from "../../../src/fleet/preflight/clocks.ts";
import { processConnections } from "../../../src/fleet/processConnections.ts";
import {
	abortOperation,
	resumeOperation,
} from "../../../src/fleet/resumeOperation.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { checkTopology } from "../../../src/topology/check.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { publication, readCurrent } from "../../../src/topology/history.ts";
import { TOPOLOGY, type TopologyStore } from "../../../src/topology/store.ts";
import type { Topology } from "../../../src/topology/types.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { runProgram, startProgram } from "../../helpers/program.ts";
import { command } from "../../helpers/runCommand.ts";
import { IS_SLOW_RUN } from "../../helpers/slowRun.ts";
import { MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { good } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";
import { member } from "../member.ts";

/** Examples of JSON, by command. */
const SHOWN = JSON.parse(
	readFileSync(
		join(import.meta.dirname, "../../../docs/reference/commands.json"),
		"utf8",
	),
);

/** `hosts check` finds nothing in a healthy pair, and what is wrong where something is. */
async function checksServers(
	file: string,
	primary: Server,
	replica: Server,
): Promise<void> {
	const topology = JSON.parse(readFileSync(file, "utf8"));
	const check = () => checkServers(topology, {});
	assert.deepEqual(await check(), { faults: [], notes: [], unchecked: [] });
	const [row] = await ask(replica, "SELECT @@GLOBAL.binlog_row_image AS image");
	await ask(replica, "SET GLOBAL binlog_row_image = MINIMAL");
	await ask(replica, "SET GLOBAL super_read_only = OFF");
	await ask(primary, "ALTER DATABASE db00000 READ ONLY = 1");
	const [limit] = await ask(primary, "SELECT @@GLOBAL.max_connections AS most");
	await ask(primary, "SET GLOBAL max_connections = 42");
	const { faults } = await check();
	const all = faults.join("\n");
	assert.match(all, /binlog_row_image must be FULL, got MINIMAL\.$/m);
	assert.match(
		all,
		new RegExp(`^${primary.address}: db00000 is read-only`, "m"),
	);
	assert.match(all, /takes writes, although it is a replica/);
	const ran = await command(["hosts", "check", "--json"], {
		env: { CORKBOARD_TOPOLOGY: file },
	});
	assert.equal(ran.code, 1, ran.err);
	const described = JSON.parse(ran.out);
	assert.deepEqual(Object.keys(described).sort(), shownKeys("hosts check"));
	for (const fault of faults) assert.ok(described.faults.includes(fault));
	assert.ok(
		described.faults.includes(
			`${primary.address}: max_connections must be at least 43, got 42: a process may open 23, and others 20.`,
		),
		described.faults.join("\n"),
	);
	await ask(primary, `SET GLOBAL max_connections = ${limit?.most}`);
	await ask(primary, "ALTER DATABASE db00000 READ ONLY = 0");
	await ask(replica, "SET GLOBAL super_read_only = ON");
	await ask(replica, `SET GLOBAL binlog_row_image = ${row?.image}`);
	await until("no faults", async () => (await check()).faults.length === 0);
	await checksConnectionsAndClocks(topology, primary, replica);
	await checksAccounts(topology, primary, replica);
	await checksCounters(file, topology, primary);
	await refusesToRaise(file, replica);
	await until("no faults", async () => (await check()).faults.length === 0);
}

async function checksConnectionsAndClocks(
	topology: Topology,
	primary: Server,
	replica: Server,
): Promise<void> {
	const connections = processConnections(topology);
	const each = connections.get(primary.address) ?? 0;
	assert.equal(each, 23);
	// The replica may become the primary.
	assert.equal(connections.get(replica.address), each);
	const elsewhere = {
		...topology,
		queues: [{ range: [0, 0] as const, primary: "mysql://a@db009a" }],
		pools: [{ range: [0, 0] as const, primary: "mysql://a@db009a" }],
	};
	assert.equal(processConnections(elsewhere).get("db009a:3306"), 30);
	const many = await checkServers(topology, {}, { processes: 9, connections });
	for (const { address } of [primary, replica]) {
		assert.match(
			many.faults.join("\n"),
			new RegExp(
				`^${address}: max_connections must be at least 227, got \\d+: each of 9 processes may open 23`,
				"m",
			),
		);
	}
	const offsets = [
		[-90_000, "89|90\\.\\d s before", 2],
		[90_000, "behind", 2],
		[0, "clock", 0],
	] as const;
	for (const [ms, expected, count] of offsets) {
		const now = () => Date.now() + ms;
		const { faults } = await checkServers(topology, {}, { now });
		const found = faults.filter((fault) =>
			new RegExp(`its clock is .*(?:${expected})`).test(fault),
		);
		assert.equal(found.length, count, faults.join("\n"));
	}
	const near = { name: "b:3306", least: -800, most: -790 };
	assert.deepEqual(
		clockFaults([{ name: "a:3306", least: 700, most: 720 }]),
		[],
	);
	assert.deepEqual(
		clockFaults([{ name: "a:3306", least: 700, most: 720 }, near]),
		[
			"The clock of a:3306 is 1.5 s before that of b:3306. Synchronize the clocks of all machines.",
		],
	);
	// What a slow round trip leaves open is no fault.
	assert.deepEqual(
		clockFaults([{ name: "a:3306", least: -3_000, most: 2_000 }, near]),
		[],
	);
}

/** An account that the replica does not have, and that the primary gives too little. */
async function checksAccounts(
	topology: Topology,
	primary: Server,
	replica: Server,
): Promise<void> {
	await ask(
		primary,
		"CREATE USER api@'%' IDENTIFIED BY 'secret'",
		"GRANT REPLICATION CLIENT ON *.* TO api@'%'",
		"GRANT SELECT ON performance_schema.* TO api@'%'",
		"GRANT SELECT, INSERT, UPDATE ON `db_____`.* TO api@'%'",
		// The first is for another database; the second alone counts for its own.
		"GRANT DELETE ON `db\\_0001`.* TO api@'%'",
		"GRANT SELECT, INSERT, DELETE ON `db00000`.* TO api@'%'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON `mod_____`.* TO api@'%'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON `corkboard`.* TO api@'%'",
	);
	const own = (url: string) =>
		url.replace(/^mysql:\/\/[^@]*@/, "mysql://api:secret@");
	const under = JSON.parse(JSON.stringify(topology), (key, value) =>
		key === "primary" || key === "replica" ? own(value) : value,
	);
	const last = topology.shards.at(-1)?.range[1] ?? 0;
	assert.ok(last > 0);
	const expected = [primary, replica].map(
		({ address }) =>
			`${address}: the account of the processes lacks UPDATE on db00000; DELETE on db00001${last > 1 ? ` and ${last - 1} more` : ""}: corkboard grants show.`,
	);
	await until("both lack it", async () => {
		const { faults } = await checkServers(under, {});
		return expected.every((fault) => faults.includes(fault));
	});
	await ask(
		primary,
		"CREATE ROLE deleting",
		"GRANT DELETE ON `db_____`.* TO deleting",
		"GRANT deleting TO api@'%'",
		"SET DEFAULT ROLE ALL TO api@'%'",
		"GRANT UPDATE ON `db00000`.* TO api@'%'",
	);
	await until("both have all", async () => {
		const { faults } = await checkServers(under, {});
		return faults.every((fault) => !fault.includes("lacks"));
	});
	await ask(primary, "DROP USER api@'%'", "DROP ROLE deleting");
}

async function refusesToRaise(file: string, replica: Server): Promise<void> {
	for (const [options, message] of [
		[[], /takes no writes: read_only is on/],
		[["--shards", "9"], /has no database of shard 9/],
	] as const) {
		const ran = await command(
			["hosts", "raise-ids", replica.address, ...options],
			{
				env: { CORKBOARD_TOPOLOGY: file },
			},
		);
		assert.equal(ran.code, 1);
		assert.match(ran.err, message);
	}
}

/** Tables as a restore may leave them: one without a counter, and one whose counter is that of an earlier copy. */
async function checksCounters(
	file: string,
	topology: Topology,
	primary: Server,
): Promise<void> {
	const connection = await createConnection({ uri: primary.url });
	const run = async (text: string) => (await connection.query(text))[0];
	const faultsOf = async () => {
		const { faults } = await checkServers(topology, {});
		return faults.filter((fault) => /AUTO_INCREMENT|local ids/.test(fault));
	};
	try {
		// The replica is not concerned.
		await run("SET SESSION sql_log_bin = 0");
		const [{ folder }] = (await run(
			"SELECT @@datadir AS folder",
		)) as RowDataPacket[] as [{ folder: string }];
		const path = (end: string) => join(folder, `db00000/pins.${end}`);
		const inserts = "INSERT INTO db00000.pins (local_id, data, ts) VALUES";
		await run(`${inserts} (5, '', 0)`);
		// MySQL keeps this answer for a day.
		await run(
			"SELECT auto_increment FROM information_schema.tables WHERE table_schema = 'db00000'",
		);
		await run("FLUSH TABLES db00000.pins FOR EXPORT");
		const counter = readFileSync(path("cfg"));
		await run("UNLOCK TABLES");
		await run(`${inserts} (7000, '', 0)`);
		await run("FLUSH TABLES db00000.pins FOR EXPORT");
		const rows = readFileSync(path("ibd"));
		await run("UNLOCK TABLES");
		assert.deepEqual(await faultsOf(), []);
		const raise = async (...options: readonly string[]) => {
			const given = [
				"hosts",
				"raise-ids",
				primary.address,
				"--json",
				...options,
			];
			const ran = await command(given, { env: { CORKBOARD_TOPOLOGY: file } });
			assert.equal(ran.code, 0, ran.err);
			const result = JSON.parse(ran.out);
			assert.deepEqual(
				Object.keys(result).sort(),
				shownKeys("hosts raise-ids"),
			);
			return result.tables.find(
				({ table }: { table: string }) => table === "db00000.pins",
			);
		};
		assert.equal((await raise("--dry-run")).before, 7_001);
		await run("ALTER TABLE db00000.pins DISCARD TABLESPACE");
		writeFileSync(path("cfg"), counter);
		writeFileSync(path("ibd"), rows);
		await run("ALTER TABLE db00000.pins IMPORT TABLESPACE");
		assert.deepEqual(await faultsOf(), [
			`${primary.address}: db00000.pins would give local ids that it has stored: run corkboard hosts raise-ids.`,
		]);
		assert.equal((await raise("--dry-run", "--by", "100")).after, 7_101);
		assert.equal((await faultsOf()).length, 1);
		// Shard 1 is left as it is.
		assert.equal((await raise("--by", "100", "--shards", "0")).after, 7_101);
		assert.deepEqual(await faultsOf(), []);
		const made = await run(
			"INSERT INTO db00000.pins (data, ts) VALUES ('', 0)",
		);
		assert.equal((made as ResultSetHeader).insertId, 7_101);
		assert.equal((await raise("--dry-run")).after, 10_007_102);
		const fenced = await command(
			["hosts", "raise-ids", primary.address, "--by", "68719476735"],
			{ env: { CORKBOARD_TOPOLOGY: file } },
		);
		assert.equal(fenced.code, 2);
		await run(
			"ALTER TABLE db00000.pins MODIFY local_id BIGINT UNSIGNED NOT NULL",
		);
		assert.deepEqual(await faultsOf(), [
			`${primary.address}: db00000.pins has no AUTO_INCREMENT, so nothing can be created in it: give local_id its AUTO_INCREMENT back, then run corkboard hosts raise-ids.`,
		]);
		await run("TRUNCATE TABLE db00000.pins");
		await run(
			"ALTER TABLE db00000.pins MODIFY local_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT",
		);
		assert.deepEqual(await faultsOf(), []);
	} finally {
		connection.destroy();
	}
}

/** The steps after which the command is killed; promote.slow.test.ts kills it after each. */
const STEPS = [
	"locked",
	"fencing",
	"fenced",
	"caught up",
	"writable",
	"published",
	"agreed",
	"reattached",
];
const KILLED_AFTER = IS_SLOW_RUN ? STEPS : ["writable"];
const STANDS_STILL = join(import.meta.dirname, "../standsStill.ts");
const PATIENT = ["--max-lag", "1m", "--max-pause", "1m"];

/** Its methods, of which some can be replaced. */
function delegate(store: TopologyStore): TopologyStore {
	return {
		name: store.name,
		hasMembers: store.hasMembers,
		get: (path) => store.get(path),
		list: (path) => store.list(path),
		write: (changes) => store.write(changes),
		watch: (path, hint) => store.watch(path, hint),
		announce: (path) => store.announce(path),
		[Symbol.asyncDispose]: async () => {},
	};
}

/** As an operator who weighs shards at the same time. */
async function publishWeight(store: TopologyStore, weight: number) {
	const current = await readCurrent(store);
	assert.ok(current);
	const { version: _, ...map } = current.topology;
	const shards = map.shards.map((range) => ({ ...range, weight }));
	const next = publication(current, { ...map, shards }, { why: "a race" });
	await store.write(next.changes);
}

/** Names in the JSON that docs/reference/commands.json shows. */
function shownKeys(command: string): readonly string[] {
	const shown = SHOWN[command];
	return Object.keys(Array.isArray(shown) ? shown[0] : shown).sort();
}

test("a promotion exchanges the hosts of all kinds of ranges, and knows the databases of all", () => {
	const hosts = {
		primary: "mysql://a@db001a:3306",
		replica: "mysql://a@db001b:3306",
	};
	const topology = checkTopology({
		version: 4,
		shards: [{ range: [0, 1], ...hosts, open: true, generation: 2 }],
		lookups: [{ range: [0, 0], ...hosts }],
		queues: [{ range: [3, 3], ...hosts }],
		feeds: [{ range: [1, 1], ...hosts }],
		pools: [{ range: [0, 1], ...hosts }],
	});
	const found = findPromotion(topology, "db001a");
	assert.throws(
		() =>
			findPromotion(
				{ ...topology, queues: [{ range: [3, 3], primary: hosts.primary }] },
				"db001a",
			),
		/must name the same replica/,
	);
	assert.deepEqual(promotedDatabases(found), [
		"db00000",
		"db00001",
		"mod00000",
		"queue00003",
		"feed00001",
		"pool00000",
		"pool00001",
		"corkboard",
	]);
	const next = exchangeHosts(topology, found);
	const ranges = [
		...next.shards,
		...next.lookups,
		...(next.queues ?? []),
		...(next.feeds ?? []),
		...(next.pools ?? []),
	];
	assert.equal(ranges.length, 5);
	for (const { primary, replica } of ranges) {
		assert.deepEqual([primary, replica], [hosts.replica, hosts.primary]);
	}
	// Pools may have no replica: the server's has them all the same.
	const { replica: _, ...alone } = { range: [0, 1] as const, ...hosts };
	const without = exchangeHosts({ ...topology, pools: [alone] }, found);
	assert.deepEqual(without.pools, [{ range: [0, 1], primary: hosts.replica }]);
	assert.equal(next.shards[0]?.generation, 3);
	assert.equal(next.feeds?.[0]?.generation, 1);
});

test("a promotion under load fails no request and loses nothing, also where its runner ends after any step and another resumes or aborts it", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	const { shards, lookups } = topologyOn(primary.url);
	const both = <Range>(range: Range) => ({ ...range, replica: replica.url });
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: shards.map(both),
			lookups: lookups.map(both),
		}),
	);
	{
		await using storage = await openMysqlStorage({
			model: MODEL,
			topology: topologyOn(primary.url),
		});
		await storage.admin.createTables();
	}
	await caughtUp(pair);
	await checksServers(file, primary, replica);
	await using store = openFileStore(file);
	await using first = await member(file);
	await using second = await member(file);
	const members = [first, second];
	const options: PromoteOptions = {
		store,
		environment: {},
		maxLagMs: 30_000,
		maxPauseMs: 60_000,
		agreeMs: 60_000,
	};
	const count = () => first.acknowledged.length + second.acknowledged.length;
	const someMore = async () => {
		const before = count();
		await until("more writes", () => count() > before + 20);
	};
	const hosts = [primary, replica];
	const isWritable = async () =>
		Promise.all(
			hosts.map(async (server) => {
				const [row] = await ask(server, "SELECT @@super_read_only AS fenced");
				return row?.fenced === 0;
			}),
		);
	let version = 1;
	let now = 0;
	const named = () => (hosts[now] as typeof primary).address;

	const refused = await checkPromotion(
		{ ...options, maxLagMs: 30_000 },
		named(),
	);
	assert.deepEqual(refused.faults, []);

	// An id that the primary gave out, and of which no row is on the replica.
	await ask(
		primary,
		"BEGIN",
		"INSERT INTO corkboard.outbox (local_id, shard, entry, ts) VALUES (5000, 1, '', 0)",
		"ROLLBACK",
	);
	await someMore();
	const result = await promote(options, named());
	const [made] = await ask(replica, "SHOW CREATE TABLE corkboard.outbox");
	const next = /AUTO_INCREMENT=(\d+)/.exec(String(made?.["Create Table"]));
	assert.ok(Number(next?.[1]) > 1_005_000, `next: ${next?.[1]}`);
	version += 1;
	now = 1 - now;
	assert.equal(result.version, version);
	assert.equal(result.agreement?.missing.length, 0);
	assert.equal(result.agreement?.agreed.length, 2);
	assert.deepEqual(await isWritable(), [false, true]);
	await someMore();

	assert.deepEqual(Object.keys(result).sort(), shownKeys("hosts promote"));
	const [over] = await listOperations(store);
	assert.deepEqual(
		[...Object.keys(over ?? {}), "isHeld"].sort(),
		shownKeys("operations list"),
	);

	const steps = ["locked", "fenced", "writable", "published"];
	/** Ends the runner after a step, as kill -9 does: it does nothing more. */
	const endedAfter = async (step: string) => {
		await assert.rejects(
			promote(
				{
					...options,
					async onStep(done, id) {
						// Nobody may take it over; at first its first sign of life may be under way.
						await until(`a sign of life after ${done}`, () =>
							isHeld(store, id),
						);
						if (done === step) throw new RangeError("killed");
					},
				},
				named(),
			),
			RangeError,
		);
		const operation = (await listOperations(store)).at(-1);
		assert.ok(operation);
		return operation.id;
	};
	for (const step of steps) {
		const id = await endedAfter(step);
		const resumed = await resumeOperation(options, id);
		version += 1;
		now = 1 - now;
		assert.equal(resumed.version, version, step);
		assert.deepEqual(await isWritable(), [now === 0, now === 1], step);
		await someMore();
	}
	for (const step of ["fenced", "writable"]) {
		await abortOperation(options, await endedAfter(step));
		assert.deepEqual(await isWritable(), [now === 0, now === 1], step);
		await someMore();
	}
	await assert.rejects(abortOperation(options, await endedAfter("published")), {
		code: "CONFLICT",
		message: /Complete it/,
	});

	// Others publish between the read of the topology and the write of it.
	let races = 0;
	const racing: PromoteOptions = {
		...options,
		store: {
			...delegate(store),
			get: async (path) => {
				const found = await store.get(path);
				if (path === TOPOLOGY && races > 0) {
					races -= 1;
					await publishWeight(store, 2 + (races % 2));
					version += 1;
				}
				return found;
			},
		},
	};
	const raced = async (times: number) => {
		const step = (done: string) => {
			if (done === "writable") races = times;
		};
		return promote({ ...racing, onStep: step }, named());
	};
	// The first promotion was resumed by nobody: the last loop's is.
	await resumeOperation(
		options,
		(await listOperations(store)).at(-1)?.id ?? "",
	);
	version += 1;
	now = 1 - now;
	const overtaken = await raced(3);
	version += 1;
	now = 1 - now;
	assert.equal(overtaken.version, version);
	assert.deepEqual(await isWritable(), [now === 0, now === 1]);
	assert.equal((await readCurrent(store))?.topology.shards[0]?.weight, 2);
	await someMore();
	await assert.rejects(raced(1_000), {
		code: "CONFLICT",
		message: /rolled back/,
	});
	races = 0;
	assert.deepEqual(await isWritable(), [now === 0, now === 1]);
	assert.equal((await listOperations(store)).at(-1)?.step, "rolled back");
	await someMore();

	// The command itself, by SIGKILL, and another process that continues.
	const env = { CORKBOARD_TOPOLOGY: file };
	for (const step of KILLED_AFTER) {
		await using killed = startProgram(
			[step, "hosts", "promote", named(), "--yes", ...PATIENT],
			{ env, command: [process.execPath, STANDS_STILL] },
		);
		await killed.printed("err", new RegExp(`^${step}$`, "m"));
		killed.send("SIGKILL");
		assert.equal((await killed.ended).signal, "SIGKILL");
		const id = (await listOperations(store)).at(-1)?.id ?? "";
		await until("its holder is known to be gone", async () => {
			const { code, out } = await command(["operations", "list"], { env });
			return code === 1 && out.includes(`operations resume ${id}`);
		});
		const { code, out, err } = await runProgram(
			["operations", "resume", id, "--json", "--max-pause", "1m"],
			{ env },
		);
		// 3: a member of this busy process may not serve it within five seconds.
		assert.ok(code === 0 || code === 3, `${step}: ${out}${err}`);
		version += 1;
		now = 1 - now;
		const resumed = JSON.parse(out);
		assert.deepEqual(Object.keys(resumed).sort(), shownKeys("hosts promote"));
		assert.equal(resumed.version, version, step);
		assert.equal(resumed.isFollowing, true, step);
		assert.deepEqual(await isWritable(), [now === 0, now === 1], step);
		await someMore();
		const again = await command(["operations", "resume", id], { env });
		assert.equal(again.code, 1);
		assert.match(again.err, /is over: done/);
	}

	for (const { failures } of members) assert.deepEqual(failures, []);
	for (const each of members) {
		await each.end();
		const texts = await each.storage.read("objects", each.acknowledged);
		assert.equal(texts.filter((text) => good(text) === null).length, 0);
	}
	const ids = members.flatMap(({ acknowledged }) => acknowledged);
	assert.equal(new Set(ids).size, ids.length);
});
