import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pinsApp from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../../src/config/config.ts";
import { fenceReturned } from "../../../src/fleet/operations/fenceReturned.ts";
import { listOperations } from "../../../src/fleet/operations/operations.ts";
import {
	checkDeadPromotion,
	type DeadOptions,
	promoteDead,
} from "../../../src/fleet/operations/promoteDead.ts";
import { abortOperation } from "../../../src/fleet/resumeOperation.ts";
import { createStoredTypes } from "../../../src/model/storedTypes.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { Client, readTitles, signUp } from "../../attack/promote/load.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { serve, startProgram } from "../../helpers/program.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";

const STANDS_STILL = join(import.meta.dirname, "../standsStill.ts");
/** In which a process that wakes would write, if it did so without the store. Milliseconds. */
const HELD_MS = 3_000;

test("a replica takes the place of a primary that is paused: what was acknowledged and is lost is stated by GTID and by id, no id comes twice, a command that was killed can be undone or completed, and a process that slept through it writes nothing to the old primary when both are back", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	const hosts = { primary: primary.url, replica: replica.url };
	const range = [0, 1];
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range, ...hosts, open: true }],
			lookups: [{ range, ...hosts }],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_MODE: "development",
		CORKBOARD_GRAPHIQL: "off",
		CORKBOARD_SECRET: "of this test alone of 32 bytes or more",
		HOST: "127.0.0.1",
		PORT: "0",
	};
	await using corkboard = await openCorkboard(
		pinsApp,
		readConfig(env),
		"readWrite",
		"serve",
	);
	await corkboard.admin.createTables();
	await using server = await startCorkboardServer(corkboard);
	await using store = openFileStore(file);
	using client = new Client(server.url);
	const writer = await signUp(client, "of_the_dead");
	const write = async (title: string, by = client) => {
		const { made } = (await by.ask(
			"mutation ($input: CreatePinInput!) { made: createPin(input: $input) { pin { id } } }",
			{ input: { boardId: writer.boardId, title } },
			writer.token,
		)) as { readonly made: { readonly pin: { readonly id: string } } };
		return made.pin.id;
	};
	const kept = [await write("kept 1"), await write("kept 2")];
	await using sleeper = await serve(env);
	using asleep = new Client(sleeper.url);
	kept.push(await write("kept 3", asleep));
	await caughtUp(pair);
	await ask(replica, "STOP REPLICA IO_THREAD");
	const given = [await write("lost 1"), await write("lost 2")];

	const options: DeadOptions = {
		store,
		environment: {},
		agreeMs: 60_000,
		askMs: 60_000,
	};
	const { address } = primary;
	await assert.rejects(promoteDead(options, address), {
		code: "CONFLICT",
		message: /answers\. If it lives, nothing has to be lost/,
	});
	// It knows nothing of the death: its connections are as they were.
	sleeper.send("SIGSTOP");
	primary.pause();
	const dead = { ...options, tryMs: 300 };
	await until("nobody counts as reaching it", async () => {
		const { faults } = await checkDeadPromotion(dead, address);
		return faults.length === 0;
	});
	const isFenced = async () => {
		const [row] = await ask(replica, "SELECT @@super_read_only AS fenced");
		return row?.fenced === 1;
	};
	// What was found a moment ago is not looked for again.
	const checked = await checkDeadPromotion(dead, address);
	const faulty = { ...checked, faults: ["found before"] };
	await assert.rejects(promoteDead(dead, address, faulty), {
		code: "CONFLICT",
		message: /found before/,
	});
	await assert.rejects(promoteDead(dead, address, checked), {
		code: "CONFLICT",
		message:
			/acknowledged \d+ transactions that .* lacks, as 1 process knows.*It was not accepted, so nothing has changed/s,
	});
	assert.ok(await isFenced());
	assert.equal((await ask(replica, "SHOW REPLICA STATUS")).length, 1);

	const last = async () => (await listOperations(store)).at(-1)?.id ?? "";
	/** Runs a command, and ends it by SIGKILL at a step. */
	const killedAt = async (step: string, ...args: string[]) => {
		await using killed = startProgram([step, ...args], {
			env,
			command: [process.execPath, STANDS_STILL],
		});
		await killed.printed("err", new RegExp(`^${step}$`, "m"));
		killed.send("SIGKILL");
		assert.equal((await killed.ended).signal, "SIGKILL");
		const resume = `operations resume ${await last()}`;
		await until("its holder is known to be gone", async () => {
			const { code, out } = await command(["operations", "list"], { env });
			return code === 1 && out.includes(resume);
		});
	};
	const promote = [
		"hosts",
		"promote",
		address,
		"--dead",
		"--accept-loss",
		"--yes",
	];
	for (const step of ["locked", "applied", "writable"]) {
		await killedAt(step, ...promote);
		const undone = await abortOperation(dead, await last());
		assert.equal(undone.version, null);
		assert.ok(await isFenced(), step);
		assert.equal((await ask(replica, "SHOW REPLICA STATUS")).length, 1, step);
		await ask(replica, "STOP REPLICA IO_THREAD");
	}
	await killedAt("accepted", ...promote);
	// What was accepted need not be accepted again.
	await killedAt("published", "operations", "resume", await last());
	await assert.rejects(abortOperation(dead, await last()), {
		code: "CONFLICT",
		message: /Complete it/,
	});
	const ran = await command(["operations", "resume", await last(), "--json"], {
		env,
	});
	assert.equal(ran.code, 0, ran.err);
	const { version, loss } = JSON.parse(ran.out);
	assert.equal(version, 2);
	const named = new Set(
		loss.writes.flatMap(({ wrote }: { wrote: string[] }) => wrote),
	);
	for (const id of given) assert.ok(named.has(id), id);
	for (const id of kept) assert.ok(!named.has(id), id);
	assert.ok(loss.transactions >= given.length);
	const [range1] = JSON.parse(readFileSync(file, "utf8")).shards;
	assert.deepEqual(range1, {
		range,
		primary: replica.url,
		open: true,
		generation: 1,
	});
	assert.ok(!(await isFenced()));

	const titles = await readTitles([client], [...kept, ...given]);
	assert.deepEqual([...titles.keys()].sort(), kept.toSorted());
	const more = [await write("after 1"), await write("after 2")];
	for (const id of more) assert.ok(![...kept, ...given].includes(id));
	const check = (repair: boolean) =>
		verify(corkboard.store, {
			repair,
			types: createStoredTypes(corkboard.schema),
		});
	await check(true);
	const { status, remaining } = await check(false);
	assert.deepEqual([status, remaining], ["finished", []]);

	// It is back, and no process writes to it; the next who looks fences it.
	primary.resume();
	const executed = async () => {
		const [row] = await ask(primary, "SELECT @@GLOBAL.gtid_executed AS gtids");
		return row?.gtids;
	};
	const before = await executed();
	await write("after 3");
	// The store does not answer it at once, and requests wait in its sockets.
	using held = new DatabaseSync(join(`${file}.d`, "store.sqlite"), {
		timeout: 60_000,
	});
	held.exec("BEGIN EXCLUSIVE");
	const late = Array.from({ length: 20 }, (_, nth) =>
		write(`late ${nth}`, asleep).catch(() => null),
	);
	await sleep(500);
	sleeper.send("SIGCONT");
	await sleep(HELD_MS);
	assert.equal(await executed(), before);
	held.exec("ROLLBACK");
	const acknowledged = (await Promise.all(late)).filter((id) => id !== null);
	assert.equal(await executed(), before);
	await until("the one that slept writes again", async () => {
		const id = await write("awake", asleep).catch(() => null);
		if (id !== null) acknowledged.push(id);
		return id !== null;
	});
	assert.deepEqual(
		await fenceReturned(
			{ store, environment: {} },
			await listOperations(store),
		),
		[address],
	);
	await assert.rejects(ask(primary, "CREATE DATABASE of_nobody"), /read-only/);
	const there = await readTitles([client], acknowledged);
	assert.equal(there.size, acknowledged.length);
	assert.equal(await executed(), before);
});
