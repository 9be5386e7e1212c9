import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	afterFollowing,
	afterHinted,
	afterProbe,
	afterWait,
	nextAction,
	startingPace,
	type WorkerState,
} from "../../src/worker/claimPace.ts";

const LIMITS = {
	firstIdleMs: 10,
	mostIdleMs: 80,
	hintedIdleMs: 1_000,
	followingMs: 5_000,
	missedMs: 50,
};
const SIGHT: WorkerState = {
	now: 0,
	wants: true,
	isHinted: false,
	hasHintedPlaces: false,
	isConnected: true,
};
const NOTHING = {
	claimed: 0,
	isDrained: true,
	due: 0,
	nextMs: null,
	isConnected: true,
};
const PROBE = { kind: "probe", isIdle: false, unlessFollowing: false };

const step = (pace: typeof START, sight: Partial<WorkerState> = {}) =>
	nextAction(pace, { ...SIGHT, ...sight }, LIMITS);
const START = startingPace(LIMITS);

/** The pace after so many probes that found nothing, each at its time. */
function idle(probes: number, isConnected = true) {
	let pace = START;
	let now = 0;
	for (let n = 0; n < probes; n++) {
		pace = afterProbe(
			pace,
			{ ...NOTHING, probedAt: now, isConnected },
			now,
			LIMITS,
		);
		now = pace.probeAt;
	}
	return pace;
}

describe("the steps of a loop that claims jobs", () => {
	it("are a probe at first, and none while the worker has no room", () => {
		assert.deepEqual(step(START), PROBE);
		assert.deepEqual(step(START, { wants: false }), { kind: "rest" });
		assert.deepEqual(step(START, { wants: false, isHinted: true }), {
			kind: "rest",
		});
	});

	it("wait twice as long after each probe that finds nothing, up to a limit", () => {
		const pauses = [1, 2, 3, 4].map((probes) => {
			const pace = idle(probes);
			return pace.probeAt - pace.probedAt;
		});
		assert.deepEqual(pauses, [10, 20, 40, LIMITS.hintedIdleMs]);
		const alone = idle(5, false);
		assert.equal(alone.probeAt - alone.probedAt, LIMITS.mostIdleMs);
		assert.deepEqual(step(idle(1), { now: 4 }), { kind: "wait", ms: 6 });
		assert.deepEqual(step(idle(1), { now: 10 }), PROBE);
	});

	it("wait no longer than until the next job is due", () => {
		const found = { ...NOTHING, probedAt: 0, nextMs: 3 };
		assert.equal(afterProbe(START, found, 0, LIMITS).probeAt, 3);
	});

	it("are a probe soon after jobs were claimed, with short pauses again", () => {
		const after = (found: Partial<Parameters<typeof afterProbe>[1]>) =>
			afterProbe(
				idle(4),
				{ ...NOTHING, probedAt: 500, claimed: 1, ...found },
				500,
				LIMITS,
			);
		assert.equal(after({}).idleMs, LIMITS.firstIdleMs);
		assert.deepEqual(step(after({}), { now: 500 }), {
			kind: "wait",
			ms: LIMITS.missedMs,
		});
		assert.equal(after({ nextMs: 3 }).probeAt, 503);
		assert.deepEqual(step(after({}), { now: 500, hasHintedPlaces: true }), {
			kind: "claimHinted",
		});
		// More was there, or nobody says when more comes.
		for (const found of [{ isDrained: false }, { isConnected: false }]) {
			assert.deepEqual(step(after(found), { now: 500 }), PROBE);
		}
	});

	it("claim at a place that was hinted without a probe, and look soon for what was passed over", () => {
		const pace = idle(4);
		const now = pace.probedAt + 1;
		assert.deepEqual(step(pace, { now, hasHintedPlaces: true }), {
			kind: "claimHinted",
		});
		const drained = { claimed: 1, isDrained: true };
		const after = afterHinted(pace, drained, now, LIMITS);
		assert.equal(after.probeAt, now + LIMITS.missedMs);
		assert.equal(after.idleMs, LIMITS.firstIdleMs);
		const more = afterHinted(
			pace,
			{ claimed: 1, isDrained: false },
			now,
			LIMITS,
		);
		assert.deepEqual(step(more, { now }), PROBE);
	});

	it("are a probe at once for a hint without a place", () => {
		const pace = idle(4);
		assert.deepEqual(
			step(pace, { now: pace.probedAt + 1, isHinted: true }),
			PROBE,
		);
	});

	it("are a probe when a job ends while jobs were seen that could not be claimed", () => {
		const found = { ...NOTHING, probedAt: 0, due: 1 };
		const blocked = afterProbe(START, found, 0, LIMITS);
		assert.deepEqual(step(afterWait(blocked, true), { now: 1 }), PROBE);
		assert.deepEqual(step(afterWait(blocked, false), { now: 1 }).kind, "wait");
		assert.deepEqual(step(afterWait(idle(1), true), { now: 1 }).kind, "wait");
	});

	it("of an idle process leave probes to the one that probes for all, until its own is too old", () => {
		const pace = idle(4);
		const now = pace.probeAt;
		assert.deepEqual(step(pace, { now }), {
			kind: "probe",
			isIdle: true,
			unlessFollowing: true,
		});
		const following = afterFollowing(pace, now, LIMITS);
		assert.deepEqual(step(following, { now }), {
			kind: "wait",
			ms: LIMITS.hintedIdleMs,
		});
		const late = pace.probedAt + LIMITS.followingMs;
		assert.deepEqual(step(pace, { now: late }), {
			kind: "probe",
			isIdle: true,
			unlessFollowing: false,
		});
		assert.deepEqual(step(pace, { now, isConnected: false }), {
			kind: "probe",
			isIdle: true,
			unlessFollowing: false,
		});
	});
});
