import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withReplica } from "../../../src/fleet/map/edits.ts";
import {
	findNewReplica,
	findReplica,
} from "../../../src/fleet/map/replicaHosts.ts";
import {
	addReplica,
	checkAddReplica,
	type ReplicaOptions,
} from "../../../src/fleet/operations/addReplica.ts";
import { listOperations } from "../../../src/fleet/operations/operations.ts";
import { removeReplica } from "../../../src/fleet/operations/removeReplica.ts";
import { isHeld } from "../../../src/fleet/operations/signOfLife.ts";
import { checkServers } from "../../../src/fleet/preflight/checkServers.ts";
import {
	abortOperation,
	resumeOperation,
} from "../../../src/fleet/resumeOperation.ts";
import type { Id } from "../../../src/id/ids.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { checkTopology } from "../../../src/topology/check.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { readCurrent } from "../../../src/topology/history.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { startProgram } from "../../helpers/program.ts";
import { command } from "../../helpers/runCommand.ts";
import { MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { create, good } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { isAlive } from "../../services/gone.ts";
import { caughtUp, startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

/** Examples of JSON, by command. */
const SHOWN = JSON.parse(
	readFileSync(
		join(import.meta.dirname, "../../../docs/reference/commands.json"),
		"utf8",
	),
);
const STANDS_STILL = join(import.meta.dirname, "../standsStill.ts");
/** clone_progress is in it. */
const ARGS = ["--performance-schema=ON"];

/** A number for all rows of each table of the shards. */
async function checksums(server: Server) {
	const rows = await ask(
		server,
		"SELECT CONCAT(table_schema, '.', table_name) AS name FROM information_schema.tables WHERE table_schema REGEXP '^(db|mod)[0-9]{5}$' ORDER BY 1",
	);
	const names = rows.map(({ name }) => String(name));
	assert.ok(names.length > 10);
	return await ask(server, `CHECKSUM TABLE ${names.join(", ")}`);
}

test("a new replica is named in all kinds of ranges of its primary, under the primary's account, and removed from all", () => {
	const primary = "mysql://a:p%40ss@db001a?ssl-mode=REQUIRED";
	const other = "mysql://a@db002a:3306";
	const topology = checkTopology({
		version: 4,
		shards: [
			{ range: [0, 1], primary, open: true, generation: 2 },
			{
				range: [2, 3],
				primary: other,
				replica: "mysql://a@db002b",
				open: true,
			},
		],
		lookups: [{ range: [0, 0], primary }],
		queues: [{ range: [3, 3], primary }],
		feeds: [{ range: [1, 1], primary }],
		pools: [{ range: [0, 1], primary }],
	});
	const find = (host: string, of: string) =>
		findNewReplica(topology, { host, of });
	const { replicaUrl } = find("db001c:3307", "db001a");
	assert.equal(replicaUrl, "mysql://a:p%40ss@db001c:3307?ssl-mode=REQUIRED");
	const next = withReplica(topology, "db001a:3306", replicaUrl);
	const named = [
		next.shards[0],
		next.lookups[0],
		next.queues?.[0],
		next.feeds?.[0],
		next.pools?.[0],
	];
	for (const range of named) assert.equal(range?.replica, replicaUrl);
	assert.deepEqual(next.shards[1], topology.shards[1]);
	assert.equal(next.shards[0]?.generation, 2);
	const published = { ...next, version: 5 };
	const { primary: from } = findReplica(published, "db001c");
	const { version: _, ...before } = topology;
	assert.deepEqual(withReplica(published, from, null), before);
	for (const [host, of, message] of [
		["db002a:3306", "db001a", /db002a:3306 is a primary/],
		["db002b:3306", "db001a", /is the replica of db002a:3306/],
		["db009", "db002a", /has the replica db002b:3306\. Remove that first/],
		["db009", "db007", /names no primary db007/],
		["db 9", "db001a", /HOST must be host:port/],
	] as const) {
		assert.throws(() => find(host, of), { code: "BAD_TOPOLOGY", message });
	}
});

test("a replica is added while its primary takes writes, wherever the command ends, and has every row; it is removed again", async () => {
	await using started = new AsyncDisposableStack();
	const starting = [
		startMysql({ args: ARGS }),
		startMysql({ args: [...ARGS, "--super-read-only"] }),
	] as const;
	await Promise.allSettled(starting);
	const [primary, replica] = await Promise.all(starting);
	started.use(primary);
	started.use(replica);
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	writeFileSync(
		file,
		JSON.stringify({ ...topologyOn(primary.url), version: 1 }),
	);
	// All is done by an account with what `grants show --account operator` prints, and no more.
	const admin = join(folder.path, "admin");
	writeFileSync(admin, JSON.stringify({ user: "ops", password: "secret" }));
	const grants = await command([
		"grants",
		"show",
		"--account",
		"operator",
		"--user",
		"ops",
	]);
	const statements = grants.out
		.split("\n")
		.filter((line) => line.startsWith("GRANT "));
	assert.ok(statements.length > 8, grants.err);
	await ask(replica, "SET GLOBAL super_read_only = OFF");
	for (const server of [primary, replica]) {
		await ask(server, "CREATE USER ops@'%' IDENTIFIED BY 'secret'");
		await ask(server, ...statements);
	}
	await ask(replica, "SET GLOBAL super_read_only = ON");
	const env = { CORKBOARD_TOPOLOGY: file, CORKBOARD_ADMIN_FILE: admin };
	const given = { host: replica.address, of: primary.address };
	await using storage = await openMysqlStorage({
		model: MODEL,
		topology: topologyOn(primary.url),
	});
	await storage.admin.createTables();
	await using store = openFileStore(file);
	const options: ReplicaOptions = { store, environment: env, agreeMs: 60_000 };

	// What a copy would drop.
	await ask(
		replica,
		"SET GLOBAL super_read_only = OFF",
		"CREATE DATABASE kept",
	);
	const refused = await checkAddReplica(options, given);
	assert.deepEqual(refused.faults, [
		`${replica.address} has databases of its own, which a copy would drop: kept. Drop them, or give it an empty data folder.`,
	]);
	await assert.rejects(addReplica(options, given), { code: "CONFLICT" });
	assert.deepEqual(await listOperations(store), []);
	// An account that cannot see all would take a server for empty.
	await ask(replica, "REVOKE SHOW DATABASES ON *.* FROM ops@'%'");
	const blind = await checkAddReplica(options, given);
	assert.match(blind.faults.join(), /account lacks SHOW DATABASES: corkboard/);
	await ask(replica, "GRANT SHOW DATABASES ON *.* TO ops@'%'");
	await ask(replica, "DROP DATABASE kept", "SET GLOBAL super_read_only = ON");
	const dry = await command(
		["replicas", "add", given.host, "--of", given.of, "--dry-run", "--json"],
		{ env },
	);
	assert.equal(dry.code, 0, dry.err);
	assert.deepEqual(JSON.parse(dry.out).faults, []);

	/** Ends the runner after a step, as kill -9 does: it does nothing more. */
	const endingAfter = (step: string): ReplicaOptions => ({
		...options,
		async onStep(done, id) {
			// The first is under way at first, and a busy disk may keep back others.
			await until(`a sign of life after ${done}`, () => isHeld(store, id));
			if (done === step) throw new RangeError("killed");
		},
	});
	const newest = async () => (await listOperations(store)).at(-1);
	await assert.rejects(addReplica(endingAfter("locked"), given), RangeError);
	const undone = await abortOperation(options, (await newest())?.id ?? "");
	assert.equal(undone.version, null);
	assert.equal((await newest())?.step, "rolled back");

	const acknowledged: Id[] = [];
	let isOver = false;
	const write = async (shard: number) => {
		for (let n = 0; !isOver; n++) {
			acknowledged.push(...(await create(storage, shard, "Pin", { n })));
			await sleep(20);
		}
	};
	const writing = Promise.all([0, 1].map(write));
	// A failure shows where it is waited for.
	writing.catch(() => {});
	try {
		// The command itself, by SIGKILL in the middle of the copy.
		const killedInCopy = async (rate: string, printed: RegExp) => {
			const add = ["replicas", "add", given.host, "--of", given.of, "--yes"];
			await using killed = startProgram(
				["copying", ...add, "--bandwidth", rate],
				{
					env,
					command: [process.execPath, STANDS_STILL],
				},
			);
			await killed.printed("err", printed);
			killed.send("SIGKILL");
			assert.equal((await killed.ended).signal, "SIGKILL");
			return (await newest())?.id ?? "";
		};
		// The limit holds for the last pages of a copy: these take ten seconds.
		await ask(
			primary,
			"CREATE DATABASE ballast",
			"CREATE TABLE ballast.texts (text LONGTEXT)",
			...Array.from(
				{ length: 64 },
				() => "INSERT INTO ballast.texts VALUES (REPEAT('x', 1048576))",
			),
		);
		const slow = await killedInCopy("1", /^copying$/m);
		// MySQL copies by itself, and would end before the holder is known to be gone.
		replica.pause();
		await until("its holder is known to be gone", async () => {
			return !(await isHeld(store, slow));
		});
		replica.resume();
		await abortOperation(options, slow);
		assert.equal((await newest())?.step, "rolled back");
		assert.match(JSON.stringify(await newest()), /it holds what was copied/);
		await until("the copy has ended", async () => {
			const [copy] = await ask(
				replica,
				"SELECT state FROM performance_schema.clone_status",
			);
			return copy?.state === "Failed";
		});
		assert.deepEqual((await checkAddReplica(options, given)).faults, []);
		await ask(primary, "DROP DATABASE ballast");

		// Looks may be seconds apart on a busy machine, and miss the whole copy.
		const id = await killedInCopy("10", /^copying$|has shut down/m);
		// It shuts down by itself once it has copied all, as it has no supervisor.
		await until("the copy is there", () => !isAlive(replica.pid), 120_000);
		await replica.restart();
		const before = acknowledged.length;
		await until("more writes", () => acknowledged.length > before + 20);
		await until("its holder is known to be gone", async () => {
			return !(await isHeld(store, id));
		});
		for (const step of ["cloned", "following", "caught up", "published"]) {
			await assert.rejects(
				resumeOperation(endingAfter(step), id),
				RangeError,
				step,
			);
		}
		const resumed = await command(["operations", "resume", id, "--json"], {
			env,
		});
		assert.equal(resumed.code, 0, resumed.err);
		const result = JSON.parse(resumed.out);
		assert.deepEqual(
			Object.keys(result).sort(),
			Object.keys(SHOWN["replicas add"]).sort(),
		);
		assert.equal(result.version, 2);
		const { topology } = (await readCurrent(store)) ?? {};
		for (const range of [
			...(topology?.shards ?? []),
			...(topology?.lookups ?? []),
		]) {
			assert.equal(range.replica, replica.url);
		}
	} finally {
		isOver = true;
	}
	await writing;
	await caughtUp({ primary, replica });
	assert.deepEqual(await checksums(replica), await checksums(primary));
	{
		await using copy = await openMysqlStorage({
			model: MODEL,
			topology: topologyOn(replica.url),
		});
		assert.ok(acknowledged.length > 20);
		for (const text of await copy.read("objects", acknowledged)) {
			assert.ok(good(text));
		}
	}
	const [state] = await ask(
		replica,
		"SELECT @@super_read_only AS fenced, @@gtid_executed LIKE CONCAT('%', @@server_uuid, '%') AS own",
	);
	assert.deepEqual({ ...state }, { fenced: 1, own: 0 });
	// MySQL's default gives up after ten.
	const [following] = await ask(replica, "SHOW REPLICA STATUS");
	assert.equal(Number(following?.Source_Retry_Count), 0);
	const { topology } = (await readCurrent(store)) ?? {};
	assert.ok(topology);
	assert.deepEqual((await checkServers(topology, env)).faults, []);

	await assert.rejects(addReplica(options, given), {
		code: "BAD_TOPOLOGY",
		message: /is the replica of .* already/,
	});
	const asked = await command(
		["replicas", "remove", given.host, "--dry-run", "--json"],
		{ env },
	);
	assert.equal(JSON.parse(asked.out).answers, true);
	await assert.rejects(
		removeReplica(endingAfter("published"), given.host),
		RangeError,
	);
	const removed = await resumeOperation(options, (await newest())?.id ?? "");
	assert.equal(removed.version, 3);
	const current = (await readCurrent(store))?.topology;
	assert.equal(current?.shards[0]?.replica, undefined);
	assert.deepEqual(await ask(replica, "SHOW REPLICA STATUS"), []);
	assert.deepEqual(await checksums(replica), await checksums(primary));
	const again = await command(
		["replicas", "add", given.host, "--of", given.of, "--yes"],
		{ env },
	);
	assert.equal(again.code, 1);
	assert.match(again.out, /has databases of its own/);
});
