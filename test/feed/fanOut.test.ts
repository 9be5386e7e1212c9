import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { forgetUser } from "../../src/feed/forgetUser.ts";
import type { Id } from "../../src/id/ids.ts";
import { openFeedWorld, type User } from "../helpers/feedWorld.ts";
import { until } from "../helpers/until.ts";

const world = await openFeedWorld();
const worker = await world.corkboard.startWorker({
	queues: null,
	concurrency: 4,
});
after(async () => {
	await worker[Symbol.asyncDispose]();
	await world[Symbol.asyncDispose]();
});
const { pools } = world;

const ALL = { user: 500, board: 500, interest: 500, related: 500 };

/** What waits for a user, with what it came through. */
async function waiting(user: Id) {
	const rows = await pools.best(user, ALL);
	return new Map(rows.map((row) => [row.pin, row] as const));
}

async function active(): Promise<User> {
	const user = await world.user();
	await world.visited(user.id);
	return user;
}

async function repin(user: User, pin: Id): Promise<Id> {
	const { repin: repinned } = await world.ask<{
		readonly repin: { readonly pin: { readonly id: Id } };
	}>(
		user.id,
		`mutation { repin(input: {pinId: "${pin}", boardId: "${user.board}"}) { pin { id } } }`,
	);
	return repinned.pin.id;
}

describe("fan-out", () => {
	it("puts a new pin into the pools of active followers of its owner and of its board, once", async () => {
		const [ada, both, onBoard, stranger] = [
			await active(),
			await active(),
			await active(),
			await active(),
		];
		const inactive = await world.user();
		await world.follow(both.id, ada.id);
		await world.follow(inactive.id, ada.id);
		for (const user of [both, onBoard]) {
			await world.ask(
				user.id,
				`mutation { followBoard(input: {boardId: "${ada.board}"}) { board { id } } }`,
			);
		}
		const pin = await world.pin(ada);
		await until("the pools to be so", async () =>
			(await waiting(onBoard.id)).has(pin),
		);
		await until("the pools to be so", async () =>
			(await waiting(both.id)).has(pin),
		);
		const row = (await waiting(both.id)).get(pin);
		assert.deepEqual([row?.source, row?.via], ["user", ada.id]);
		assert.equal((await waiting(onBoard.id)).get(pin)?.source, "board");
		for (const user of [ada, stranger, inactive]) {
			assert.deepEqual([...(await waiting(user.id)).keys()], []);
		}
	});

	it("pushes no pin of a secret board, and a picture only once however often it is repinned", async () => {
		const [ada, bob, eve] = [await active(), await active(), await active()];
		for (const followed of [ada, bob]) await world.follow(eve.id, followed.id);
		const { createBoard } = await world.ask<{
			readonly createBoard: { readonly board: { readonly id: Id } };
		}>(
			ada.id,
			'mutation { createBoard(input: {name: "secrets", secret: true}) { board { id } } }',
		);
		const hidden = await world.pin({ id: ada.id, board: createBoard.board.id });
		const first = await world.pin(ada);
		await until("the pools to be so", async () =>
			(await waiting(eve.id)).has(first),
		);
		const second = await repin(bob, first);
		const third = await repin(bob, second);
		const last = await world.pin(ada);
		await until("the pools to be so", async () =>
			(await waiting(eve.id)).has(last),
		);
		// Jobs of other pins may still run.
		await until("the pools to be so", async () => (await pendingJobs()) === 0);
		const pins = await waiting(eve.id);
		assert.deepEqual(
			[hidden, first, second, third].map((pin) => pins.has(pin)),
			[false, true, false, false],
		);
	});

	it("brings the newest pins of whom somebody follows, and takes what waits and was shown away after an unfollow", async () => {
		const [ada, bob] = [await world.user(), await active()];
		const shown = await world.pin(ada);
		for (let more = 0; more < 2; more++) await world.pin(ada);
		await world.follow(bob.id, ada.id);
		await until(
			"the pools to be so",
			async () => (await waiting(bob.id)).size === 3,
		);
		const row = (await waiting(bob.id)).get(shown);
		assert.ok(row);
		await pools.settle(bob.id, { taken: [row], dropped: [] }, Date.now());
		const feed = world.corkboard.model.mappings.get("showPin");
		assert.ok(feed);
		await world.corkboard
			.createContext(bob.id)
			.writes({})
			.setEdge(feed, bob.id, shown, true);
		await world.unfollow(bob.id, ada.id);
		await until(
			"the pools to be so",
			async () => (await waiting(bob.id)).size === 0,
		);
		const storage = world.corkboard.storage;
		await until("the pools to be so", async () => {
			const [edge] = await storage.readEdges([
				{ mapping: feed, from: bob.id, to: shown },
			]);
			return edge !== null && !(edge instanceof Error) && edge?.state === 1;
		});
		// Through the board they may come again.
		await world.ask(
			bob.id,
			`mutation { followBoard(input: {boardId: "${ada.board}"}) { board { id } } }`,
		);
		await until(
			"the pools to be so",
			async () => (await waiting(bob.id)).size === 2,
		);
		await world.follow(bob.id, ada.id);
		const next = await world.pin(ada);
		await until("the pools to be so", async () =>
			(await waiting(bob.id)).has(next),
		);
		assert.equal((await waiting(bob.id)).get(next)?.source, "user");
		await world.unfollow(bob.id, ada.id);
		await until(
			"the pools to be so",
			async () => (await waiting(bob.id)).get(next)?.source === "board",
		);
		assert.equal((await waiting(bob.id)).size, 3);
	});

	it("brings pins that stand next to one that was liked", async () => {
		const [ada, bob, eve] = [await active(), await active(), await active()];
		const liked = await world.pin(ada);
		await repin(bob, liked);
		const beside = await world.pin(bob);
		await world.ask(
			eve.id,
			`mutation { likePin(input: {pinId: "${liked}"}) { pin { id } } }`,
		);
		await until("the pools to be so", async () =>
			(await waiting(eve.id)).has(beside),
		);
		const pins = await waiting(eve.id);
		assert.equal(pins.get(beside)?.source, "related");
		assert.equal(pins.get(beside)?.via, liked);
		assert.equal(pins.has(liked), false);
	});

	it("forgets the pool of a user who is gone, and of no other object", async () => {
		const [ada, eve] = [await active(), await active()];
		await world.follow(eve.id, ada.id);
		const pin = await world.pin(ada);
		await until("the pin to wait", async () =>
			(await waiting(eve.id)).has(pin),
		);
		const { model } = world.corkboard.store;
		await forgetUser(pools, model, pin);
		assert.equal((await waiting(eve.id)).size, 1);
		await forgetUser(pools, model, eve.id);
		assert.equal(await pools.visit(eve.id), null);
		assert.equal((await waiting(eve.id)).size, 0);
	});
});

/** Jobs of feeds that are pending or running. */
async function pendingJobs(): Promise<number> {
	const store = world.corkboard.queues?.store;
	assert.ok(store);
	let jobs = 0;
	for (const shard of store.shards) {
		for (const state of ["pending", "running"] as const) {
			jobs += await store.count({ queue: "feedPin", shard }, { state }, 100);
		}
	}
	return jobs;
}
