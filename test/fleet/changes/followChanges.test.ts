import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Change } from "../../../src/fleet/changes/changeTypes.ts";
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
import { type Id, packId, unpackId } from "../../../src/id/ids.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { PRESENT } from "../../../src/storage/rows.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { printedSeed } from "../../helpers/slowRun.ts";
import { MAPPINGS, MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { create, toggle } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";
import { member } from "../member.ts";

const { likePin } = MAPPINGS;
const SELECTION: Selection = {
	fields: new Map([
		["Pin", new Map([["n", { key: "n", default: null }]])],
		["User", new Map([["turn", { key: "turn", default: null }]])],
	]),
	mappings: new Map([[likePin.name, likePin]]),
};
const PATIENT = { maxPauseMs: 60_000, maxLagMs: 60_000, settleMs: 0 };
const random = seededRandom(printedSeed());

/** What whoever follows the changes keeps of them, and what is wrong with their order. */
class Copy {
	readonly objects = new Map<Id, unknown>();
	readonly edges = new Set<string>();
	readonly faults: string[] = [];
	/** The last turn of each user in one run of the follower. */
	readonly #turns = new Map<Id, number>();
	changes = 0;

	beginRun(): void {
		this.#turns.clear();
	}

	add(change: Change): void {
		this.changes++;
		const { id, op, before, after, edges = [] } = change;
		assert.equal(change.shard, unpackId(id).shard);
		if (op === "delete") this.objects.delete(id);
		else if (op !== "edges") this.objects.set(id, after);
		if (change.type === "User" && op === "update") {
			const turn = Number(after?.turn);
			const last = this.#turns.get(id);
			if (Number(before?.turn) !== turn - 1) {
				this.faults.push(`${id}: from ${before?.turn} to ${turn}`);
			}
			if (last !== undefined && turn !== last + 1) {
				this.faults.push(`${id}: ${turn} after ${last}`);
			}
			this.#turns.set(id, turn);
		}
		for (const edge of edges) {
			const key = `${id} ${edge.field} ${edge.to}`;
			if (edge.op === "remove") this.edges.delete(key);
			else this.edges.add(key);
		}
	}
}

/** Users whose content counts its changes, and who like and unlike pins: 200 writes a second at most. */
function startWriting(
	storage: Awaited<ReturnType<typeof member>>["storage"],
	users: readonly Id[],
) {
	const ended = new AbortController();
	let writes = 0;
	const working = users.map(async (user) => {
		const { shard } = unpackId(user);
		while (!ended.signal.aborted) {
			await storage.transact({
				shard,
				objects: [user],
				decide: ({ objects: [data] }) => ({
					result: null,
					objects: [
						{ id: user, data: { ...data, turn: Number(data?.turn) + 1 } },
					],
				}),
			});
			const pin = packId({ shard, type: 1, local: random.integer(1, 5) });
			await toggle(storage, likePin, user, pin, random.integer(0, 1) === 0);
			writes += 2;
			await sleep(20);
		}
	});
	return {
		writes: () => writes,
		async end() {
			ended.abort();
			await Promise.all(working);
		},
	};
}

/** Runs a follower until it is killed: of what it takes last, the position is lost. */
function startFollower(
	store: TopologyStore,
	copy: Copy,
	kept: { position: Position | null },
) {
	const ended = new AbortController();
	let isKilled = false;
	let taken = 0;
	copy.beginRun();
	const follower = new ChangeFollower({
		store,
		model: MODEL,
		selection: SELECTION,
		environment: {},
		since: kept.position,
		signal: ended.signal,
		lookMs: 50,
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
		follower,
		running,
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
				{ turn: 0 },
				{ turn: 0 },
			)),
		);
	}
	const writing = startWriting(writer.storage, users);
	const someMore = async () => {
		const before = writing.writes();
		await until("more writes", () => writing.writes() > before + 40);
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

	const expected = new Map<Id, unknown>();
	const edges = new Set<string>();
	for (const shard of [0, 1, 2, 3]) {
		for (const [type, key] of [
			["Pin", "n"],
			["User", "turn"],
		] as const) {
			for await (const rows of writer.storage.walk("objects", shard, type)) {
				for (const { id, data } of rows) {
					expected.set(id, { [key]: JSON.parse(data)[key] ?? null });
				}
			}
		}
		for await (const rows of writer.storage.walk("edges", shard, likePin)) {
			for (const { from, to, state } of rows) {
				if (state === PRESENT) edges.add(`${from} ${likePin.field} ${to}`);
			}
		}
	}
	// The row by which a promotion and a move raise local ids is of nobody.
	await until("all of it", async () => {
		const { lagMs } = await follower.follower.status();
		return lagMs === 0 && copy.objects.size >= expected.size;
	});
	await follower.kill();
	assert.deepEqual(copy.faults, []);
	assert.ok(expected.size > 50, String(expected.size));
	assert.deepEqual([...copy.objects].toSorted(), [...expected].toSorted());
	assert.deepEqual([...copy.edges].toSorted(), [...edges].toSorted());

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
