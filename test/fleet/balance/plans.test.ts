import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	type FleetLoad,
	type Load,
	loadsByHost,
	type MovePlan,
	withMove,
} from "../../../src/fleet/balance/load.ts";
import { planBalance } from "../../../src/fleet/balance/planBalance.ts";
import { planEmpty } from "../../../src/fleet/balance/planEmpty.ts";

const PAIR = { hasReplica: true, fixed: { bytes: 0, writes: 0 } };
const even = (count: number, load: Load) =>
	Array.from({ length: count }, () => load);
const each: Load = { bytes: 1e9, writes: 10 };

describe("planBalance", () => {
	test("splits the range of a full host beside an empty one with one move", () => {
		const fleet: FleetLoad = {
			hosts: new Map([
				["a", PAIR],
				["b", PAIR],
			]),
			ranges: [{ kind: "db", host: "a", first: 0, loads: even(512, each) }],
		};
		const { moves } = planBalance(fleet, 10);
		assert.equal(moves.length, 1);
		const [{ range, from, to, bytes } = assert.fail()] = moves;
		assert.deepEqual([from, to, bytes], ["a", "b", 256e9]);
		assert.ok(range[0] === 0 || range[1] === 511, `${range}`);
	});

	test("moves what is written to much, not only what is large", () => {
		const fleet: FleetLoad = {
			hosts: new Map([
				["a", PAIR],
				["b", PAIR],
			]),
			ranges: [
				{
					kind: "db",
					host: "a",
					first: 0,
					loads: even(10, { bytes: 1e9, writes: 100 }),
				},
				{
					kind: "db",
					host: "b",
					first: 10,
					loads: even(10, { bytes: 1e9, writes: 1 }),
				},
			],
		};
		const { moves, after } = planBalance(fleet, 4);
		assert.ok(moves.length > 0);
		const [a, b] = [after.get("a"), after.get("b")];
		assert.ok(a && b && a.writes < 850, JSON.stringify([a, b]));
	});

	test("leaves a fleet alone that is level within a tenth", () => {
		const fleet: FleetLoad = {
			hosts: new Map([
				["a", PAIR],
				["b", PAIR],
			]),
			ranges: [
				{ kind: "db", host: "a", first: 0, loads: even(100, each) },
				{ kind: "db", host: "b", first: 100, loads: even(95, each) },
			],
		};
		assert.deepEqual(planBalance(fleet, 10).moves, []);
	});

	test("on random fleets lets no host get further above the mean than one was, makes each move worth it, takes ends of ranges, keeps replicas and repeats itself", () => {
		for (let seed = 1; seed <= 200; seed++) {
			const fleet = randomFleet(seed);
			const plan = planBalance(fleet, 4);
			checkMoves(fleet, plan, seed);
			assert.ok(plan.moves.length <= 4);
			assert.ok(
				peakOf(plan.after) <= peakOf(plan.before) + 1e-9,
				`seed ${seed}: ${peakOf(plan.before)} → ${peakOf(plan.after)}`,
			);
			if (plan.moves.length > 0) {
				assert.ok(
					spread(plan.after) < spread(plan.before),
					`seed ${seed}: no better`,
				);
			}
			assert.deepEqual(planBalance(fleet, 4), plan);
			// What it plans, it does not undo: it ends.
			const then = plan.moves.reduce(withMove, fleet);
			assert.ok(planBalance(then, 100).moves.length < 100, `seed ${seed}`);
		}
	});
});

describe("planEmpty", () => {
	test("on random fleets takes everything off a host in fewer moves than it has ranges and targets, to hosts that keep the replica", () => {
		for (let seed = 1; seed <= 200; seed++) {
			const fleet = randomFleet(seed);
			const [host = ""] = fleet.hosts.keys();
			const own = fleet.ranges.filter((range) => range.host === host);
			const plan = planEmpty(fleet, host);
			checkMoves(fleet, plan, seed);
			const then = plan.moves.reduce(withMove, fleet);
			assert.deepEqual(
				then.ranges.filter((range) => range.host === host),
				[],
				`seed ${seed}`,
			);
			assert.ok(
				plan.moves.length < own.length + fleet.hosts.size,
				`seed ${seed}: ${plan.moves.length} moves`,
			);
		}
	});

	test("fills the emptier hosts first, so that all end level", () => {
		const fleet: FleetLoad = {
			hosts: new Map(["a", "b", "c"].map((name) => [name, PAIR])),
			ranges: [
				{ kind: "db", host: "a", first: 0, loads: even(60, each) },
				{ kind: "db", host: "b", first: 100, loads: even(60, each) },
				{ kind: "db", host: "c", first: 200, loads: even(40, each) },
			],
		};
		const { moves, after } = planEmpty(fleet, "a");
		assert.equal(moves.length, 2);
		assert.deepEqual(after.get("b"), { bytes: 80e9, writes: 800 });
		assert.deepEqual(after.get("c"), { bytes: 80e9, writes: 800 });
	});

	test("refuses where no other host has a replica, and its own has", () => {
		const fleet: FleetLoad = {
			hosts: new Map([
				["a", PAIR],
				["b", { ...PAIR, hasReplica: false }],
			]),
			ranges: [{ kind: "db", host: "a", first: 0, loads: even(2, each) }],
		};
		assert.throws(() => planEmpty(fleet, "a"), {
			code: "CONFLICT",
			message: /the others have no replica, and it has one/,
		});
	});
});

/** That a plan is possible, move by move, and ends where it says. */
function checkMoves(fleet: FleetLoad, plan: MovePlan, seed: number): void {
	let now = fleet;
	for (const { kind, range, from, to } of plan.moves) {
		assert.notEqual(from, to);
		const source = now.ranges.find(
			(one) =>
				one.kind === kind &&
				one.first <= range[0] &&
				one.first + one.loads.length > range[1],
		);
		assert.equal(source?.host, from, `seed ${seed}`);
		const { hasReplica = true } = now.hosts.get(to) ?? assert.fail(to);
		assert.ok(hasReplica || !now.hosts.get(from)?.hasReplica, `seed ${seed}`);
		const before = now.ranges.length;
		now = withMove(now, { kind, range, from, to, bytes: 0, writes: 0 });
		assert.ok(now.ranges.length <= before + 1, `seed ${seed}: cut in three`);
	}
	const shards = ({ ranges }: FleetLoad) =>
		ranges
			.flatMap(({ kind, first, loads }) =>
				loads.map((load, at) => `${kind} ${first + at} ${load.bytes}`),
			)
			.sort();
	assert.deepEqual(shards(now), shards(fleet), `seed ${seed}`);
	for (const [host, { bytes, writes }] of loadsByHost(now)) {
		const after = plan.after.get(host) ?? assert.fail(host);
		assert.ok(Math.abs(after.bytes - bytes) < 1, `seed ${seed}`);
		assert.ok(Math.abs(after.writes - writes) < 1e-6, `seed ${seed}`);
	}
}

/** How far one is above the mean, in bytes or in writes. */
function peakOf(loads: MovePlan["before"]): number {
	const all = [...loads.values()];
	const peaks = (["bytes", "writes"] as const).map((key) => {
		const sum = all.reduce((more, load) => more + load[key], 0);
		const most = Math.max(...all.map((load) => load[key]));
		return sum < all.length ? 0 : (most * all.length) / sum;
	});
	return Math.max(...peaks);
}

function spread(loads: MovePlan["before"]): number {
	const mean = (key: keyof Load) =>
		[...loads.values()].reduce((sum, load) => sum + load[key], 0) / loads.size;
	return (["bytes", "writes"] as const).reduce(
		(sum, key) =>
			mean(key) < 1
				? sum
				: [...loads.values()].reduce(
						(more, load) => more + (load[key] / mean(key)) ** 2,
						sum,
					),
		0,
	);
}

function randomFleet(seed: number): FleetLoad {
	let state = seed * 2_654_435_761;
	const random = (below: number) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
	const names = Array.from({ length: 2 + random(6) }, (_, at) => `host${at}`);
	const first = { db: 0, mod: 0, feed: 0, pool: 0 };
	return {
		hosts: new Map(
			names.map((name, at) => [
				name,
				{
					// The first can always go to another.
					hasReplica: at === 1 || random(4) > 0,
					fixed: { bytes: random(1e9), writes: random(50) },
				},
			]),
		),
		ranges: Array.from({ length: 1 + random(10) }, () => {
			const kind = (["db", "db", "db", "mod", "feed", "pool"] as const)[
				random(6)
			] as "db";
			const count = 1 + random(64);
			const range = {
				kind,
				host: names[random(names.length)] as string,
				first: first[kind],
				loads: Array.from({ length: count }, () => ({
					bytes: random(10) === 0 ? random(1e11) : random(1e9),
					writes: random(10) === 0 ? random(1_000) : random(5),
				})),
			};
			first[kind] += count + random(3);
			return range;
		}),
	};
}
