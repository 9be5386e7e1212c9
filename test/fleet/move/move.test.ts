import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, mock, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import { CorkboardError } from "../../../src/errors.ts";
import { lift } from "../../../src/fleet/move/cutOver.ts";
import { guardMove } from "../../../src/fleet/move/guardMove.ts";
import { type MoveOptions, openRun } from "../../../src/fleet/move/moveRun.ts";
import { moveStatus } from "../../../src/fleet/move/moveStatus.ts";
import { planMove } from "../../../src/fleet/move/planMove.ts";
import {
	cancelMove,
	completeMove,
	resumeMove,
	reverseMove,
	reverseWave,
} from "../../../src/fleet/move/redirect.ts";
import { startMove } from "../../../src/fleet/move/startMove.ts";
import { wish } from "../../../src/fleet/move/wishes.ts";
import { eventsOf } from "../../../src/fleet/operations/moveTable.ts";
import {
	listOperations,
	Operation,
	requireRecord,
} from "../../../src/fleet/operations/operations.ts";
import { promoteDead } from "../../../src/fleet/operations/promoteDead.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import type { Id } from "../../../src/id/ids.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { createReloadableStorage } from "../../../src/storage/versions/reloadableStorage.ts";
import { checkTopology } from "../../../src/topology/check.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { readCurrent } from "../../../src/topology/history.ts";
import type { Topology } from "../../../src/topology/types.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import {
	childrenOf,
	startOtlpServer,
	treeOf,
} from "../../helpers/otlpServer.ts";
import { startProgram } from "../../helpers/program.ts";
import { command } from "../../helpers/runCommand.ts";
import { IS_SLOW_RUN, printedSeed } from "../../helpers/slowRun.ts";
import { MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { create, good } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, type Pair, startMysqlPair } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";
import { member } from "../member.ts";

/** Every database, table, account and event of a server, by name. */
async function contentsOf(server: Server): Promise<readonly string[]> {
	const rows = await ask(
		server,
		`SELECT CONCAT_WS(' ', 'database', schema_name, options) AS what
			FROM information_schema.schemata_extensions
		UNION ALL SELECT CONCAT_WS('.', 'table', table_schema, table_name)
			FROM information_schema.tables WHERE table_schema NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')
		UNION ALL SELECT CONCAT_WS(' ', 'account', user, host) FROM mysql.user
		UNION ALL SELECT CONCAT_WS(' ', 'event', event_name) FROM information_schema.events
		ORDER BY 1`,
	);
	return rows.map(({ what }) => String(what));
}

/** Examples of JSON, by command. */
const SHOWN = JSON.parse(
	readFileSync(
		join(import.meta.dirname, "../../../docs/reference/commands.json"),
		"utf8",
	),
);

const STOPS_ITSELF = join(import.meta.dirname, "../stopsItself.ts");
const STANDS_STILL = join(import.meta.dirname, "../standsStill.ts");

interface Pairs extends AsyncDisposable {
	readonly source: Pair;
	readonly target: Pair;
}

async function startPairs(): Promise<Pairs> {
	await using opened = new AsyncDisposableStack();
	const starting = [
		// It names the transactions that are open.
		startMysqlPair({ args: ["--performance-schema=ON"] }),
		startMysqlPair(),
	] as const;
	// Waited for even if one fails, so that the other is stopped.
	for (const outcome of await Promise.allSettled(starting)) {
		if (outcome.status === "fulfilled") opened.use(outcome.value);
	}
	const [source, target] = await Promise.all(starting);
	const owned = opened.move();
	return { source, target, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

let shared: Promise<Pairs> | undefined;
after(async () => (await shared)?.[Symbol.asyncDispose]());

/** What a fleet has before it moves anything. */
const STAYS = /^(?:db|mod)\d{5}$|^corkboard$/;

/**
 * Those of all tests, of which the second is empty, and the first has nothing in the
 * way of a new fleet. The last test ends their primaries for good.
 */
async function sharedPairs(): Promise<Pairs> {
	shared ??= startPairs();
	const pairs = await shared;
	for (const [side, pair] of Object.entries(pairs)) {
		const databases = await ask(
			pair.primary,
			"SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')",
		);
		for (const { name } of databases) {
			await ask(pair.primary, `ALTER DATABASE ${name} READ ONLY = 0`);
			// Its tables take longer to make than most of a test.
			if (side === "source" && STAYS.test(name)) continue;
			await ask(pair.primary, `DROP DATABASE ${name}`);
		}
		await caughtUp(pair);
	}
	return pairs;
}

/** Two pairs, of which the first has all that the map names, and two processes that write. */
async function startFleet() {
	await using opened = new AsyncDisposableStack();
	const { source, target } = await sharedPairs();
	const folder = temporaryFolder();
	opened.defer(() => folder[Symbol.dispose]());
	const file = join(folder.path, "topology.json");
	const { shards, lookups } = topologyOn(source.primary.url);
	const both = <Range>(range: Range) => ({
		...range,
		replica: source.replica.url,
	});
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
			topology: topologyOn(source.primary.url),
		});
		await storage.admin.createTables();
	}
	await caughtUp(source);
	const store = opened.use(openFileStore(file));
	const members = [
		opened.use(await member(file)),
		opened.use(await member(file)),
	] as const;
	const count = () =>
		members.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
	const owned = opened.move();
	const options: MoveOptions = {
		store,
		environment: {},
		agreeMs: 60_000,
		lookMs: 120,
		againMs: 100,
	};
	return {
		source,
		target,
		store,
		file,
		members,
		options,
		asked: {
			list: "shards",
			range: [0, 1],
			to: target.primary.url,
			replica: target.replica.url,
			wave: 2,
		} as const,
		async someMore() {
			const before = count();
			await until("more writes", () => count() > before + 12);
		},
		/** Nothing failed, and what was acknowledged is there, once. */
		async judge() {
			for (const each of members) {
				await each.end();
				assert.deepEqual(each.failures, []);
				const texts = await each.storage.read("objects", each.acknowledged);
				assert.equal(texts.filter((text) => good(text) === null).length, 0);
			}
			const ids = members.flatMap(({ acknowledged }) => acknowledged);
			assert.equal(new Set(ids).size, ids.length);
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** This machine is busy: what is measured elsewhere is not held here. */
const PATIENT = { maxPauseMs: 60_000, maxLagMs: 60_000, settleMs: 0 };

test("shards move to a new pair under load, come back with what was written there, and leave nothing behind", async () => {
	await using fleet = await startFleet();
	const { source, target, store, options, someMore } = fleet;
	const before = {
		source: await contentsOf(source.primary),
		target: await contentsOf(target.primary),
	};
	await someMore();
	// As of one that cannot be delivered for now.
	await ask(
		source.primary,
		`INSERT INTO corkboard.outbox (shard, entry, ts, attempts, next_attempt_at, last_error)
			VALUES (0, '{}', 1, 9, ${Number.MAX_SAFE_INTEGER}, 'NOT_FOUND')`,
	);
	const undelivered = async () => {
		const counts: number[] = [];
		for (const { primary } of [source, target]) {
			const [row] = await ask(
				primary,
				"SELECT COUNT(*) AS entries FROM corkboard.outbox WHERE attempts = 9",
			);
			counts.push(Number(row?.entries));
		}
		return counts;
	};
	const asked = { ...fleet.asked, wave: 1 };
	const plan = await planMove(options, asked);
	assert.deepEqual(plan.faults, []);
	assert.deepEqual(
		plan.waves.map(({ range }) => range),
		[
			[0, 0],
			[1, 1],
		],
	);
	// So slow that somebody sees the copy: its signs of life say how far it is.
	const moving = startMove(options, plan.found, [], { ...PATIENT, rate: 5 });
	await until("a copy that is under way", async () => {
		const { id } = (await listOperations(store)).at(-1) ?? {};
		if (id === undefined) return false;
		const { running } = await moveStatus(options, id);
		if (running?.step !== "copy" || running.rows.copied === 0) return false;
		await wish(store, id, () => ({ rate: null }));
		return true;
	});
	const moved = await moving;
	assert.deepEqual(
		Object.keys(moved).toSorted(),
		Object.keys(SHOWN["shards move"]).toSorted(),
	);
	assert.equal(moved.step, "way open");
	assert.deepEqual(
		moved.waves.map(({ state, at, switches }) => [state, at, switches]),
		[
			["parked", "to", 1],
			["parked", "to", 1],
		],
	);
	const map = (await readCurrent(store))?.topology;
	assert.deepEqual(
		map?.shards.map(({ range, primary, replica, generation }) => [
			range,
			primary,
			replica,
			generation,
		]),
		[
			[[0, 1], target.primary.url, target.replica.url, 1],
			[[2, 3], source.primary.url, source.replica.url, undefined],
		],
	);
	await someMore();

	assert.deepEqual(await undelivered(), [0, 1]);

	// Back, with what was written since; there again, and to the end.
	const { operation: id } = moved;
	const back = await reverseMove(options, id, { keepsWay: true });
	assert.equal(back.step, "way open");
	assert.deepEqual(await undelivered(), [1, 0]);
	await someMore();
	const again = await reverseMove(options, id, { keepsWay: true });
	assert.equal(again.step, "way open");
	assert.deepEqual(
		again.waves.map(({ at, switches }) => [at, switches]),
		[
			["to", 3],
			["to", 3],
		],
	);
	assert.deepEqual(await undelivered(), [0, 1]);
	await ask(target.primary, "DELETE FROM corkboard.outbox WHERE attempts = 9");
	await someMore();
	const done = await completeMove(options, id, { skipsRehearsal: false });
	assert.equal(done.step, "done");
	await someMore();
	assert.deepEqual(
		await contentsOf(source.primary),
		before.source.filter((what) => !/db0000[01]/.test(what)),
	);
	// Home by another move, which is reversed and then done again: both are as they were.
	const home = {
		...fleet.asked,
		wave: 1,
		to: source.primary.address,
		replica: undefined,
	};
	const there = await planMove(options, home);
	assert.deepEqual(there.faults, []);
	const { operation: other } = await startMove(
		options,
		there.found,
		[],
		PATIENT,
	);
	// One wave by itself, then the other.
	await assert.rejects(reverseWave(options, other, 3), { code: "NOT_FOUND" });
	const one = await reverseWave(options, other, 2);
	assert.deepEqual(
		[one.step, ...one.waves.map(({ state, at }) => [state, at])],
		["way open", ["parked", "to"], ["closed", "from"]],
	);
	const primaries = (await readCurrent(store))?.topology.shards.map(
		({ range, primary }) => [range, primary],
	);
	assert.deepEqual(primaries, [
		[[0, 0], source.primary.url],
		[[1, 1], target.primary.url],
		[[2, 3], source.primary.url],
	]);
	await assert.rejects(reverseWave(options, other, 2), {
		code: "CONFLICT",
		message: /Wave 2 of .* cannot go back: it is closed/,
	});
	await someMore();
	const reversed = await reverseMove(options, other, { keepsWay: false });
	assert.equal(reversed.step, "rolled back");
	assert.deepEqual(
		await contentsOf(source.primary),
		before.source.filter((what) => !/db0000[01]/.test(what)),
	);
	const last = await startMove(options, there.found, [], PATIENT);
	await completeMove(options, last.operation, { skipsRehearsal: false });
	assert.deepEqual(await contentsOf(source.primary), before.source);
	assert.deepEqual(await contentsOf(target.primary), before.target);
	await fleet.judge();
});

/** After which its runner ends, as by kill -9. */
const STEPS = ["locked", ...eventsOf("switch"), ...eventsOf("park")];

const random = seededRandom(printedSeed());

/** Some steps, drawn at random and in their order; move.slow.test.ts has all. */
function some(steps: readonly string[], count: number): readonly string[] {
	const drawn = random.shuffled(steps).slice(0, count);
	return IS_SLOW_RUN ? steps : steps.filter((step) => drawn.includes(step));
}

test("a move whose runner ends after any step goes on from there, there and back, and loses nothing", async () => {
	await using fleet = await startFleet();
	const { options, store, target, someMore } = fleet;
	const endsAfter = (step: string): MoveOptions => ({
		...options,
		onStep(done) {
			if (done === step) throw new RangeError("killed");
		},
	});
	const find = async () => (await listOperations(store)).at(-1)?.id ?? "";
	await someMore();
	const plan = await planMove(options, fleet.asked);
	await assert.rejects(
		startMove(endsAfter(STEPS[0] as string), plan.found, [], PATIENT),
		RangeError,
	);
	const id = await find();
	for (const step of some(STEPS.slice(1), 4)) {
		await assert.rejects(
			resumeMove(endsAfter(step), id),
			RangeError,
			`after ${step}`,
		);
		await someMore();
	}
	assert.equal((await resumeMove(options, id)).step, "way open");
	await someMore();
	const back = some(STEPS.slice(STEPS.indexOf("verified")), 3);
	let isFirst = true;
	for (const step of back) {
		const killed = endsAfter(step);
		await assert.rejects(
			isFirst
				? reverseMove(killed, id, { keepsWay: false })
				: resumeMove(killed, id),
			RangeError,
			`after ${step}, on the way back`,
		);
		isFirst = false;
		await someMore();
	}
	for (const step of eventsOf("close")) {
		await assert.rejects(resumeMove(endsAfter(step), id), RangeError, step);
		// As if it had ended between two tables.
		if (step === "dropping") {
			await ask(target.primary, "DROP TABLE park_db00000.board_has_pins");
		}
	}
	assert.equal((await resumeMove(options, id)).step, "rolled back");
	await someMore();
	await fleet.judge();
});

test("a move that is cancelled, also between its steps, leaves nothing behind", async () => {
	await using fleet = await startFleet();
	const { options, source, target, store, someMore } = fleet;
	const before = {
		source: await contentsOf(source.primary),
		target: await contentsOf(target.primary),
	};
	const plan = await planMove(options, fleet.asked);
	for (const step of ["prepared", "copied", "fenced", "ready"]) {
		await assert.rejects(
			startMove(
				{
					...options,
					onStep(done) {
						if (done === step) throw new RangeError("killed");
					},
				},
				plan.found,
				[],
				PATIENT,
			),
			RangeError,
		);
		const id = (await listOperations(store)).at(-1)?.id ?? "";
		const cancelled = await cancelMove(options, id);
		assert.equal(cancelled.step, "rolled back", step);
		assert.deepEqual(await contentsOf(source.primary), before.source, step);
		assert.deepEqual(await contentsOf(target.primary), before.target, step);
		await someMore();
	}
	for (const path of ["wishes", "locks", "heartbeats"]) {
		assert.deepEqual(await store.list(path), [], path);
	}
	await fleet.judge();
});

/** Reads and writes of a process that has the map of its beginning until it is given another. */
async function staleProcess(file: string) {
	const source = topologyIn(file);
	const storage = await createReloadableStorage(
		(topology) => openMysqlStorage({ model: MODEL, topology }),
		source,
		{ waitMs: 60_000, readWaitMs: 500 },
	);
	const [id] = await create(storage, 0, "Pin", { n: "before" });
	assert.ok(id);
	const read = async () => {
		const [found] = await storage.read("objects", [id]);
		return found instanceof CorkboardError ? found.code : found;
	};
	return {
		storage,
		read,
		write: () => create(storage, 0, "Pin", { n: "late" }),
		[Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
	};
}

function topologyIn(file: string): Topology {
	return checkTopology(JSON.parse(readFileSync(file, "utf8")));
}

test("a process that was paused since before the fence writes nothing to the former primary, and reads no wrong null", async () => {
	await using fleet = await startFleet();
	const { options, file, source, someMore } = fleet;
	const pins = async () => {
		const [row] = await ask(
			source.primary,
			"SELECT COUNT(*) AS pins FROM information_schema.tables WHERE table_schema = 'db00000' AND table_name = 'pins'",
		);
		if (row?.pins === 0) return null;
		const [count] = await ask(
			source.primary,
			"SELECT COUNT(*) AS pins FROM db00000.pins",
		);
		return count?.pins;
	};
	await using flipped = await staleProcess(file);
	await using parked = await staleProcess(file);
	await using completed = await staleProcess(file);
	const plan = await planMove(options, fleet.asked);
	let write: Promise<readonly Id[]> | null = null;
	const { operation: id } = await startMove(
		{
			...options,
			async onStep(step) {
				if (step !== "published") return;
				// Fenced: it reads what was there then, and its write waits for another map.
				assert.equal(await flipped.read(), '{"n":"before"}');
				const before = await pins();
				write = flipped.write();
				await sleep(300);
				assert.equal(await pins(), before);
				await flipped.storage.switchTopology(topologyIn(file));
				const [made] = await (write as Promise<readonly Id[]>);
				assert.ok(made);
			},
		},
		plan.found,
		[],
		PATIENT,
	);
	const late = async (process: Awaited<ReturnType<typeof staleProcess>>) => {
		// No null: the object is elsewhere.
		const began = performance.now();
		assert.equal(await process.read(), "UNAVAILABLE");
		assert.ok(performance.now() - began >= 450);
		const reading = process.read();
		const writing = process.write();
		await process.storage.switchTopology(topologyIn(file));
		assert.equal(await reading, '{"n":"before"}');
		const [made] = await writing;
		const [text] = await process.storage.read("objects", [made as Id]);
		assert.equal(text, '{"n":"late"}');
	};
	assert.equal(await pins(), null);
	await late(parked);
	await completeMove(options, id, { skipsRehearsal: false });
	await late(completed);
	assert.equal(await pins(), null);
	await someMore();
	await fleet.judge();
});

test("the command says what it would do and what refuses it, and another lifts its fence when it is killed", async () => {
	await using fleet = await startFleet();
	const { file, target, source, store, someMore } = fleet;
	await using collector = await startOtlpServer();
	const env = {
		CORKBOARD_TOPOLOGY: file,
		OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
	};
	const to = ["--to", target.primary.url, "--replica", target.replica.url];
	const dry = await command(
		["shards", "move", "0-1", ...to, "--dry-run", "--json"],
		{
			env,
		},
	);
	assert.equal(dry.code, 0, dry.out + dry.err);
	const { faults, isNew, waves } = JSON.parse(dry.out);
	assert.deepEqual([faults, isNew, waves.length], [[], true, 1]);
	assert.ok(!dry.out.includes("@"), "no account is printed");

	// Each with its name and its cure, all at once.
	await ask(target.primary, "SET GLOBAL super_read_only = ON");
	await ask(source.primary, "SET GLOBAL binlog_row_image = MINIMAL");
	await ask(source.primary, "ALTER DATABASE db00001 READ ONLY = 1");
	const refused = await command(["shards", "move", "0-1", ...to, "--yes"], {
		env,
	});
	assert.equal(refused.code, 1);
	for (const expected of [
		/^writable: .* takes no writes: .*SET GLOBAL super_read_only = OFF/m,
		/^settings: .*binlog_row_image must be FULL, got MINIMAL/m,
		/^fenced databases: .*ALTER DATABASE db00001 READ ONLY = 0/m,
	]) {
		assert.match(refused.out, expected);
	}
	await ask(
		target.primary,
		"SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF",
	);
	await ask(source.primary, "SET GLOBAL binlog_row_image = FULL");
	await ask(source.primary, "ALTER DATABASE db00001 READ ONLY = 0");
	for (const [args, expected] of [
		[["0-9"], /the topology has 4 of the 10 shards/],
		[["pools", "0-1"], /the topology has 0 of the 2 pools/],
		[["lookups"], /SHARDS must be/],
	] as const) {
		const wrong = await command(["shards", "move", ...args, ...to], { env });
		assert.match(wrong.err, expected);
	}
	await someMore();

	await using killed = startProgram(
		[
			"fenced",
			"shards",
			"move",
			"0-1",
			...to,
			"--yes",
			"--max-pause",
			"1m",
			"--max-lag",
			"1m",
			"--settle",
			"0ms",
		],
		{ env, command: [process.execPath, STANDS_STILL] },
	);
	await killed.printed("err", /^fenced$/m);
	const fences = () =>
		ask(
			source.primary,
			"SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%'",
		);
	assert.equal((await fences()).length, 2);
	const began = performance.now();
	killed.send("SIGKILL");
	await until("no fences", async () => (await fences()).length === 0);
	const liftedMs = performance.now() - began;
	// Within a second, on a machine that is idle.
	assert.ok(liftedMs < 20_000, `lifted after ${liftedMs} ms`);
	await someMore();
	const id = (await listOperations(store)).at(-1)?.id ?? "";
	const run = async (...args: readonly string[]) => {
		const ran = await command([...args, "--json"], { env });
		return { ...ran, value: ran.out === "" ? null : JSON.parse(ran.out) };
	};
	await until("nobody runs it", async () => {
		const { value } = await run("moves", "show", id);
		assert.deepEqual(
			Object.keys(value).toSorted(),
			Object.keys(SHOWN["moves show"]).toSorted(),
		);
		return value.isHeld === false;
	});
	const set = await run(
		"moves",
		"set",
		id,
		"--max-pause",
		"1m",
		"--max-lag",
		"1m",
	);
	assert.deepEqual(
		Object.keys(set.value).toSorted(),
		Object.keys(SHOWN["moves set"]).toSorted(),
	);
	assert.equal((await command(["moves", "pause", id], { env })).code, 0);
	assert.match(
		(await command(["moves", "show", id], { env })).out,
		/nobody runs it .*: corkboard moves resume/,
	);
	const resumed = await run("moves", "resume", id);
	assert.equal(resumed.value.step, "way open", resumed.err);
	const { spans } = collector;
	const root = spans.find(({ name }) => name === "move");
	assert.ok(root);
	assert.equal(root.attributes["corkboard.operation.id"], id);
	// A try that a transaction was in the way of is not seen here.
	const tree = new Set(treeOf(spans, root));
	assert.deepEqual(
		[...tree].filter((line) => !/lift/.test(line)),
		[
			"move",
			"  compare tables",
			"  copy",
			"  stream",
			"    verify",
			"    raise ids",
			"    cut over",
			"      cutting over",
			...["fenced", "caught up", "ready", "published"].map(
				(step) => `      ${step}`,
			),
			"  watch",
			"  agree",
			"  park",
		],
	);
	for (const { name, attributes } of childrenOf(spans, root)) {
		assert.equal(attributes["corkboard.move.shards"], "shards 0-1", name);
	}
	const rowsOf = (part: string) =>
		Number(
			spans.find(({ name }) => name === part)?.attributes["corkboard.rows"],
		);
	assert.ok(rowsOf("copy") > 0 && rowsOf("verify") >= rowsOf("copy"));
	const status = await run("moves", "show", id);
	assert.equal(status.value.wayBack.waves, 1);
	const text = (await command(["moves", "show", id], { env })).out;
	assert.match(text, /way back: open for 1 wave, 30\.0 days of binary log/);
	assert.match(text, /1 of 1 waves switched; writes to one waited \d+ ms/);
	const listed = await command(["operations", "list"], { env });
	assert.match(listed.out, new RegExp(`${id} .*way open`));
	assert.equal(listed.code, 0);
	await someMore();
	await wish(store, id, () => ({ maxPauseMs: 10 }));
	const reversing = command(["moves", "reverse", id, "--yes"], { env });
	let early: Awaited<typeof reversing> | null = null;
	reversing.then(
		(ended) => {
			early = ended;
		},
		() => {},
	);
	await until("it says that tables take longer to come back", async () => {
		assert.equal(early, null, "it does not end before");
		const { value } = await run("moves", "show", id);
		return /^to rename \d+ tables back takes about \d+ ms, more than --max-pause/.test(
			value.running?.waitsFor,
		);
	});
	// Some looks, each of which says the same.
	await sleep(2_500);
	await run("moves", "set", id, "--max-pause", "1m");
	const reversed = await reversing;
	assert.match(reversed.out, /are on .*, and nothing of them is left on/);
	const waits = reversed.err
		.split("\n")
		.filter((line) => line.startsWith("waits for"));
	assert.equal(
		waits.filter((line) => line.startsWith("waits for to rename")).length,
		1,
		reversed.err,
	);
	assert.match(waits.at(-1) ?? "", /^waits for all processes to serve version/);
	assert.equal(new Set(waits).size, waits.length, reversed.err);
	await someMore();
	await fleet.judge();
});

test("a runner that was paused in its cut-over finds that its guard has lifted the fence, and goes on", async () => {
	await using fleet = await startFleet();
	const { file, target, source, store, someMore } = fleet;
	await someMore();
	await using program = startProgram(
		[
			...["fenced", "shards", "move", "0-1", "--to", target.primary.url],
			...["--replica", target.replica.url, "--yes"],
			...["--max-pause", "3s", "--max-lag", "1m", "--settle", "0ms"],
		],
		{
			env: { CORKBOARD_TOPOLOGY: file },
			command: [process.execPath, STOPS_ITSELF],
		},
	);
	const newest = async () => (await listOperations(store)).at(-1);
	await until("its guard has lifted the fence", async () =>
		/writes continue where they were$/.test((await newest())?.log.at(-1) ?? ""),
	);
	const fences = await ask(
		source.primary,
		"SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%'",
	);
	assert.deepEqual(fences, []);
	await someMore();
	// It stops at each further cut-over, too.
	const waking = setInterval(() => program.send("SIGCONT"), 50);
	const { code, out, err } = await program.ended;
	clearInterval(waking);
	assert.equal(code, 0, out + err);
	assert.equal((await newest())?.step, "way open");
	await someMore();
	await fleet.judge();
});

test("the guard of a runner that died lifts its fence also where the store and the server were away then", async () => {
	await using fleet = await startFleet();
	const { options, source, store, someMore } = fleet;
	await someMore();
	const plan = await planMove(options, fleet.asked);
	await assert.rejects(
		startMove(
			{
				...options,
				onStep(step) {
					if (step === "fenced") throw new RangeError("killed");
				},
			},
			plan.found,
			[],
			PATIENT,
		),
		RangeError,
	);
	const id = (await listOperations(store)).at(-1)?.id ?? "";
	const fences = () =>
		ask(
			source.primary,
			"SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%'",
		);
	assert.equal((await fences()).length, 2);
	let isStoreAway = true;
	const gets: string[] = [];
	const away: typeof store = {
		name: store.name,
		hasMembers: store.hasMembers,
		get: (path) => {
			gets.push(path);
			// It comes and goes.
			if (isStoreAway && gets.length % 2 === 0) {
				throw new CorkboardError("UNAVAILABLE", "The store is away.");
			}
			return store.get(path);
		},
		list: (path) => store.list(path),
		write: (changes) => store.write(changes),
		watch: (path, hint) => store.watch(path, hint),
		announce: (path) => store.announce(path),
		[Symbol.asyncDispose]: async () => {},
	};
	const stopping = new AbortController();
	const guarding = guardMove(
		{
			store: away,
			environment: {},
			isRunner: () => true,
			isOrphaned: () => true,
			signal: stopping.signal,
		},
		id,
	);
	await until("the guard looks again", () => gets.length > 6);
	await source.primary.kill();
	isStoreAway = false;
	await until(
		"the guard has it",
		async () => (await requireRecord(store, id)).record.step === "lifting",
	);
	await source.primary.restart();
	assert.equal(await guarding, true);
	{
		// A guard that comes late, when the runner has lifted its fence by itself.
		await using late = await Operation.takeOver(store, id, {
			holderMs: 0,
			lookMs: 0,
		});
		await using run = await openRun(options, late);
		await lift(run, "it was late", { isTakenOver: true });
		assert.equal(late.record.step, "moving");
	}
	assert.deepEqual(await fences(), []);
	await someMore();
	assert.equal((await resumeMove(options, id)).step, "way open");
});

test("a row that was changed behind the copy's back stops a move before it switches, an open transaction only delays it, and a late write is named", async () => {
	await using fleet = await startFleet();
	const { options, source, target, store, someMore } = fleet;
	await someMore();
	const [pin] = await ask(
		source.primary,
		"SELECT local_id FROM db00000.pins ORDER BY 1 LIMIT 1",
	);
	const plan = await planMove(options, fleet.asked);
	await assert.rejects(
		startMove(
			{
				...options,
				async onStep(step) {
					if (step !== "copied") return;
					await ask(
						target.primary,
						`UPDATE db00000.pins SET data = 'other' WHERE local_id = ${pin?.local_id}`,
					);
				},
			},
			plan.found,
			[],
			PATIENT,
		),
		{
			code: "CONFLICT",
			message: /1 rows differ .*db00000\.pins.*Nothing has switched/s,
		},
	);
	assert.equal((await readCurrent(store))?.topology.version, 1);
	const broken = (await listOperations(store)).at(-1)?.id ?? "";
	assert.equal((await cancelMove(options, broken)).step, "rolled back");

	// It has read a row, so that the fence would wait for it: it is ended, and only it.
	const [held, beside] = await Promise.all(
		["db00001", "db00002"].map(async (database) => {
			const connection = await createConnection({ uri: source.primary.url });
			connection.on("error", () => {});
			await connection.query("BEGIN");
			await connection.query(`SELECT * FROM ${database}.pins LIMIT 1`);
			return connection;
		}),
	);
	const open = await createConnection({ uri: source.primary.url });
	const steps: string[] = [];
	/** How long each fence may take: a busy server gets more than reads should wait. */
	const limits: number[] = [];
	const { run } = FleetServer.prototype;
	const running = mock.method(
		FleetServer.prototype,
		"run",
		function (this: FleetServer, ...args: Parameters<typeof run>) {
			const [name, text, , ms = 0] = args;
			if (name === "fence" && text.includes("db00000")) limits.push(ms);
			return run.apply(this, args);
		},
	);
	const moved = await startMove(
		{
			...options,
			maxTries: 6,
			async onStep(step) {
				if (step === "cutting over" && !steps.includes(step)) {
					await open.query("BEGIN");
					await open.query("SELECT * FROM db00000.pins LIMIT 1 FOR SHARE");
				}
				if (step === "lifted") await open.query("COMMIT");
				if (step === "agreed") {
					// As in the moment between the lifting of the fence and the renaming.
					await ask(
						source.primary,
						"ALTER DATABASE db00000 READ ONLY = 0",
						"INSERT INTO db00000.pins (data, ts) VALUES ('{}', 1)",
					);
				}
				steps.push(step);
			},
		},
		plan.found,
		[],
		{ ...PATIENT, killsBlockers: true },
	);
	open.destroy();
	running.mock.restore();
	assert.deepEqual(limits.slice(0, 2), [150, 300]);
	await assert.rejects(held?.query("SELECT 1") ?? sleep(0), /closed|lost/i);
	await beside?.query("COMMIT");
	for (const each of [held, beside]) each?.destroy();
	const tries = steps.filter((step) => step === "cutting over").length;
	assert.ok(tries >= 2, steps.join());
	assert.ok(steps.indexOf("lifted") < steps.indexOf("published"));
	const late = moved.waves[0]?.late ?? [];
	assert.equal(late.length, 1);
	assert.match(late[0] ?? "", /^[0-9a-f-]{36}:\d+$/);
	await someMore();
	await fleet.judge();
});

test("a primary that dies while its shards are copied, or are fenced for the switch, is replaced, and the move goes on with its replica", async () => {
	await using fleet = await startFleet();
	const { options, source, target, store, members, someMore } = fleet;
	await someMore();
	for (const each of members) await each.end();
	const dead = { ...options, askMs: 300, tryMs: 300 };
	const find = async () => (await listOperations(store)).at(-1)?.id ?? "";
	const plan = await planMove(options, fleet.asked);
	// Nothing is lost with the old primary, and all of it is copied later.
	await caughtUp(source);
	const stuck = startMove(options, plan.found, [], { ...PATIENT, rate: 1 });
	const failed = assert.rejects(stuck, {
		code: "CONFLICT",
		message: /has taken move-.* over/,
	});
	await until("a copy that is under way", async () => {
		const id = await find();
		const { running } = id === "" ? {} : await moveStatus(options, id);
		return running?.step === "copy";
	});
	const id = await find();
	await source.primary.kill();
	await promoteDead(dead, source.primary.address);
	await wish(store, id, () => ({ rate: null }));
	const moved = await resumeMove(options, id);
	assert.equal(moved.step, "way open");
	await failed;
	const map = (await readCurrent(store))?.topology;
	assert.deepEqual(
		map?.shards.map(({ primary }) => primary),
		[target.primary.url, source.replica.url],
	);
	await completeMove(options, id, { skipsRehearsal: false });

	// Its replica is fenced with it, and would be so for ever.
	const home = { ...fleet.asked, to: source.replica.address };
	const back = await planMove(options, { ...home, replica: undefined });
	await assert.rejects(
		startMove(
			{
				...options,
				onStep(done) {
					if (done === "fenced") throw new RangeError("killed");
				},
			},
			back.found,
			[],
			PATIENT,
		),
		RangeError,
	);
	const cut = await find();
	await caughtUp(target);
	await target.primary.kill();
	const fences = () =>
		ask(
			target.replica,
			"SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%'",
		);
	assert.equal((await fences()).length, 2);
	await promoteDead(dead, target.primary.address);
	assert.deepEqual(await fences(), []);
	const over = await resumeMove(options, cut);
	assert.equal(over.step, "way open");
	await completeMove(options, over.operation, { skipsRehearsal: false });
	await fleet.judge();
});
