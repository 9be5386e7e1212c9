import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judge } from "./judge.ts";

/** Answers one after the other, the last one for ever. */
function answering(...answers: readonly (string | null)[]) {
	let at = 0;
	return async () => answers[Math.min(at++, answers.length - 1)] ?? null;
}

/** A clock that each pause moves on by a second, and a bound of three. */
function threeSeconds() {
	let time = 0;
	return {
		now: () => time,
		pause: async () => {
			time += 1_000;
		},
		dueBy: (since: number) => since + 3_000,
	};
}

describe("the judge of an attack on what viewers see", () => {
	it("lets an answer pass that was stored before or is stored after", async () => {
		const equal = { kind: "equal", lagMs: 0 };
		const before = await judge(
			answering("old", "new"),
			answering("old"),
			threeSeconds(),
		);
		const after = await judge(
			answering("old", "new"),
			answering("new"),
			threeSeconds(),
		);
		assert.deepEqual([before, after], [equal, equal]);
	});

	it("lets an old answer pass until the new one is due, and not longer", async () => {
		const late = await judge(
			answering("new"),
			answering("old", "old", "old", "new"),
			threeSeconds(),
		);
		assert.deepEqual(late, { kind: "equal", lagMs: 3_000 });
		const wrong = await judge(
			answering("new"),
			answering("old"),
			threeSeconds(),
		);
		assert.deepEqual(wrong, {
			kind: "wrong",
			shown: "old",
			stored: "new",
			lagMs: 4_000,
		});
	});

	it("waits again where what is stored changes meanwhile", async () => {
		const verdict = await judge(
			answering("1", "1", "1", "2", "2", "3"),
			answering("0", "0", "0", "0", "0", "3"),
			threeSeconds(),
		);
		assert.deepEqual(verdict, { kind: "equal", lagMs: 5_000 });
	});

	it("compares nothing where one of the two gives no answer", async () => {
		const down = await judge(answering("new"), answering(null), threeSeconds());
		const ended = await judge(answering("new"), answering("old"), {
			...threeSeconds(),
			signal: AbortSignal.abort(),
		});
		assert.deepEqual(
			[down, ended],
			[{ kind: "failed" }, { kind: "undecided" }],
		);
	});
});
