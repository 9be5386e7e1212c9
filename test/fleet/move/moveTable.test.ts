import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
	ABOUT_MOVE_STEPS,
	ABOUT_WAVE_STATES,
	endOf,
	MOVE_STEPS,
	MOVE_TABLE,
	mayBeFenced,
	nextTask,
	type Transition,
	transition,
	undoOf,
	WAVE_STATES,
} from "../../../src/fleet/operations/moveTable.ts";
import { moveStatesPage } from "../../moveStatesPage.ts";

const ROWS: readonly Transition[] = MOVE_TABLE;
const PAGE = join(
	import.meta.dirname,
	"../../../docs/consistency/moving-shards.md",
);

describe("the table of a move", () => {
	it("is the one in docs/consistency/moving-shards.md", () => {
		const page = readFileSync(PAGE, "utf8");
		assert.equal(moveStatesPage(page), page, "run npm run update");
	});

	it("leads to every state of a wave and every step of a record, and says what each is", () => {
		const states = new Set(ROWS.flatMap(({ state }) => state ?? []));
		assert.deepEqual(
			WAVE_STATES.filter((state) => !states.has(state)),
			["waiting"],
		);
		const steps = new Set(ROWS.flatMap(({ step }) => step ?? []));
		assert.deepEqual(
			MOVE_STEPS.filter((step) => !steps.has(step)),
			["locked"],
		);
		assert.deepEqual(Object.keys(ABOUT_WAVE_STATES), [...WAVE_STATES]);
		assert.deepEqual(Object.keys(ABOUT_MOVE_STEPS), [...MOVE_STEPS]);
		const events = ROWS.map(({ event }) => event);
		assert.equal(new Set(events).size, events.length);
	});

	it("has a way on from every state and step that is not an end, so that no runner is stuck", () => {
		const ends = new Set(["done", "rolled back"]);
		for (const step of MOVE_STEPS) {
			const next = ROWS.filter(({ during }) => during.includes(step));
			assert.equal(next.length === 0, ends.has(step), step);
		}
		for (const state of WAVE_STATES) {
			const isOver = state === "closed" || state === "cancelled";
			const isLeft = ROWS.some(
				({ wave, state: next }) =>
					next !== undefined && wave?.includes(state) === true,
			);
			assert.equal(isLeft, !isOver, state);
		}
	});

	it("gives each task only what the table has for the wave's state", () => {
		for (const state of WAVE_STATES) {
			for (const goal of ["move", "reverse", "complete", "cancel"] as const) {
				for (const aim of ["from", "to"] as const) {
					for (const at of ["from", "to"] as const) {
						const wave = { state, at };
						const task = nextTask(wave, { goal, aim, keepsWay: false });
						if (task === null) continue;
						const [first] = ROWS.filter(
							(row) => row.task === task && row.wave?.includes(state) === true,
						);
						assert.ok(first, `${task} of a wave that is ${state}`);
					}
				}
			}
		}
	});

	it("refuses what cannot happen there", () => {
		assert.equal(transition("fenced", "cutting over", "waiting").undo, "lift");
		for (const [event, step, state] of [
			["fenced", "moving", "waiting"],
			["fenced", "cutting over", "switched"],
			["published", "lifting", "waiting"],
			["closed", "moving", "parked"],
			["lifted", "moving", null],
			["parked", "moving", null],
			["way open", "done", null],
		] as const) {
			assert.throws(() => transition(event, step, state), { code: "INTERNAL" });
		}
	});

	it("lets a fence stand in no other step than in those from which it is lifted", () => {
		for (const { during, undo } of ROWS) {
			if (undo === "lift" && during.every((step) => step !== "moving")) {
				for (const step of during) assert.ok(mayBeFenced(step), step);
			}
		}
		for (const step of MOVE_STEPS) {
			if (!mayBeFenced(step)) continue;
			const lifting = ROWS.filter(({ task }) => task === "lift");
			assert.ok(
				lifting.some(({ during }) => during.includes(step)),
				step,
			);
		}
	});

	it("lets a wave that waits be cancelled, and one that has switched be reversed until its former copy is dropped", () => {
		assert.deepEqual(
			WAVE_STATES.map((state) => undoOf(state)),
			["cancel", "reverse", "reverse", null, null, null],
		);
	});

	it("says what a wave does next, by where it is and what is asked for", () => {
		const wave = { state: "waiting", at: "from" } as const;
		const over = { state: "parked", at: "to" } as const;
		const back = { state: "parked", at: "from" } as const;
		const moving = { goal: "move", aim: "to", keepsWay: true } as const;
		const reversing = {
			goal: "reverse",
			aim: "from",
			keepsWay: false,
		} as const;
		const expected: readonly (readonly [
			Parameters<typeof nextTask>,
			ReturnType<typeof nextTask>,
		])[] = [
			[[wave, moving], "switch"],
			[[{ ...over, state: "switched" }, moving], "park"],
			[[over, moving], null],
			[[over, reversing], "switch"],
			[[{ ...over, state: "switched" }, reversing], "park"],
			[[back, reversing], "close"],
			[[back, { ...reversing, keepsWay: true }], null],
			[[wave, reversing], "cancel"],
			[[wave, { ...moving, goal: "cancel" }], "cancel"],
			[[over, { ...moving, goal: "cancel" }], null],
			[[over, { ...moving, goal: "complete" }], "close"],
			[
				[
					{ ...over, state: "closed" },
					{ ...moving, goal: "complete" },
				],
				null,
			],
			[[{ ...over, state: "dropping" }, reversing], "close"],
			[[{ ...over, alone: "from" }, moving], "switch"],
			[[{ ...back, alone: "from" }, moving], "close"],
		];
		for (const [given, task] of expected) {
			assert.equal(nextTask(...given), task, JSON.stringify(given));
		}
	});

	it("ends with the way open, moved or rolled back, by where the waves are", () => {
		const parked = { state: "parked", at: "to" } as const;
		const closed = { state: "closed", at: "to" } as const;
		const home = { state: "closed", at: "from" } as const;
		const cancelled = { state: "cancelled", at: "from" } as const;
		assert.equal(endOf([closed, parked]), "way open");
		assert.equal(endOf([closed, home]), "done");
		assert.equal(endOf([home, cancelled]), "rolled back");
	});
});
