import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createConnection } from "mysql2/promise";
import { ChangeFollower } from "../../../src/fleet/changes/followChanges.ts";
import {
	type Position,
	parsePosition,
	printPosition,
} from "../../../src/fleet/changes/position.ts";
import type { Selection } from "../../../src/fleet/changes/selection.ts";
import { planMove } from "../../../src/fleet/move/planMove.ts";
import { reverseMove } from "../../../src/fleet/move/redirect.ts";
import { startMove } from "../../../src/fleet/move/startMove.ts";
import { promote } from "../../../src/fleet/operations/promote.ts";
import { promoteDead } from "../../../src/fleet/operations/promoteDead.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import type { Topology } from "../../../src/topology/types.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { printedSeed } from "../../helpers/slowRun.ts";
import { MAPPINGS, MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { create } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, type Pair, startMysqlPair } from "../../services/mysql.ts";
import { member } from "../member.ts";
import { Copy, contentOf, sorted, startWriting } from "./copying.ts";

const { likePin } = MAPPINGS;
const SELECTION: Selection = {
	fields: new Map([
		["Pin", new Map([["n", { key: "n", default: null }]])],
		["User", new Map([["name", { key: "name", default: null }]])],
	]),
	mappings: new Map([[likePin.name, likePin]]),
};
const PATIENT = { maxPauseMs: 60_000, maxLagMs: 60_000, settleMs: 0 };
const random = seededRandom(printedSeed());

/** Runs a follower until it is killed: of what it takes last, the position is lost. */
function startFollower(
	store: TopologyStore,
	copy: Copy,
	kept: { position: Position | null },
) {
	const ended = new AbortController();
	let isKilled = false;
	let taken = 0;
	const losses: string[] = [];
	copy.beginRun();
	const follower = new ChangeFollower({
		store,
		model: MODEL,
		selection: SELECTION,
		environment: {},
		since: kept.position,
		signal: ended.signal,
		lookMs: 50,
		onLoss: (server, gtids) => void losses.push(`${server} ${gtids}`),
		async take(changes, position) {
			if (isKilled) return;
			for (const change of changes) copy.add(change);
			if (kept.position === null || ++taken % 3 === 0) {
				kept.position = parsePosition(printPosition(position()));
			}
		},
	});
	const running = follower.run();
	running.catch(() => {});
	return {
		losses,
		async isLevel() {
			const levels = await follower.levels();
			return levels.every(({ lagMs }) => lagMs === 0);
		},
		async kill() {
			isKilled = true;
			ended.abort();
			await running;
		},
	};
}

test("a copy that is made from the changes is equal to the fleet after kills, a move there and back, and a promotion", async () => {
	await using opened = new AsyncDisposableStack();
	const [source, target] = await Promise.all([
		startMysqlPair(),
		startMysqlPair(),
	]);
	opened.use(source);
	opened.use(target);
	using folder = temporaryFolder();
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
	const options = { store, environment: {}, agreeMs: 60_000, lookMs: 50 };

	const copy = new Copy();
	const kept: { position: Position | null } = { position: null };
	let follower = startFollower(store, copy, kept);
	// The first position is that of a transaction after it began.
	const writer = opened.use(await member(file));
	await until("a position", () => kept.position !== null);
	const restart = async () => {
		await follower.kill();
		follower = startFollower(store, copy, kept);
	};

	const users: Id[] = [];
	for (const shard of [0, 1, 2, 3]) {
		users.push(
			...(await create(
				writer.storage,
				shard,
				"User",
				{ name: 0 },
				{ name: 0 },
			)),
		);
	}
	const writing = opened.use(startWriting(writer.storage, users, random));
	const someMore = async () => {
		const before = writing.writes();
		await until("more writes", () => writing.writes() > before + 20);
	};
	await someMore();
	await restart();
	await someMore();

	const plan = await planMove(options, {
		list: "shards",
		range: [0, 1],
		to: target.primary.url,
		replica: target.replica.url,
		wave: 1,
	});
	assert.deepEqual(plan.faults, []);
	const moving = startMove(
		{ ...options, againMs: 50 },
		plan.found,
		[],
		PATIENT,
	);
	// Killed while shards move.
	await someMore();
	await restart();
	const { step, operation } = await moving;
	assert.equal(step, "way open");
	await someMore();
	await restart();
	await someMore();
	// It is away for the whole way back.
	await follower.kill();
	await someMore();
	const back = await reverseMove({ ...options, againMs: 50 }, operation, {
		keepsWay: true,
	});
	assert.equal(back.step, "way open");
	await someMore();
	follower = startFollower(store, copy, kept);
	const again = await reverseMove({ ...options, againMs: 50 }, operation, {
		keepsWay: true,
	});
	assert.equal(again.step, "way open");
	await someMore();

	await promote(
		{ ...options, maxPauseMs: 60_000, maxLagMs: 60_000 },
		target.primary.address,
	);
	await someMore();
	await restart();
	await someMore();
	await writing.end();
	await writer.end();

	const expected = await contentOf(writer.storage, "n");
	// The row by which a promotion and a move raise local ids is of nobody.
	await until("all of it", async () => {
		return (
			(await follower.isLevel()) && copy.objects.size >= expected.objects.size
		);
	});
	await follower.kill();
	assert.deepEqual(copy.faults, []);
	assert.ok(expected.objects.size > 50, String(expected.objects.size));
	assert.deepEqual(sorted(copy), sorted(expected));

	// What the log has no more of is an error, and nothing is left out silently.
	await ask(target.replica, "FLUSH BINARY LOGS");
	const [{ Log_name: last } = {}] = (
		await ask(target.replica, "SHOW BINARY LOGS")
	).slice(-1) as { Log_name?: string }[];
	await ask(target.replica, `PURGE BINARY LOGS TO '${last}'`);
	const { position } = kept;
	assert.ok(position);
	const early = {
		...position,
		gtids: position.gtids.replaceAll(/:1-\d+/g, ":1-2"),
	};
	const ran = await runHere(
		[
			...["changes", "follow", "--until-now"],
			...["--since", printPosition(early)],
		],
		{ env: { CORKBOARD_TOPOLOGY: file } },
	);
	assert.equal(ran.code, 1);
	assert.match(ran.err, /does not reach back far enough/);
});

test("a follower goes on after kill -9 of two primaries under writes: nothing is missing or out of order of the one whose replica had received everything, and the transactions that the other has lost are reported if they were given out", async () => {
	await using opened = new AsyncDisposableStack();
	const [safe, torn] = await Promise.all([startMysqlPair(), startMysqlPair()]);
	opened.use(safe);
	opened.use(torn);
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const on = (
		{ primary, replica }: Pair,
		range: readonly [number, number],
	) => ({
		range,
		primary: primary.url,
		replica: replica.url,
	});
	const topology: Topology = {
		version: 1,
		shards: [
			{ ...on(safe, [0, 1]), open: true },
			{ ...on(torn, [2, 3]), open: true },
		],
		lookups: [on(safe, [0, 3])],
	};
	writeFileSync(file, JSON.stringify(topology));
	{
		await using storage = await openMysqlStorage({ model: MODEL, topology });
		await storage.admin.createTables();
	}
	const store = opened.use(openFileStore(file));
	const copy = new Copy();
	const kept: { position: Position | null } = { position: null };
	const follower = startFollower(store, copy, kept);
	const writer = opened.use(await member(file));
	await until("a position", () => kept.position !== null);
	const users: Id[] = [];
	for (const shard of [0, 1, 2, 3]) {
		const zero = [{ name: 0 }, { name: 0 }];
		users.push(...(await create(writer.storage, shard, "User", ...zero)));
	}
	await Promise.all([caughtUp(safe), caughtUp(torn)]);
	const writing = opened.use(startWriting(writer.storage, users, random));
	const someMore = async () => {
		const before = writing.writes();
		await until("more writes", () => writing.writes() > before + 20);
	};
	await someMore();
	// Its commits wait for this session, and are under way when it is killed.
	const locking = await createConnection({ uri: safe.primary.url });
	locking.on("error", () => {});
	await locking.query("FLUSH TABLES WITH READ LOCK");
	await caughtUp(safe);
	await ask(torn.replica, "STOP REPLICA IO_THREAD");
	const ahead = copy.changes;
	await until(
		"changes that the replica lacks",
		() => copy.changes > ahead + 20,
	);
	await Promise.all([safe.primary.kill(), torn.primary.kill()]);
	locking.destroy();
	for (const { primary } of [safe, torn]) {
		await promoteDead(
			{
				...{ store, environment: {}, agreeMs: 60_000, askMs: 1_000 },
				...{ tryMs: 300, force: true, acceptLoss: () => true },
			},
			primary.address,
		);
	}
	await until("the loss", () => follower.losses.length > 0);
	await someMore();
	await writing.end();
	await writer.end();
	const expected = await contentOf(writer.storage, "n");
	const onSafe = (content: Parameters<typeof sorted>[0]) => {
		const isThere = (id: string) => unpackId(id as Id).shard < 2;
		return sorted({
			objects: new Map([...content.objects].filter(([id]) => isThere(id))),
			edges: new Set(
				[...content.edges].filter((edge) => isThere(edge.split(" ")[0] ?? "")),
			),
		});
	};
	await until("all of it", async () => {
		return (
			(await follower.isLevel()) &&
			onSafe(copy).objects.length >= onSafe(expected).objects.length
		);
	});
	await follower.kill();
	assert.deepEqual(
		copy.faults.filter(
			(fault) => unpackId(fault.split(":")[0] as Id).shard < 2,
		),
		[],
	);
	assert.deepEqual(onSafe(copy), onSafe(expected));
	assert.equal(follower.losses.length, 1);
	assert.ok(follower.losses[0]?.startsWith(`${torn.replica.address} `));
});
