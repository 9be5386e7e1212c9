import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Run, type Scenario, simulate } from "./simulatedPair.ts";

const SEEDS = [1, 2];
const CALM: Scenario = { seconds: 26, readsPerSecond: 1_000 };

/** Trouble for ten seconds, once the delay is that of 10,000 calls. */
const DURING = [12_000, 22_000] as const;

function each(check: (seed: number) => void): void {
	for (const seed of SEEDS) check(seed);
}

describe("reads of a pair of hosts, simulated", () => {
	it("hedge few calls in calm, fail none and do not switch", () => {
		each((seed) => {
			const run = simulate(CALM, seed);
			assert.equal(run.failed, 0);
			assert.equal(run.events.switchToStandby, 0);
			assert.ok(run.events.hedge / run.reads < 0.005, `${run.events.hedge}`);
			assert.ok(run.events.mirror / run.reads < 0.01);
			assert.ok(run.standbyCalls / run.reads < 0.015);
		});
	});

	it("fail none while the primary is paused for ten seconds, and are as fast after a moment", () => {
		each((seed) => {
			const run = simulate({ ...CALM, primary: { stall: DURING } }, seed);
			assert.equal(run.failed, 0);
			const late = run.between(DURING[0] + 200, DURING[1]);
			assert.ok(late.p99 <= 30, `p99 ${late.p99}`);
			assert.ok(late.p50 <= 3, `p50 ${late.p50}`);
			// Moved, not doubled.
			const extra = run.primaryCalls + run.standbyCalls - run.reads;
			assert.ok(extra / run.reads < 0.03, `${extra} of ${run.reads}`);
			assert.equal(run.events.switchToStandby, 1);
		});
	});

	it("are fast while the primary is twenty times slower", () => {
		each((seed) => {
			const slow = { from: DURING[0], to: DURING[1], factor: 20 };
			const run = simulate({ ...CALM, primary: { slow } }, seed);
			assert.equal(run.failed, 0);
			const { p50 } = run.between(DURING[0] + 1_500, DURING[1]);
			assert.ok(p50 <= 3, `p50 ${p50}`);
			assert.equal(run.events.switchToStandby, 1);
		});
	});

	it("go on where both are slow: no switch, and no hedges but those of the budget", () => {
		each((seed) => {
			const slow = { from: DURING[0], to: DURING[1], factor: 20 };
			const run = simulate(
				{ ...CALM, primary: { slow }, standby: { slow } },
				seed,
			);
			assert.equal(run.events.switchToStandby, 0);
			assert.ok(run.events.hedge < 400, `${run.events.hedge}`);
		});
	});

	it("give an overloaded pair no more load: answers in time are 0.9 of those without hedges at least", () => {
		const seed = 1;
		// Four workers of 2.3 ms carry some 1,700 reads a second.
		const overload: Scenario = {
			seconds: 9,
			readsPerSecond: 850,
			workers: 4,
			burst: { from: 3_000, to: 6_000, factor: 8 },
		};
		const answered = (run: Run) => run.reads - run.failed;
		const plain = simulate({ ...overload, standbyIsUnfit: true }, seed);
		const both = simulate({ ...overload, standbyIsBusyToo: true }, seed);
		assert.equal(both.events.switchToStandby, 0);
		const one = simulate(overload, seed);
		// Only the primary's load is known to be too high before.
		assert.ok(one.events.switchToStandby <= 1, JSON.stringify(one.switches));
		for (const hedged of [both, one]) {
			const goodput = answered(hedged) / answered(plain);
			assert.ok(goodput >= 0.9, `${goodput}`);
		}
	});

	it("return soon where the standby is late too, once it has the load, and leave it alone for a minute", () => {
		each((seed) => {
			const run = simulate(
				{
					seconds: 60,
					readsPerSecond: 850,
					workers: 4,
					burst: { from: 5_000, to: 55_000, factor: 3 },
				},
				seed,
			);
			const [away, back] = run.switches;
			assert.deepEqual(
				run.switches.map(({ to }) => to),
				["standby", "primary"],
			);
			const heldMs = (back?.at ?? 0) - (away?.at ?? 0);
			assert.ok(heldMs < 2_000, JSON.stringify(run.switches));
		});
	});

	it("do not take a process whose connections are all in use for a host that is gone", () => {
		each((seed) => {
			const run = simulate(
				{
					seconds: 9,
					readsPerSecond: 850,
					workers: 4,
					mostWaiting: 16,
					burst: { from: 3_000, to: 6_000, factor: 8 },
					standbyIsBusyToo: true,
				},
				seed,
			);
			assert.ok(run.failed > 0, "more than the connections carry");
			assert.deepEqual(run.switches, []);
		});
	});

	it("do not take the wait for a connection of their own process for a late primary", () => {
		each((seed) => {
			const run = simulate(
				{
					seconds: 20,
					readsPerSecond: 850,
					workers: 4,
					mostWaiting: 1_000,
					burst: { from: 5_000, to: 15_000, factor: 3 },
				},
				seed,
			);
			assert.ok(run.between(6_000, 14_000).p50 > 50, "too few connections");
			assert.deepEqual(run.switches, []);
		});
	});

	it("switch from a primary that is paused in a process with few connections", () => {
		each((seed) => {
			const run = simulate(
				{
					seconds: 26,
					readsPerSecond: 300,
					workers: 4,
					mostWaiting: 16,
					primary: { stall: DURING },
				},
				seed,
			);
			const [away] = run.switches;
			assert.equal(away?.to, "standby", JSON.stringify(run.switches));
			assert.ok((away?.at ?? 0) - DURING[0] < 600, `${away?.at}`);
			assert.equal(run.between(DURING[0] + 1_000, DURING[1]).failed, 0);
		});
	});

	it("return to a primary that is well for ten seconds, and later each time it fails again", () => {
		each((seed) => {
			const stalls = [5, 35, 75].map((at) => [at * 1_000, at * 1_000 + 2_000]);
			const run = simulate(
				{
					seconds: 120,
					readsPerSecond: 300,
					primary: { stalls: stalls as [number, number][] },
				},
				seed,
			);
			assert.equal(run.failed, 0);
			const held = run.switches.flatMap(({ to, at }, index) =>
				to === "primary" ? [at - (run.switches[index - 1]?.at ?? 0)] : [],
			);
			assert.equal(held.length, 3, JSON.stringify(run.switches));
			const [first = 0, second = 0, third = 0] = held;
			assert.ok(first >= 10_000 && first < 15_000, `${first}`);
			assert.ok(second >= 20_000 && second < 25_000, `${second}`);
			assert.ok(third >= 40_000, `${third}`);
		});
	});

	it("switch in a process with one read a second too, before its tokens are used up, and return", () => {
		each((seed) => {
			const run = simulate(
				{
					seconds: 80,
					readsPerSecond: 1,
					primary: { stall: [10_000, 50_000] },
				},
				seed,
			);
			assert.equal(run.failed, 0);
			const [away, back] = run.switches;
			assert.equal(away?.to, "standby");
			assert.ok((away?.at ?? 0) < 20_000);
			assert.ok((back?.at ?? 0) < 65_000, JSON.stringify(run.switches));
		});
	});

	it("hedge sooner than at the first guess in a quiet process, after seconds, and few calls", () => {
		each((seed) => {
			const quiet = { seconds: 60, readsPerSecond: 40 };
			const stall = [40_000, 50_000] as const;
			const run = simulate({ ...quiet, primary: { stall } }, seed);
			assert.equal(run.failed, 0);
			// Before the switch each is hedged.
			const first = run.between(stall[0], stall[0] + 200);
			assert.ok(first.p50 < 45, `p50 ${first.p50}`);
			const calm = simulate(quiet, seed);
			assert.equal(calm.failed, 0);
			assert.ok(calm.events.hedge / calm.reads < 0.005, `${calm.events.hedge}`);
		});
	});

	it("switch at once where the primary refuses connections, and lose nothing", () => {
		each((seed) => {
			const run = simulate({ ...CALM, primary: { refuses: DURING } }, seed);
			assert.equal(run.failed, 0);
			const [away, back] = run.switches;
			assert.ok((away?.at ?? 0) - DURING[0] < 50, JSON.stringify(run.switches));
			assert.ok((back?.at ?? 0) - DURING[1] < 15_000);
		});
	});

	it("do not use a standby that is too old, whatever the primary does", () => {
		const run = simulate(
			{ ...CALM, primary: { stall: DURING }, standbyIsUnfit: true },
			1,
		);
		assert.equal(run.standbyCalls, 0);
		assert.ok(run.failed > 9_000);
	});

	it("return to the primary where the standby fails while it is used", () => {
		each((seed) => {
			const run = simulate(
				{
					...CALM,
					primary: { stall: [5_000, 6_000] },
					standby: { refuses: [8_000, 18_000] },
				},
				seed,
			);
			assert.equal(run.failed, 0);
			assert.deepEqual(
				run.switches.map(({ to }) => to),
				["standby", "primary"],
			);
			assert.ok((run.switches[1]?.at ?? 0) < 8_100);
		});
	});

	it("stay where they are while neither host answers, and fail no longer than that", () => {
		each((seed) => {
			const stall = [12_000, 14_000] as const;
			const run = simulate(
				{ ...CALM, primary: { stall }, standby: { stall } },
				seed,
			);
			assert.ok(run.failed > 1_000);
			assert.equal(run.between(15_000, 26_000).failed, 0);
		});
	});

	it("do not take the stillness of their own process for that of the primary", () => {
		each((seed) => {
			const run = simulate(
				{ ...CALM, processStandsStill: [[6_000, 6_400]] },
				seed,
			);
			assert.equal(run.events.switchToStandby, 0);
			assert.equal(run.failed, 0);
		});
	});
});
