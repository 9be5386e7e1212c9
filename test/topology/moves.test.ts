import assert from "node:assert/strict";
import { test } from "node:test";
import type { MoveFacts } from "../../src/fleet/operations/moveFacts.ts";
import { Operation } from "../../src/fleet/operations/operations.ts";
import { openMetrics } from "../../src/metrics/metrics.ts";
import { MoveWatch } from "../../src/topology/moves.ts";
import { memoryStore } from "../helpers/memoryStore.ts";
import { until } from "../helpers/until.ts";

const WAVE: MoveFacts["waves"][number] = {
	range: [0, 15],
	state: "waiting",
	at: "from",
	switches: 0,
	left: null,
	back: null,
	version: null,
	pauses: [],
	tries: 0,
	late: [],
};

test("a serving process says in its metrics what a move in the store does: who runs it, how far behind it is, its waves, its longest pause, how long its way back is open; and nothing of one that is over", async () => {
	await using store = memoryStore();
	using metrics = openMetrics({ documents: 1 });
	await using _ = new MoveWatch(store, 100);
	const text = () => metrics.registry.metrics();
	/** The value of each metric of moves, without its labels but a state. */
	const values = async () =>
		new Map(
			[
				...(await text()).matchAll(
					/^corkboard_move_(\w+)\{operation="[^"]*"(?:,state="(\w+)")?\} (\S+)$/gm,
				),
			].map(([, name, state, value]) => [
				state === undefined ? name : `${name} ${state}`,
				Number(value),
			]),
		);
	const host = (name: string) => ({
		name,
		url: `mysql://a@${name}`,
		replica: null,
	});
	const facts: MoveFacts = {
		list: "shards",
		from: host("db001a:3306"),
		to: host("db009a:3306"),
		waves: [WAVE, { ...WAVE, range: [16, 31] }],
		aim: "to",
		goal: "move",
		keepsWay: true,
		skipsRehearsal: false,
	};
	const about = { from: "db001a:3306", to: "db009a:3306", move: facts };
	{
		await using operation = await Operation.begin(store, {
			kind: "move",
			...about,
		});
		operation.report(
			JSON.stringify({
				waitsFor: "a replica that is behind",
				lagMs: 1_500,
				rows: { copied: 4_711 },
				differences: 2,
			}),
		);
		await until("its runner is seen, with what it says", async () => {
			const seen = await values();
			return seen.get("held") === 1 && seen.get("rows") === 4_711;
		});
		const seen = await values();
		assert.equal(seen.get("lag_seconds"), 1.5);
		assert.equal(seen.get("differences"), 2);
		assert.equal(seen.get("waves waiting"), 2);
		assert.ok(!seen.has("pause_seconds"));
		await until(
			"it has waited",
			async () => Number((await values()).get("waiting_seconds")) > 0,
		);
		await store.write([
			{
				path: "history/0000000007",
				revision: null,
				text: JSON.stringify({
					at: new Date(Date.now() - 60_000).toISOString(),
				}),
			},
		]);
		const [first, second] = facts.waves as [typeof WAVE, typeof WAVE];
		await operation.save({
			step: "moving",
			move: {
				...facts,
				waves: [
					{ ...first, state: "parked", version: 7, pauses: [84, 212] },
					second,
				],
			},
		});
		await until("a wave switched", async () =>
			(await values()).has("pause_seconds"),
		);
		const over = await values();
		assert.equal(over.get("pause_seconds"), 0.212);
		assert.equal(over.get("waves parked"), 1);
		const open = Number(over.get("way_open_seconds"));
		assert.ok(open >= 60 && open < 120, `${open}`);
	}
	await until("nobody runs it", async () => (await values()).get("held") === 0);
	const [id = ""] = await store.list("operations");
	await using again = await Operation.takeOver(store, id);
	await again.end("done", "over");
	await until("nothing is said of it", async () => (await values()).size === 0);
});
