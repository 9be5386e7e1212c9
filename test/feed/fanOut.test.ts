import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { ITEM_QUEUE, USER_QUEUE } from "../../src/feed/jobBodies.ts";
import { forgetUser } from "../../src/feed/jobs/forgetUser.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import type { Id } from "../../src/id/ids.ts";
import type { JobState } from "../../src/queue/jobStore.ts";
import { openFeedWorld, type User } from "../helpers/feedWorld.ts";
import { importAll } from "../helpers/importing.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const PUSH_LIMIT = 3;

const world = await openFeedWorld({
	CORKBOARD_FEED_PUSH_LIMIT: String(PUSH_LIMIT),
});
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
	return new Map(rows.map((row) => [row.item, row] as const));
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
		await jobsDone();
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
			const [edge] = await storage.read("edges", [
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

	it("leaves pins of a producer with more followers than the limit to those who look, once each, and pushes again below half of it", async () => {
		const ada = await active();
		const fans: User[] = [];
		for (let n = 0; n <= PUSH_LIMIT; n++) fans.push(await active());
		const [eve, bob, ...others] = fans as [User, User, ...User[]];
		for (const fan of fans) await world.follow(fan.id, ada.id);
		// In the pool through the board, and pulled through its owner.
		await world.ask(
			bob.id,
			`mutation { followBoard(input: {boardId: "${ada.board}"}) { board { id } } }`,
		);
		// Else they bring the first pin.
		await jobsDone();
		const isPulled = async () =>
			(await pools.pulled()).find(({ producer }) => producer === ada.id);
		const device = world.corkboard.feed;
		assert.ok(device);
		const look = async (user: User) => {
			await device.refresh(user.id);
			await device.flush();
			return feedOf(user.id);
		};
		const first = await world.pin(ada);
		await jobsDone();
		assert.ok(await isPulled());
		assert.equal((await waiting(eve.id)).has(first), false);
		assert.equal((await waiting(bob.id)).get(first)?.source, "board");
		for (const user of [eve, bob]) {
			for (let n = 0; n < 2; n++) assert.deepEqual(await look(user), [first]);
		}
		const second = await world.pin(ada);
		await jobsDone();
		for (const user of [eve, bob]) {
			for (let n = 0; n < 2; n++) {
				assert.deepEqual(await look(user), [second, first]);
			}
		}
		const last = others.pop() as User;
		for (const user of [bob, ...others]) {
			await world.unfollow(user.id, ada.id);
		}
		await world.unfollow(eve.id, ada.id);
		const third = await world.pin(ada);
		await until("the pin to be pushed", async () =>
			(await waiting(last.id)).has(third),
		);
		assert.ok(((await isPulled())?.pushedSince ?? 0) > 0);
		// Those of the time when they were pulled are not lost.
		for (let n = 0; n < 2; n++) {
			assert.deepEqual(
				(await look(last)).toSorted(),
				[first, second, third].toSorted(),
			);
		}
	});

	it("reaches every active follower of an owner and a board that have more than one short page of them", async () => {
		await using large = await openFeedWorld();
		await using _worker = await large.corkboard.startWorker({
			queues: null,
			concurrency: 4,
		});
		const ada = await large.user();
		const fans = await Promise.all(
			Array.from({ length: 105 }, () => large.user()),
		);
		for (const [at, { id }] of fans.entries()) {
			await large.pools.noteVisit(id, { visitedAt: Date.now() });
			// Some follow the board as well, the last one alone.
			if (at < 104) await large.follow(id, ada.id);
			if (at < 52 && at > 0) continue;
			await large.ask(
				id,
				`mutation { followBoard(input: {boardId: "${ada.board}"}) { board { id } } }`,
			);
		}
		// Else those of the follows bring the pin.
		await jobsDone(large.corkboard);
		const pin = await large.pin(ada);
		await jobsDone(large.corkboard);
		const found = await Promise.all(
			fans.map(({ id }) => large.pools.find(id, [pin])),
		);
		assert.deepEqual(
			found.map(([row]) => row?.source),
			fans.map((_, at) => (at < 104 ? "user" : "board")),
		);
	});

	it("has no jobs after an import", async () => {
		const before = await jobsEver();
		const { bad, report } = await importAll(world.corkboard, [
			...["imported_1", "imported_2"].map((username) => ({
				type: "User",
				key: username,
				fields: { username },
			})),
			{ type: "Board", key: "b", fields: { owner: "imported_1", name: "b" } },
			{ type: "Pin", key: "p", fields: { board: "b", details: "imported" } },
			{ edge: "followUser", from: "imported_2", to: "imported_1" },
			{ edge: "likePin", from: "imported_2", to: "p" },
		]);
		assert.deepEqual(bad, []);
		assert.equal(report.objects.Pin, 1);
		await world.corkboard.store.jobs?.deliveries.flush();
		assert.equal(await jobsEver(), before);
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

	it("forgets the pool of a user who is gone, and of nobody who is there", async () => {
		const [ada, eve] = [await active(), await active()];
		await world.follow(eve.id, ada.id);
		const pin = await world.pin(ada);
		await until("the pin to wait", async () =>
			(await waiting(eve.id)).has(pin),
		);
		const { store } = world.corkboard;
		const { model } = world.feed.parts;
		const close = (deactivatedAt: string | null) =>
			createWrites(store).modify(eve.id, (data) => ({
				...data,
				deactivated_at: deactivatedAt,
			}));
		const longAgo = new Date(Date.now() - 31 * 86_400_000).toISOString();
		await close(longAgo);
		await forgetUser(store, { model, pools }, pin);
		// Opened again meanwhile.
		await close(null);
		await forgetUser(store, { model, pools }, eve.id);
		assert.equal((await waiting(eve.id)).size, 1);
		await close(longAgo);
		await forgetUser(store, { model, pools }, eve.id);
		assert.equal(await pools.visit(eve.id), null);
		assert.equal((await waiting(eve.id)).size, 0);
	});
});

describe("CORKBOARD_FEED=off", () => {
	const made = async (
		{ query }: Corkboard,
		viewer: Id | null,
		mutation: string,
	): Promise<Id> => {
		const { data, errors } = await query(`mutation { made: ${mutation} }`, {
			viewer,
		});
		assert.equal(errors, undefined, JSON.stringify(errors));
		const [object] = Object.values(data?.made as Record<string, { id: Id }>);
		return object?.id as Id;
	};
	const createUser = (on: Corkboard, username: string) =>
		made(
			on,
			null,
			`createUser(input: {username: "${username}"}) { user { id } }`,
		);
	const follow = (on: Corkboard, follower: Id, followed: Id) =>
		made(
			on,
			follower,
			`followUser(input: {userId: "${followed}"}) { user { id } }`,
		);
	const createPin = async (on: Corkboard, owner: Id) => {
		const board = await made(
			on,
			owner,
			'createBoard(input: {name: "b"}) { board { id } }',
		);
		return made(
			on,
			owner,
			`createPin(input: {boardId: "${board}", details: "d"}) { pin { id } }`,
		);
	};

	it("enqueues no jobs, adds nothing, and leaves the feed and the other lists as they are", async () => {
		using folder = temporaryFolder();
		const open = (feed: "on" | "off") =>
			openCorkboard(
				pinsApp,
				readConfig({
					CORKBOARD_DATA: folder.path,
					CORKBOARD_DEMO: "off",
					CORKBOARD_FEED: feed,
				}),
			);
		const read = async (by: Corkboard, viewer: Id) => {
			const { data, errors } = await by.query(
				"{ viewer { homeFeedWaiting homeFeed(first: 10) { nodes { id homeFeedReason { source } } } } }",
				{ viewer },
			);
			assert.equal(errors, undefined, JSON.stringify(errors));
			return data as {
				readonly viewer: {
					readonly homeFeedWaiting: number | null;
					readonly homeFeed: { readonly nodes: readonly { readonly id: Id }[] };
				};
			};
		};
		let eve: Id;
		let shown: unknown;
		{
			await using on = await open("on");
			eve = await createUser(on, "eve_off");
			const ada = await createUser(on, "ada_off");
			await follow(on, eve, ada);
			const pin = await createPin(on, ada);
			shown = [{ id: pin, homeFeedReason: null }];
			// The pins of whom she follows are read: nobody has looked before.
			const { viewer } = await read(on, eve);
			assert.equal(viewer.homeFeed.nodes[0]?.id, pin);
		}
		await using off = await open("off");
		const before = await jobsEver(off);
		const bob = await createUser(off, "bob_off");
		await follow(off, eve, bob);
		await createPin(off, bob);
		await off.store.jobs?.deliveries.flush();
		assert.equal(await jobsEver(off), before);
		assert.deepEqual(await read(off, eve), {
			viewer: { homeFeedWaiting: null, homeFeed: { nodes: shown } },
		});
		const refreshed = await off.query(
			`mutation { refreshHomeFeed(input: {userId: "${eve}"}) { added } }`,
			{ viewer: eve },
		);
		assert.equal(refreshed.errors?.[0]?.extensions?.code, "UNAVAILABLE");
		assert.match(refreshed.errors?.[0]?.message ?? "", /CORKBOARD_FEED is off/);
	});
});

async function feedOf(user: Id): Promise<readonly Id[]> {
	const { viewer } = await world.ask<{
		readonly viewer: {
			readonly homeFeed: { readonly nodes: readonly { readonly id: Id }[] };
		};
	}>(user, "{ viewer { homeFeed(first: 10) { nodes { id } } } }");
	return viewer.homeFeed.nodes.map(({ id }) => id);
}

/** No job of feeds runs or is due. */
async function jobsDone(of: Corkboard = world.corkboard): Promise<void> {
	await until("the jobs to be done", async () => {
		await of.store.jobs?.deliveries.flush();
		return (
			(await countJobs(of, {
				// Microseconds.
				pending: { until: (Date.now() + 1) * 1_000 },
				running: {},
			})) === 0
		);
	});
}

/** Jobs of feeds, whatever became of them. */
function jobsEver(of: Corkboard = world.corkboard): Promise<number> {
	return countJobs(of, { pending: {}, running: {}, succeeded: {}, failed: {} });
}

async function countJobs(
	{ queues }: Corkboard,
	states: Partial<Readonly<Record<JobState, { readonly until?: number }>>>,
): Promise<number> {
	const store = queues?.store;
	assert.ok(store);
	let jobs = 0;
	for (const shard of store.shards) {
		for (const queue of [ITEM_QUEUE, USER_QUEUE]) {
			for (const [state, of] of Object.entries(states)) {
				const counted = { ...of, state: state as JobState };
				jobs += await store.count({ queue, shard }, counted, 1_000);
			}
		}
	}
	return jobs;
}
