import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
	arrange,
	type Candidate,
	type FeedViewer,
} from "../../src/feed/arrange.ts";
import type { FeedModel } from "../../src/feed/feedModel.ts";
import { checkedArrangement } from "../../src/feed/ranker.ts";
import { SCORE_UNIT } from "../../src/feed/scores.ts";
import type { Source } from "../../src/feed/sources.ts";
import type { Id } from "../../src/id/ids.ts";
import { theModel } from "../helpers/model.ts";

const { sources: SOURCES, rates: RATES } = theModel().feedModel as FeedModel;
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 0, 1);
const VIEWER: FeedViewer = {
	id: "1" as Id,
	now: NOW,
	lastLookAt: NOW - DAY,
	usualScores: {},
	hidden: new Map(),
	rates: RATES,
};

/** Candidates by source: `[via, score]`, with ids counted up from 1. */
function poolsOf(
	some: Readonly<Record<Source, readonly (readonly [number, number])[]>>,
	waitingSince = NOW,
): ReadonlyMap<Source, readonly Candidate[]> {
	let pins = 0;
	return new Map(
		Object.entries(some).map(([source, all]) => [
			source as Source,
			all
				.map(([via, score]): Candidate => {
					const pin = String(++pins) as Id;
					return {
						source: source as Source,
						item: pin,
						origin: pin,
						via: `9${via}` as Id,
						score: score * SCORE_UNIT,
						waitingSince,
					};
				})
				.sort((a, b) => b.score - a.score),
		]),
	);
}

const randomPools = fc
	.record(
		Object.fromEntries(
			SOURCES.names.map((source) => [
				source,
				fc.array(fc.tuple(fc.nat(5), fc.nat(30)), { maxLength: 40 }),
			]),
		) as Record<Source, fc.Arbitrary<[number, number][]>>,
	)
	.map((some) => poolsOf(some));

function shownFrom(
	pools: ReadonlyMap<Source, readonly Candidate[]>,
	size: number,
	viewer = VIEWER,
): readonly Candidate[] {
	const all = new Map(
		[...pools.values()].flat().map((one) => [one.item, one] as const),
	);
	return arrange(pools, size, viewer).show.map((pin) => {
		const one = all.get(pin);
		assert.ok(one);
		return one;
	});
}

describe("the default arrangement", () => {
	it("mixes sources at different rates: 6 of followed users and boards, 2 of interests, 2 related", () => {
		const many = Array.from({ length: 60 }, (_, n) => [n, n] as const);
		const pools = poolsOf({
			user: many,
			board: many,
			interest: many,
			related: many,
		});
		for (const size of [10, 50, 100]) {
			const shown = shownFrom(pools, size);
			const count = (...sources: readonly Source[]) =>
				shown.filter(({ source }) => sources.includes(source)).length;
			assert.deepEqual(
				[count("user", "board"), count("interest"), count("related")],
				[0.6 * size, 0.2 * size, 0.2 * size],
			);
		}
	});

	it("gives the share of a source that has nothing left to the others", () => {
		const pools = poolsOf({ related: [[1, 1]], interest: [[2, 1]] });
		assert.equal(shownFrom(pools, 25).length, 2);
	});

	it("is best first, not newest first", () => {
		const pools = poolsOf({
			user: [
				[1, 3],
				[2, 9],
				[3, 5],
			],
		});
		assert.deepEqual(
			shownFrom(pools, 3).map(({ score }) => score / SCORE_UNIT),
			[9, 5, 3],
		);
	});

	it("takes the best of each pool, so many as it takes: a prefix", () => {
		fc.assert(
			fc.property(
				randomPools,
				fc.integer({ min: 1, max: 100 }),
				(pools, size) => {
					const shown = shownFrom(pools, size);
					const all = [...pools.values()].flat();
					assert.equal(shown.length, Math.min(size, all.length));
					for (const [source, pool] of pools) {
						const taken = shown.filter((one) => one.source === source);
						const worst = Math.min(...taken.map(({ score }) => score));
						const left = pool.filter((one) => !taken.includes(one));
						assert.ok(left.every(({ score }) => score <= worst));
					}
				},
			),
		);
	});

	it("puts no two pins of one via beside each other while another is left", () => {
		fc.assert(
			fc.property(
				randomPools,
				fc.integer({ min: 1, max: 100 }),
				(pools, size) => {
					const shown = shownFrom(pools, size);
					for (let at = 1; at < shown.length; at++) {
						if (shown[at]?.via !== shown[at - 1]?.via) continue;
						const rest = new Set(shown.slice(at).map(({ via }) => via));
						assert.equal(rest.size, 1, `pin ${at} of ${shown.length}`);
					}
				},
			),
		);
	});

	it("names each pin once, and passes the check that every ranker has to pass", () => {
		fc.assert(
			fc.property(
				randomPools,
				fc.integer({ min: 1, max: 100 }),
				(pools, size) => {
					const arranged = arrange(pools, size, VIEWER);
					assert.deepEqual(checkedArrangement(arranged, pools, size), arranged);
				},
			),
		);
	});

	it("defers a pin that was not good enough at the last look and is far below the usual, and drops it in the end", () => {
		const viewer = { ...VIEWER, usualScores: { user: 10 * SCORE_UNIT } };
		const some = {
			user: [
				[1, 9],
				[2, 8],
				[3, 7],
			],
		} as const;
		const waiting = (days: number) =>
			arrange(poolsOf(some, NOW - days * DAY), 25, viewer);
		assert.deepEqual(waiting(0), { show: ["1", "2", "3"], drop: [] });
		assert.deepEqual(waiting(2), { show: ["1", "2"], drop: [] });
		assert.deepEqual(waiting(4), { show: ["1", "2"], drop: ["3"] });
	});

	it("shows fewer pins of those whose pins the viewer hid", () => {
		const some = {
			user: [
				[1, 9],
				[1, 9],
				[2, 8],
				[2, 8],
			],
		} as const;
		const hidden = new Map([["91" as Id, 2]]);
		const vias = (viewer: FeedViewer) =>
			shownFrom(poolsOf(some), 2, viewer).map(({ via }) => via);
		assert.deepEqual(vias(VIEWER), ["91", "91"]);
		assert.deepEqual(vias({ ...VIEWER, hidden }), ["92", "92"]);
	});
});
