import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { newestOf } from "../../src/feed/candidates/newest.ts";
import { newestOfPulled } from "../../src/feed/candidates/newestOfPulled.ts";
import { explainItem } from "../../src/feed/explainItem.ts";
import { chooseFor, MAX_CHUNK } from "../../src/feed/generator.ts";
import { HomeFeeds } from "../../src/feed/homeFeeds.ts";
import type { FeedJobContext } from "../../src/feed/jobs/feedContext.ts";
import { enqueueUserWork, feedUser } from "../../src/feed/jobs/feedUser.ts";
import { View } from "../../src/graph/read/view.ts";
import type { Id } from "../../src/id/ids.ts";
import type { ListKey } from "../../src/storage/rows.ts";
import { openFeedWorld, type User } from "../helpers/feedWorld.ts";
import { until } from "../helpers/until.ts";

const world = await openFeedWorld();
after(() => world[Symbol.asyncDispose]());
const { parts } = world.feed;

/** A reader who looked just now, and somebody whom it follows. */
async function pair(): Promise<readonly [reader: Id, owner: User]> {
	const [reader, owner] = [(await world.user()).id, await world.user()];
	await world.follow(reader, owner.id);
	await world.visited(reader);
	return [reader, owner];
}

async function verdictOf(reader: Id, pin: Id): Promise<string> {
	return (await explainItem(parts, reader, pin)).verdict;
}

/** The reader's device looks, and what follows is done. */
async function look(reader: Id): Promise<void> {
	const device = world.another();
	await world.look(device, reader);
	await device.flush();
}

describe("why a pin is in a home feed, or not", () => {
	it("follows it from the pool into the feed and out of it", async () => {
		const [reader, owner] = await pair();
		const pin = await world.pin(owner);
		assert.equal(await verdictOf(reader, pin), "missing", "no job has run");
		await world.offer(reader, [pin], owner.id);
		const next = await explainItem(parts, reader, pin);
		assert.deepEqual(
			[next.verdict, next.place, next.entry?.via, next.follows],
			["next", 1, owner.id, [{ source: "user", via: owner.id }]],
		);
		// To explain it has changed nothing.
		assert.equal(await parts.pools.waiting(reader, 10), 1);
		await look(reader);
		assert.equal(await verdictOf(reader, pin), "listed");
		await world.ask(
			reader,
			`mutation { hideFromHomeFeed(input: {pinId: "${pin}"}) { hiddenPinId } }`,
		);
		assert.equal(await verdictOf(reader, pin), "removed");
	});

	it("distinguishes what the user does not follow, owns, may not see or unfollowed", async () => {
		const [reader, owner] = await pair();
		const stranger = await world.user();
		const strange = await world.pin(stranger);
		assert.equal(await verdictOf(reader, strange), "notFollowed");
		const own = await world.pin(owner);
		assert.equal(await verdictOf(owner.id, own), "own");
		const pins = [await world.pin(owner), await world.pin(owner)] as const;
		await world.offer(reader, pins, owner.id);
		await world.ask(
			owner.id,
			`mutation { deletePin(input: {pinId: "${pins[0]}"}) { deletedPinId } }`,
		);
		assert.equal(await verdictOf(reader, pins[0]), "invisible");
		await world.unfollow(reader, owner.id);
		assert.equal(await verdictOf(reader, pins[1]), "unfollowed");
	});

	it("distinguishes better ones, the same picture, and a user who did not look for long", async () => {
		const [reader, owner] = await pair();
		const first = await world.pin(owner);
		await world.offer(reader, [first], owner.id);
		const { repin } = await world.ask<{ repin: { pin: { id: Id } } }>(
			owner.id,
			`mutation { repin(input: {pinId: "${first}", boardId: "${owner.board}"}) { pin { id } } }`,
		);
		assert.equal(await verdictOf(reader, repin.pin.id), "known");

		const [idle, followed] = [(await world.user()).id, await world.user()];
		await world.follow(idle, followed.id);
		await world.visited(idle, 20);
		const pin = await world.pin(followed);
		// Its next look reads those whom it follows.
		assert.equal(await verdictOf(idle, pin), "next");

		const [busy, prolific] = await pair();
		const many: Id[] = [];
		for (let n = 0; n < 30; n++) many.push(await world.pin(prolific));
		await world.offer(busy, many, prolific.id);
		const { chosen, leftOut } = await chooseFor(parts, busy, {});
		assert.ok(chosen.length < many.length && many.length < MAX_CHUNK);
		const [last] = leftOut;
		assert.ok(last);
		assert.equal(await verdictOf(busy, last.entry.item), "waiting");
	});
});

describe("a pool that was lost", () => {
	it("is filled again by a job, made once for a user, from what the user follows", async () => {
		const [reader, owner] = await pair();
		const pin = await world.pin(owner);
		await parts.pools.forget(reader);
		await world.visited(reader);
		const jobs = world.corkboard.queues?.jobs;
		assert.ok(jobs);
		const enqueue = () => enqueueUserWork(jobs, "rebuild", [reader]);
		assert.deepEqual(
			[await enqueue(), await enqueue()].flat().map((one) => one.isMerged),
			[false, true],
		);
		await using _ = await world.corkboard.startWorker({
			queues: ["feedUser"],
			concurrency: 2,
		});
		await until(
			"the pin to wait",
			async () => (await verdictOf(reader, pin)) === "next",
			60_000,
		);
		assert.equal(await parts.pools.waiting(reader, 10), 1);
	});

	it("is filled with what can be read, and the job is tried again for the rest", async () => {
		const [reader, away] = await pair();
		const there = await world.user();
		await world.follow(reader, there.id);
		const pin = await world.pin(there);
		await world.pin(away);
		const { store, queues } = world.corkboard;
		const jobs = queues?.jobs;
		assert.ok(jobs);
		const isAway = ({ mapping, from }: ListKey) =>
			mapping.name === "ownPin" && from === away.id;
		const unread = new CorkboardError("UNAVAILABLE", "No answer.");
		const context = {
			jobs,
			store: store.with({
				cachedHead: () => undefined,
				readHeads: async (lists: readonly ListKey[], depth: number) => {
					const heads = await store.readHeads(lists, depth);
					return heads.map((head, at) =>
						isAway(lists[at] as ListKey) ? unread : head,
					);
				},
			}),
			feed: {
				model: parts.model,
				pools: parts.pools,
				ranker: parts.ranker,
				pulled: { deliveryTo: () => assert.fail() },
				removesUnfollowed: false,
				settle: async () => {},
				now: Date.now,
			},
		};
		const started = {
			id: "a job",
			body: feedUser.encode({ do: "rebuild", user: reader }),
			signal: new AbortController().signal,
			attempt: 1,
			allowed: 30,
			checkpoint: async () => {},
		};
		const rebuild = feedUser.start(
			started,
			context as unknown as FeedJobContext,
		);
		await assert.rejects(rebuild, unread);
		assert.equal(await verdictOf(reader, pin), "next");
		assert.equal(await parts.pools.waiting(reader, 10), 1);
	});

	it("is filled after a look that could not read all, since the next one reads only what is newer", async () => {
		const [reader, away] = await pair();
		await world.pin(away);
		const { store } = world.corkboard;
		let answers = false;
		const unread = new CorkboardError("UNAVAILABLE", "No answer.");
		const partly = store.with({
			cachedHead: () => undefined,
			readHeads: async (lists, depth, call) => {
				const heads = await store.readHeads(lists, depth, call);
				return heads.map((head, at) =>
					!answers && lists[at]?.from === away.id ? unread : head,
				);
			},
		});
		const filled: Id[] = [];
		await using device = new HomeFeeds(
			{
				...parts,
				store: partly,
				pools: parts.pools,
				pull: (user, since, options) =>
					newestOfPulled(
						{ store: partly, model: parts.model },
						{ has: () => true, size: 1 },
						user,
						since,
						options,
					),
				rebuildLater: async (user) => filled.push(user),
			},
			{ addsOnRead: true, lookMs: 60_000, returningMs: 60_000, holdMs: 0 },
		);
		const lookAgain = async () => {
			await device.refresh(reader);
			await device.flush();
		};
		await lookAgain();
		assert.deepEqual(filled, [reader]);
		answers = true;
		await lookAgain();
		assert.deepEqual(filled, [reader], "a whole look leaves nothing to fill");
	});

	it("leaves out a pin of which it cannot be read what it was saved from, and no other", async () => {
		const [reader, owner] = await pair();
		const origin = await world.pin(await world.user());
		const { repin } = await world.ask<{ repin: { pin: { id: Id } } }>(
			owner.id,
			`mutation { repin(input: {pinId: "${origin}", boardId: "${owner.board}"}) { pin { id } } }`,
		);
		const pin = await world.pin(owner);
		const { store } = world.corkboard;
		const unread: CorkboardError[] = [];
		const error = new CorkboardError("UNAVAILABLE", "No answer.");
		const newest = await newestOf(
			{
				model: parts.model,
				store: {
					readObjects: async (ids: readonly Id[]) => {
						const nodes = await store.readObjects(ids);
						return nodes.map((node, at) => (ids[at] === origin ? error : node));
					},
				},
			},
			new View(store, reader),
			[{ source: "user", via: owner.id }],
			10,
			{ onUnread: (one) => unread.push(one) },
		);
		assert.deepEqual(
			newest.map((entry) => entry.item),
			[pin],
		);
		assert.ok(!newest.some((entry) => entry.item === repin.pin.id));
		assert.deepEqual(unread, [error]);
	});
});
