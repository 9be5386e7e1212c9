import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it, mock } from "node:test";
import { MAX_AGE_MS } from "../../../src/cache/entryAges.ts";
import { ALL_CHANNELS } from "../../../src/cache/slotVersions.ts";
import { Head } from "../../../src/graph/store/head.ts";
import { Store } from "../../../src/graph/store/store.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";

const USERS = 20;

/** docs/consistency/caches.md, "What a writer knows". */
describe("the cached head of a list", () => {
	const { model, domain } = theModel();
	let graph: Embedded;
	let board: Id;
	let users: Id[];
	let pin: Id;
	let store: Store;
	let now: number;
	let isOverdue: boolean;
	let beforeTransaction: () => unknown;
	let afterCommit: () => unknown;

	before(async () => {
		mock.timers.enable({ apis: ["Date"], now: Date.now() });
		graph = await openEmbedded();
	});
	after(async () => {
		mock.timers.reset();
		await graph[Symbol.asyncDispose]();
	});
	beforeEach(async () => {
		users = await Promise.all(
			Array.from({ length: USERS }, (_, n) =>
				graph.writes.create({
					type: "User",
					data: { username: `user_${Math.random()}_${n}` },
				}),
			),
		);
		board = await graph.writes.create({
			type: "Board",
			data: { name: "b", user_id: users[0] as Id },
		});
		pin = await newPin();
		now = 1_000;
		isOverdue = false;
		beforeTransaction = afterCommit = () => {};
		const transact = async (...given: Parameters<Storage["transact"]>) => {
			await beforeTransaction();
			const committed = await graph.storage.transact(...given);
			await afterCommit();
			return committed;
		};
		const storage = new Proxy(graph.storage, {
			get(target, name) {
				if (name === "transact") return transact;
				const value = Reflect.get(target, name, target);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
		store = new Store({
			model,
			domain,
			storage,
			cursors: createCursorCodec(Buffer.alloc(32, 1)),
			cacheBytes: 1_000_000,
			maxAgeMs: MAX_AGE_MS,
			now: () => now,
			isOverdue: () => isOverdue,
		});
	});

	/** Once a write has dropped its keys. False: nobody acknowledged it. */
	function afterDrops(happens: () => unknown): void {
		const { invalidator } = store;
		const invalidate = invalidator.invalidate.bind(invalidator);
		mock.method(
			invalidator,
			"invalidate",
			async (...given: Parameters<typeof invalidate>) => {
				const isAcknowledged = await invalidate(...given);
				return happens() === false ? false : isAcknowledged;
			},
		);
	}

	const newPin = () =>
		graph.writes.create({
			type: "Pin",
			data: { board_id: board, user_id: users[0] as Id },
		});
	const likers = () => graph.mapping("likePin.inverse");
	const likes = () => graph.mapping("likePin");
	/** Each in a millisecond of its own: among those of one, their ids decide the order. */
	const like = (user: number, by = graph.writes) => {
		mock.timers.tick(1);
		return by.setEdge(likes(), users[user] as Id, pin, true);
	};

	async function likeByFirst(count: number): Promise<void> {
		for (let user = 1; user <= count; user++) await like(user);
	}

	/** What a process that keeps nothing reads. */
	async function readAnew(
		mapping: ReturnType<typeof likers>,
		from: Id,
		depth: number,
	): Promise<string> {
		const [head] = await graph.cold().readHeads([{ mapping, from }], depth);
		assert.ok(head instanceof Head);
		return head.encoded();
	}

	const LISTS: Readonly<
		Record<string, readonly [likes: number, depth: number]>
	> = {
		"with all edges": [3, 12],
		"of a list that was empty": [0, 4],
		"with the first edges": [8, 4],
		"that has the count alone": [5, 0],
	};
	for (const [what, [count, depth]] of Object.entries(LISTS)) {
		it(`${what} has what its process writes, and is not read again`, async () => {
			await likeByFirst(count);
			const list = { mapping: likers(), from: pin };
			await store.readHeads([list], depth);
			await like(10, createWrites(store));
			const head = store.cachedHead(likers(), pin);
			assert.ok(head);
			assert.equal(head.encoded(), await readAnew(likers(), pin, depth));
			const again = store.readHeads([list], depth);
			assert.deepEqual(again, [head]);
		});
	}

	it("of the other side of an edge has it too", async () => {
		const from = users[10] as Id;
		await store.readHeads([{ mapping: likes(), from }], 32);
		await like(10, createWrites(store));
		const head = store.cachedHead(likes(), from);
		assert.equal(head?.encoded(), await readAnew(likes(), from, 32));
	});

	it("has an object that is created in the list, unless edges of it may move", async () => {
		const lists = {
			[graph.mapping("ownPin").name]: users[0] as Id,
			[graph.mapping("placePin").name]: board,
		};
		for (const [name, from] of Object.entries(lists)) {
			await store.readHeads([{ mapping: graph.mapping(name), from }], 32);
		}
		await createWrites(store).create({
			type: "Pin",
			data: { board_id: board, user_id: users[0] as Id },
		});
		const [own, placed] = Object.entries(lists).map(([name, from]) =>
			store.cachedHead(graph.mapping(name), from),
		);
		const mapping = graph.mapping("ownPin");
		assert.equal(own?.encoded(), await readAnew(mapping, users[0] as Id, 32));
		assert.equal(placed, undefined);
	});

	it("has the edges of writes that come together, or is read again", async () => {
		await store.readHeads([{ mapping: likers(), from: pin }], 12);
		const writes = createWrites(store);
		await Promise.all([1, 2, 3, 4].map((user) => like(user, writes)));
		const [head] = await store.readHeads(
			[{ mapping: likers(), from: pin }],
			12,
		);
		assert.ok(head instanceof Head);
		assert.equal(head.encoded(), await readAnew(likers(), pin, 12));
	});

	const OTHERS: Readonly<Record<string, () => unknown>> = {
		"another process changed it before the write, which is not known yet":
			() => {
				beforeTransaction = () => like(5);
			},
		"another process changed it so that its count is the same": () => {
			beforeTransaction = async () => {
				const [, first] = users;
				await graph.writes.setEdge(likes(), first as Id, pin, false);
				await like(5);
			};
		},
		"it is known to have changed while the write waited for its rows": () => {
			beforeTransaction = () => store.headCache.invalidate(likers().name, pin);
		},
		"it is known to have changed right after COMMIT": () => {
			afterCommit = () => store.headCache.invalidate(likers().name, pin);
		},
		"invalidations were missed meanwhile": () => {
			afterCommit = () => store.caches.invalidateChannels(ALL_CHANNELS);
		},
		"it is not proven that none was missed": () => {
			afterCommit = () => {
				isOverdue = true;
			};
		},
		"its time is over": () => {
			afterCommit = () => {
				now += 2 * MAX_AGE_MS;
			};
		},
	};
	for (const [what, happens] of Object.entries(OTHERS)) {
		it(`is dropped by a write if ${what}`, async () => {
			await likeByFirst(3);
			await store.readHeads([{ mapping: likers(), from: pin }], 12);
			happens();
			await like(10, createWrites(store));
			isOverdue = false;
			assert.equal(store.cachedHead(likers(), pin), undefined);
		});
	}

	it("is dropped by a write if it is known to have changed while the write deleted its keys", async () => {
		await likeByFirst(3);
		await store.readHeads([{ mapping: likers(), from: pin }], 12);
		afterDrops(() => store.headCache.invalidate(likers().name, pin));
		await like(10, createWrites(store));
		assert.equal(store.cachedHead(likers(), pin), undefined);
	});

	it("is dropped by a write if the deletion of its keys was not acknowledged", async () => {
		await likeByFirst(3);
		await store.readHeads([{ mapping: likers(), from: pin }], 12);
		afterDrops(() => false);
		await like(10, createWrites(store));
		assert.equal(store.cachedHead(likers(), pin), undefined);
	});

	it("is dropped by a write that removes an edge", async () => {
		await likeByFirst(3);
		await store.readHeads([{ mapping: likers(), from: pin }], 12);
		const [, first] = users;
		await createWrites(store).setEdge(likes(), first as Id, pin, false);
		assert.equal(store.cachedHead(likers(), pin), undefined);
	});

	it("is dropped by a write of an edge that it has: another process removed that, and added an older one", async () => {
		await likeByFirst(3);
		await store.readHeads([{ mapping: likers(), from: pin }], 12);
		const now = Date.now();
		beforeTransaction = async () => {
			beforeTransaction = () => {};
			await graph.writes.setEdge(likes(), users[2] as Id, pin, false);
			mock.timers.setTime(now - 1);
			await like(5);
			mock.timers.setTime(now + 10);
		};
		await like(2, createWrites(store));
		assert.equal(store.cachedHead(likers(), pin), undefined);
	});

	it("is as old after a write as before", async () => {
		await store.readHeads([{ mapping: likers(), from: pin }], 12);
		const end = store.cachedHead(likers(), pin)?.end;
		assert.ok(end !== undefined);
		now += 1_000;
		await like(10, createWrites(store));
		assert.equal(store.cachedHead(likers(), pin)?.end, end);
	});

	it("is dropped by what another process writes after it", async () => {
		await store.readHeads([{ mapping: likers(), from: pin }], 12);
		await like(10, createWrites(store));
		assert.ok(store.cachedHead(likers(), pin));
		store.headCache.invalidate(likers().name, pin);
		assert.equal(store.cachedHead(likers(), pin), undefined);
	});
});
