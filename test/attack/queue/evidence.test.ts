import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	type AskedJob,
	type Evidence,
	examine,
	type StateChange,
	type WorkerNotes,
} from "./evidence.ts";
import type { Note } from "./trialJobs.ts";

const worker = (
	name: string,
	notes: readonly (readonly [kind: "start" | "end", at: number])[],
	more: Partial<WorkerNotes> = {},
): WorkerNotes => ({
	name,
	notes: notes.map(
		([kind, at]): Note => ({ kind, at, n: 1, id: "one", attempt: 1 }),
	),
	endedAt: null,
	still: [],
	...more,
});

const change = (
	was: number,
	is: number,
	at: number,
	until = 0,
): StateChange => ({ local: "one", was, is, claim: "1", until, at });

const acknowledged: AskedJob = {
	n: 1,
	outcome: "acknowledged",
	from: "call",
};

/** What is said of one job. */
const violations = (evidence: Partial<Evidence>) =>
	examine({
		asked: [acknowledged],
		workers: [],
		changes: [],
		localOf: (id) => id,
		isOver: true,
		...evidence,
	}).violations.map((text) => text.split(":")[0]);

describe("the checks of the attack on the queue", () => {
	const first = [
		["start", 1_000],
		["end", 9_000],
	] as const;
	const second = [
		["start", 7_000],
		["end", 7_100],
	] as const;
	const claims = (endedAt: number, until: number) => [
		change(0, 1, 990),
		change(1, 0, endedAt, until),
		change(0, 1, 6_990),
	];

	it("catch a job that was acknowledged and never ran to its end", () => {
		assert.deepEqual(violations({}), ["lost"]);
		const workers = [worker("a", [["start", 1_000]], { endedAt: 2_000 })];
		assert.deepEqual(violations({ workers }), ["lost"]);
		assert.deepEqual(violations({ workers: [worker("a", first)] }), []);
	});

	it("catch a job whose write was not committed", () => {
		const asked = [{ ...acknowledged, outcome: "refused" as const }];
		const workers = [worker("a", first)];
		assert.deepEqual(violations({ asked, workers }), [
			"a job without its write",
		]);
	});

	it("catch a start while another claim was valid, and let pass one after it", () => {
		const workers = [
			worker("a", first, { still: [[2_000, 8_900]] }),
			worker("b", second),
		];
		assert.deepEqual(violations({ workers }), ["run twice"]);
		const changes = claims(6_500, 6_900);
		assert.deepEqual(violations({ workers, changes }), ["run twice"]);
		assert.deepEqual(
			violations({ workers, changes: claims(6_500, 6_000) }),
			[],
		);
	});

	it("judge a start by the claim that it had, and not by one that another worker gave back since", () => {
		const workers = [
			worker("a", first, { still: [[2_000, 8_900]] }),
			worker("b", second),
		];
		const since = [
			change(0, 1, 6_520),
			change(1, 0, 6_530, 11_520),
			change(0, 1, 6_990),
		];
		const [claimed, expired] = claims(6_500, 6_000);
		assert.ok(claimed && expired);
		assert.deepEqual(
			violations({ workers, changes: [claimed, expired, ...since] }),
			[],
		);
		const early = { ...expired, until: 6_900 };
		assert.deepEqual(
			violations({ workers, changes: [claimed, early, ...since] }),
			["run twice"],
		);
	});

	it("catch an overlap where no process was paused past its claim", () => {
		const changes = claims(6_500, 6_000);
		const workers = [
			worker("a", first, { still: [[2_000, 5_000]] }),
			worker("b", second),
		];
		assert.deepEqual(violations({ workers, changes }), ["overlap"]);
	});

	it("catch two claims at once", () => {
		const changes = [change(0, 1, 990), change(0, 1, 1_990)];
		const workers = [worker("a", first)];
		assert.deepEqual(violations({ workers, changes }), ["two claims"]);
	});
});
