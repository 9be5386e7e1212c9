import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
	MAX_RECEIVERS,
	type PoolEntry,
	type PoolStore,
	type Visit,
} from "../../src/feed/pools/pools.ts";
import { SCORE_LIMIT } from "../../src/feed/scores.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import {
	STORAGE_CHANNELS,
	type WriteRetry,
} from "../../src/storage/diagnostics.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";

const DAY_MS = 86_400_000;
const NOW = 1_790_000_000_000;
const ACTIVE_SINCE = NOW - 14 * DAY_MS;

const USER = 3;
const PIN = 1;

/** The behavior of pools. Every backend runs it, on two shards. */
export async function poolSuite(
	name: string,
	open: () => Promise<PoolStore>,
	options: { readonly writers: number },
): Promise<void> {
	const pools = await open();
	await pools.createTables();
	describe(`pools on ${name}`, () => {
		after(() => pools[Symbol.asyncDispose]());
		let next = 1;
		/** Users and pins that no other test has. */
		const user = (shard = 0) => packId({ shard, type: USER, local: next++ });
		const pin = () =>
			packId({ shard: 65_535, type: PIN, local: 2 ** 35 + next++ });
		const entry = (given: Partial<PoolEntry> = {}): PoolEntry => {
			const id = given.item ?? pin();
			return {
				source: "user",
				score: 1,
				item: id,
				origin: id,
				via: user(),
				...given,
			};
		};
		const visited = async (shard = 0, visitedAt = NOW): Promise<Id> => {
			const id = user(shard);
			await pools.noteVisit(id, { visitedAt });
			return id;
		};
		const push = (
			pushed: PoolEntry,
			users: readonly Id[],
			scores: readonly number[] = [],
		) =>
			pools.push(
				{ ...pushed, now: NOW },
				users.map((user, at) => ({ user, score: scores[at] ?? pushed.score })),
				ACTIVE_SINCE,
			);
		const all = { user: 100, board: 100, interest: 100, related: 100 };
		const waitingPins = async (of: Id) =>
			(await pools.best(of, all)).map(({ item }) => item);

		it("have all their tables, and creating them again changes nothing", async () => {
			await pools.createTables();
			assert.deepEqual(await pools.missingTables(), []);
			assert.deepEqual(pools.shards, [0, 1]);
		});

		it("let a pin wait for all receivers who were there lately, on all shards, and for no others", async () => {
			const active = [await visited(0), await visited(1), await visited(2)];
			const gone = await visited(1, ACTIVE_SINCE);
			const never = user();
			const pushed = entry({ score: SCORE_LIMIT });
			const { rows, failed } = await push(pushed, [...active, gone, never]);
			assert.deepEqual([rows, failed], [3, []]);
			for (const each of active) {
				assert.deepEqual(await pools.best(each, all), [
					{ ...pushed, state: "waiting", changedAt: NOW },
				]);
			}
			assert.deepEqual(await waitingPins(gone), []);
			assert.deepEqual(await waitingPins(never), []);
		});

		it("give each receiver its own score", async () => {
			const users = [await visited(0), await visited(1), await visited(0)];
			await push(entry(), users.toReversed(), [30, 20, 10]);
			const scores = await Promise.all(
				users.map(async (each) => (await pools.best(each, all))[0]?.score),
			);
			assert.deepEqual(scores, [10, 20, 30]);
		});

		it("take pins that are pushed at the same time, each for its own receivers", async () => {
			const [ada, bob, cyd] = [
				await visited(0),
				await visited(0),
				await visited(1),
			];
			const gone = await visited(0, ACTIVE_SINCE);
			const [one, two, three] = [entry(), entry(), entry()];
			// The same picture as the first.
			const again = entry({ origin: one.origin });
			const pushed = await Promise.all([
				push(one, [bob, gone, ada], [3, 2, 1]),
				push(two, [ada, cyd], [5, 4]),
				push(three, [gone, bob], [9, 9]),
				push(again, [bob, cyd], [8, 8]),
			]);
			assert.deepEqual(
				pushed.map(({ failed }) => failed),
				[[], [], [], []],
			);
			assert.equal(
				pushed.reduce((sum, { rows }) => sum + rows, 0),
				6,
			);
			const scores = async (of: Id) =>
				(await pools.best(of, all)).map(
					({ item, score }) => [item, score] as const,
				);
			assert.deepEqual(await scores(ada), [
				[two.item, 5],
				[one.item, 1],
			]);
			assert.deepEqual(
				(await pools.find(bob, [one.origin, three.origin])).map(
					(row) => row?.score,
				),
				[(await scores(bob)).some(([pin]) => pin === one.item) ? 3 : 8, 9],
			);
			assert.deepEqual(await scores(cyd), [
				[again.item, 8],
				[two.item, 4],
			]);
			assert.deepEqual(await scores(gone), []);
		});

		it("change nothing when a pin is pushed again, or the same picture with another pin", async () => {
			const receiver = await visited();
			const first = entry({ score: 5 });
			await push(first, [receiver]);
			assert.equal((await push(first, [receiver])).rows, 0);
			const again = entry({ origin: first.origin, score: 9 });
			assert.equal((await push(again, [receiver])).rows, 0);
			assert.equal(await pools.add(receiver, [again, entry()], NOW), 1);
			const [found] = await pools.find(receiver, [first.origin]);
			assert.deepEqual([found?.item, found?.score], [first.item, 5]);
		});

		it("give the best of each source, best first, and as many as were asked for", async () => {
			const of = user();
			const entries = [3, 1, 2].map((score) => entry({ score }));
			const related = entry({ source: "related", score: 7 });
			await pools.add(of, [...entries, related], NOW);
			assert.deepEqual(
				(await pools.best(of, { user: 2, related: 5 })).map(
					({ source, score }) => [source, score],
				),
				[
					["user", 3],
					["user", 2],
					["related", 7],
				],
			);
			assert.deepEqual(await pools.best(of, {}), []);
			await pools.settle(of, { taken: [related], dropped: [] }, NOW);
			assert.deepEqual(
				(await pools.best(of, all, "taken")).map(({ item }) => item),
				[related.item],
			);
		});

		it("remember what was taken and dropped, also of pins that never waited, so that none comes back", async () => {
			const of = await visited();
			const [one, two, three] = [entry(), entry(), entry()];
			await pools.add(of, [one, two], NOW);
			await pools.settle(of, { taken: [one, three], dropped: [two] }, NOW + 5);
			await push(entry({ origin: one.origin }), [of]);
			await pools.add(of, [two, three], NOW);
			assert.deepEqual(await waitingPins(of), []);
			const found = await pools.find(of, [
				one.origin,
				two.origin,
				three.origin,
				pin(),
			]);
			assert.deepEqual(
				found.map((row) => row && [row.state, row.changedAt]),
				[["taken", NOW + 5], ["dropped", NOW + 5], ["taken", NOW + 5], null],
			);
		});

		it("drop what was taken, and take nothing that was dropped", async () => {
			const of = user();
			const hidden = entry();
			await pools.settle(of, { taken: [hidden], dropped: [] }, NOW);
			await pools.settle(of, { taken: [], dropped: [hidden] }, NOW + 1);
			await pools.settle(of, { taken: [hidden], dropped: [] }, NOW + 2);
			const [row] = await pools.find(of, [hidden.origin]);
			assert.deepEqual([row?.state, row?.changedAt], ["dropped", NOW + 1]);
		});

		it("count what waits, up to a cap", async () => {
			const of = user();
			assert.equal(await pools.waiting(of, 99), 0);
			const entries = Array.from({ length: 5 }, () => entry());
			await pools.add(of, entries, NOW);
			await pools.settle(of, { taken: entries.slice(0, 1), dropped: [] }, NOW);
			assert.equal(await pools.waiting(of, 99), 4);
			assert.equal(await pools.waiting(of, 3), 3);
		});

		it("withdraw what waits through one producer, and let substitutes wait instead", async () => {
			const of = user();
			const via = user();
			const other = user();
			const [one, two, taken] = [
				entry({ via }),
				entry({ via }),
				entry({ via }),
			];
			const stays = entry({ via: other });
			await pools.add(of, [one, two, taken, stays], NOW);
			await pools.settle(of, { taken: [taken], dropped: [] }, NOW);
			const waiting = await pools.listVia(of, via, "waiting", 10);
			assert.deepEqual(
				waiting.map(({ item }) => item).toSorted(),
				[one.item, two.item].toSorted(),
			);
			assert.deepEqual(
				(await pools.listVia(of, via, "taken", 10)).map(({ item }) => item),
				[taken.item],
			);
			const gone = await pools.withdraw(
				of,
				via,
				[one, two, taken, stays].map(({ origin }) => origin),
				[{ ...one, source: "board", via: other }],
				NOW,
			);
			assert.equal(gone, 2);
			const rows = await pools.best(of, all);
			assert.deepEqual(
				rows.map(({ item, source }) => [item, source]),
				[
					[stays.item, "user"],
					[one.item, "board"],
				],
			);
			// Followed again, it may come back.
			assert.equal(await pools.add(of, [two], NOW), 1);
		});

		it("keep the best that wait, and what was settled lately", async () => {
			const of = user();
			const entries = [5, 4, 3, 2, 2, 2].map((score) => entry({ score }));
			await pools.add(of, entries, NOW);
			const old = entry();
			const late = entry();
			await pools.settle(of, { taken: [old], dropped: [] }, NOW - 30 * DAY_MS);
			await pools.settle(of, { taken: [], dropped: [late] }, NOW);
			const keep = { waitingPerSource: 4, settledAfter: NOW - 30 * DAY_MS };
			assert.equal(await pools.trim(of, keep), 3);
			assert.equal(await pools.trim(of, keep), 0);
			const scores = (await pools.best(of, all)).map(({ score }) => score);
			assert.deepEqual(scores, [5, 4, 3, 2]);
			const [gone, kept] = await pools.find(of, [old.origin, late.origin]);
			assert.deepEqual([gone, kept?.state], [null, "dropped"]);
		});

		it("note visits: what is not given stays, and times only rise", async () => {
			const of = user();
			assert.equal(await pools.visit(of), null);
			await pools.noteVisit(of, { visitedAt: 50 });
			await pools.noteVisit(of, { generatedAt: 60, asked: 20, visitedAt: 40 });
			await pools.noteVisit(of, { rebuiltAt: 70 });
			const expected: Visit = {
				visitedAt: 50,
				generatedAt: 60,
				asked: 20,
				rebuiltAt: 70,
			};
			assert.deepEqual(await pools.visit(of), expected);
			await pools.noteVisit(of, { asked: 10 });
			assert.equal((await pools.visit(of))?.asked, 10);
		});

		it("forget a user", async () => {
			const of = await visited();
			await pools.add(of, [entry()], NOW);
			await pools.forget(of);
			await pools.forget(of);
			assert.equal(await pools.visit(of), null);
			assert.equal(await pools.waiting(of, 1), 0);
		});

		it("list users who were there lately, page by page", async () => {
			const since = NOW + 100 * DAY_MS;
			const users: Id[] = [];
			for (let at = 0; at < 5; at++) users.push(await visited(1, since + 1));
			await visited(1, since);
			const listed: Id[] = [];
			let after: Id | null = null;
			for (;;) {
				const page: readonly Id[] = await pools.activeUsers(1, {
					after,
					activeSince: since,
					limit: 2,
				});
				listed.push(...page);
				after = page.at(-1) ?? null;
				if (page.length < 2) break;
			}
			assert.deepEqual(listed, users);
		});

		it("keep the producers that are pulled", async () => {
			const [one, two] = [user(0), user(1)];
			await pools.putPulled(one, { since: NOW, pushedSince: 0 });
			await pools.putPulled(two, { since: NOW, pushedSince: 0 });
			await pools.putPulled(two, { since: NOW, pushedSince: NOW + 1 });
			await pools.putPulled(one, { since: null, pushedSince: 0 });
			assert.deepEqual(await pools.pulled(), [
				{ producer: two, since: NOW, pushedSince: NOW + 1 },
			]);
		});

		it("report sizes by shard", async () => {
			const stats = await pools.stats();
			assert.deepEqual(
				stats.map((each) => "shard" in each && each.shard),
				[0, 1],
			);
		});

		it("refuse what no statement may take", async () => {
			const bad: PoolEntry[] = [
				entry({ score: SCORE_LIMIT + 1 }),
				entry({ score: 0.5 }),
				entry({ item: "1 OR 1" as Id }),
				entry({ source: "nobody" as "user" }),
			];
			for (const each of bad) {
				await assert.rejects(pools.add(user(), [each], NOW), TypeError);
				await assert.rejects(push(each, [user()]), TypeError);
			}
			const many = Array.from({ length: MAX_RECEIVERS + 1 }, () => user());
			await assert.rejects(push(entry(), many), TypeError);
			await assert.rejects(pools.visit("x" as Id), TypeError);
		});

		it("take pushes, visits and withdrawals of the same users at the same time, and hardly ever deadlock", async () => {
			const users: Id[] = [];
			for (let at = 0; at < 40; at++) users.push(await visited(at % 2));
			const via = user();
			// The same pictures over and over: each is withdrawn and pushed again.
			const entries = Array.from({ length: 6 }, () => entry({ via }));
			const origins = entries.map(({ origin }) => origin);
			const retries = await publishedDuring<WriteRetry>(
				STORAGE_CHANNELS.writeRetry,
				async () => {
					await Promise.all(
						Array.from({ length: options.writers }, async (_, writer) => {
							for (let round = 0; round < 6; round++) {
								const shifted = users.toSorted(() => Math.random() - 0.5);
								const each = entries[
									(writer + round) % entries.length
								] as PoolEntry;
								const { failed } = await push(each, shifted);
								assert.deepEqual(failed, []);
								const one = shifted[0] as Id;
								await pools.withdraw(one, via, origins, [], NOW);
								await pools.add(one, entries, NOW);
								await pools.noteVisit(one, { visitedAt: NOW + round });
								await pools.settle(one, { taken: [each], dropped: [] }, NOW);
							}
						}),
					);
				},
			);
			// Without the lock on the user's visits it is dozens (src/feed/pools/mysqlPools.ts).
			const deadlocks = retries.filter(({ reason }) => reason === "deadlock");
			assert.ok(deadlocks.length <= 3, `${deadlocks.length} deadlocks`);
			for (const each of users) {
				const found = await pools.find(each, origins);
				assert.equal(
					new Set(found.map((row) => row?.origin)).size,
					found.length,
				);
			}
		});
	});
}
