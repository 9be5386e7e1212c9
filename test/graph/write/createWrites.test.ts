import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import { View } from "../../../src/graph/read/view.ts";
import type { Node, Page } from "../../../src/graph/types.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import type { Transaction } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";

const WANT = {
	edges: true,
	hasNextPage: false,
	hasPreviousPage: false,
	cursors: false,
	totalCount: true,
};

/** The list as a fresh process reads it: ids and count. */
async function listOf(
	graph: Embedded,
	mapping: string,
	from: Id,
	viewer: Id | null = null,
): Promise<{ ids: Id[]; count: number | null }> {
	const [page] = await new View(graph.cold(), viewer).readPages(
		graph.mapping(mapping),
		[from],
		{ first: 100, fields: WANT },
	);
	assert.ok(page && !(page instanceof CorkboardError), `${page}`);
	return {
		ids: page.edges.map(({ node }) => (node as { id: Id }).id),
		count: page.totalCount,
	};
}

function isCode(code: string) {
	return (error: unknown) =>
		error instanceof CorkboardError && error.code === code;
}

/** A storage whose next transactions on a shard, or lookup changes, can be made to fail. */
function failing(fails: {
	transact?: (transaction: Transaction<unknown>) => "before" | "after" | null;
	setLookups?: () => boolean;
	settle?: () => boolean;
}) {
	const down = () => new CorkboardError("UNAVAILABLE", "down");
	return (storage: Storage): Storage =>
		new Proxy(storage, {
			get(target, name) {
				if (name === "transact") {
					return async (transaction: Transaction<unknown>) => {
						const when = fails.transact?.(transaction) ?? null;
						if (when === "before") throw down();
						const done = await target.transact(transaction);
						if (when === "after") throw down();
						return done;
					};
				}
				if (name === "compareAndSetLookups") {
					return async (
						...changes: Parameters<Storage["compareAndSetLookups"]>
					) =>
						fails.setLookups?.()
							? changes[0].map(down)
							: target.compareAndSetLookups(...changes);
				}
				if (name === "deleteOutboxEntries" && fails.settle?.()) {
					return async () => {
						throw down();
					};
				}
				const value = Reflect.get(target, name, target);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
}

/** A storage in which objects are absent, as on a server that lacks what was committed. */
function losing(isLost: () => "read" | "locked" | null) {
	return (storage: Storage): Storage =>
		new Proxy(storage, {
			get(target, name) {
				if (name === "read" && isLost() === "read") {
					return async (...call: Parameters<Storage["read"]>) =>
						call[0] === "objects"
							? call[1].map(() => null)
							: target.read(...call);
				}
				if (name === "transact" && isLost() === "locked") {
					return <T>(transaction: Transaction<T>) =>
						target.transact({
							...transaction,
							decide: (reads) =>
								transaction.decide({
									...reads,
									objects: reads.objects.map(() => null),
								}),
						});
				}
				const value = Reflect.get(target, name, target);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
}

describe("writes", () => {
	let graph: Embedded;
	let users = 0;
	const user = () =>
		graph.writes.create({
			type: "User",
			data: { username: `user_${users++}` },
		});
	const board = (owner: Id, name = "board") =>
		graph.writes.create({ type: "Board", data: { name, user_id: owner } });
	const pin = (owner: Id, on: Id, more: Record<string, string> = {}) =>
		graph.writes.create({
			type: "Pin",
			data: { board_id: on, user_id: owner, ...more },
		});

	before(async () => {
		graph = await openEmbedded();
	});
	after(() => graph[Symbol.asyncDispose]());

	it("create boards on their user's shard, pins on their board's, comments on their pin's", async () => {
		const owner = await user();
		const onBoard = await board(owner);
		const onPin = await pin(owner, onBoard);
		const comment = await graph.writes.create({
			type: "Comment",
			data: { text: "hm", pin_id: onPin, user_id: owner },
		});
		const { shard } = unpackId(owner);
		assert.deepEqual(
			[onBoard, onPin, comment].map((id) => unpackId(id).shard),
			[shard, shard, shard],
		);
	});

	it("spread new users over the open shards", async () => {
		const shards = new Set<number>();
		for (let n = 0; n < 40; n++) shards.add(unpackId(await user()).shard);
		assert.deepEqual([...shards].toSorted(), [0, 1, 2, 3]);
	});

	it("put a new object on every list that follows its references", async () => {
		const [owner, other] = [await user(), await user()];
		const first = await board(owner);
		const second = await board(other);
		const original = await pin(owner, first);
		const copy = await pin(other, second, { origin_id: original });
		assert.deepEqual(await listOf(graph, "ownBoard", other), {
			ids: [second],
			count: 1,
		});
		assert.deepEqual(await listOf(graph, "placePin", second), {
			ids: [copy],
			count: 1,
		});
		assert.deepEqual(await listOf(graph, "ownPin", other), {
			ids: [copy],
			count: 1,
		});
		assert.deepEqual(await listOf(graph, "repin", original), {
			ids: [copy],
			count: 1,
		});
	});

	it("write both sides of an edge, once however often it is made or removed", async () => {
		const [one, two] = [await user(), await user()];
		const follow = graph.mapping("followUser");
		for (const present of [true, true, false, false, true]) {
			await graph.writes.setEdge(follow, one, two, present);
		}
		assert.deepEqual(await listOf(graph, "followUser", one), {
			ids: [two],
			count: 1,
		});
		assert.deepEqual(await listOf(graph, "followUser.inverse", two), {
			ids: [one],
			count: 1,
		});
		await graph.writes.setEdge(follow, one, two, false);
		for (const [name, id] of [
			["followUser", one],
			["followUser.inverse", two],
		] as const) {
			assert.deepEqual(await listOf(graph, name, id), { ids: [], count: 0 });
		}
	});

	it("take a removed object off its lists, and removing it twice is no error", async () => {
		const owner = await user();
		const on = await board(owner);
		const [keep, gone] = [await pin(owner, on), await pin(owner, on)];
		await graph.writes.remove(gone);
		await graph.writes.remove(gone);
		assert.deepEqual(await listOf(graph, "placePin", on), {
			ids: [keep],
			count: 1,
		});
		assert.deepEqual(await graph.view().readObjects([gone]), [null]);
	});

	it("show a request its own writes, whatever it had read before", async () => {
		const owner = await user();
		const on = await board(owner, "before");
		const view = new View(graph.store, owner);
		const writes = createWrites(graph.store, () => view.discardReads());
		await view.readObjects([on]);
		await writes.modify(on, (data) => ({ ...data, name: "after" }));
		const [node] = await view.readObjects([on]);
		assert.equal((node as Node).data.name, "after");
	});

	it("show the count of a list as they committed it, until the request writes again", async () => {
		const [owner, other] = [await user(), await user()];
		const on = await board(owner);
		const liked = await pin(owner, on);
		const like = graph.mapping("likePin");
		for (const from of [owner, other]) {
			const view = new View(graph.store, from);
			const writes = createWrites(graph.store, (written) =>
				view.discardReads(written),
			);
			const counts = async () => {
				const pages = await Promise.all([
					view.readPages(graph.mapping("likePin.inverse"), [liked], {
						first: 0,
						fields: { ...WANT, edges: false },
					}),
					view.readPages(like, [from, owner], {
						first: 0,
						fields: { ...WANT, edges: false },
					}),
				]);
				return pages.flat().map((page) => (page as Page).totalCount);
			};
			const others = await Promise.all([user(), user()]);
			await writes.setEdge(like, from, liked, true);
			const { count } = await listOf(graph, "likePin.inverse", liked);
			assert.deepEqual(await counts(), [count, 1, 1]);
			assert.deepEqual(await view.hasEdges(like, from, [liked]), [true]);

			// Others write it before the request reads its payload.
			for (const one of others) {
				await graph.writes.setEdge(like, one, liked, true);
			}
			assert.deepEqual(await counts(), [count, 1, 1]);
			await writes.modify(from, (data) => ({ ...data, about: "other" }));
			assert.deepEqual(await counts(), [(count ?? 0) + 2, 1, 1]);
		}
	});

	it("lose no edit of two concurrent edits", async () => {
		const owner = await user();
		const on = await board(owner, "0");
		await Promise.all(
			Array.from({ length: 20 }, () =>
				graph.writes.modify(on, (data) => ({
					...data,
					name: String(Number(data.name) + 1),
				})),
			),
		);
		const [node] = await graph.view(owner).readObjects([on]);
		assert.equal((node as Node).data.name, "20");
	});

	describe("move a pin", () => {
		let owner: Id;
		let on: Id;
		let pins: Id[];
		const place = (object: Id, beside: { before?: Id; after?: Id } = {}) =>
			graph.writes.move({
				mapping: graph.mapping("placePin"),
				object,
				from: on,
				...beside,
			});
		const order = async () =>
			(await listOf(graph, "placePin", on)).ids.map((id) => pins.indexOf(id));

		before(async () => {
			owner = await user();
			on = await board(owner);
			pins = [];
			for (let n = 0; n < 5; n++) pins.unshift(await pin(owner, on));
		});

		it("before one, after one, and to the top", async () => {
			await place(pins[4] as Id, { before: pins[1] as Id });
			assert.deepEqual(await order(), [0, 4, 1, 2, 3]);
			await place(pins[0] as Id, { after: pins[3] as Id });
			assert.deepEqual(await order(), [4, 1, 2, 3, 0]);
			await place(pins[2] as Id);
			assert.deepEqual(await order(), [2, 4, 1, 3, 0]);
			await place(pins[2] as Id, { after: pins[2] as Id });
			assert.deepEqual(await order(), [2, 4, 1, 3, 0]);
			assert.equal((await listOf(graph, "placePin", on)).count, 5);
		});

		it("between two over and over, past the point where there is no gap, and a cursor stays good", async () => {
			const before = await order();
			const cursorAt = async (size: number) => {
				const [page] = await graph
					.view()
					.readPages(graph.mapping("placePin"), [on], {
						first: size,
						fields: { ...WANT, cursors: true },
					});
				return (page as Page).endCursor as string;
			};
			const afterThree = await cursorAt(3);
			const [top, second, third] = before.map((n) => pins[n] as Id);
			for (let n = 0; n < 60; n++) {
				await place((n % 2 === 0 ? second : third) as Id, {
					after: top as Id,
				});
			}
			const [rest] = await graph
				.view()
				.readPages(graph.mapping("placePin"), [on], {
					first: 10,
					after: afterThree,
					fields: WANT,
				});
			assert.deepEqual(
				await order(),
				before.with(1, before[2] as number).with(2, before[1] as number),
			);
			// The cursor stood on the third, which moved up: what follows it now is
			// the old second and the two that never moved.
			assert.deepEqual(
				(rest as Page).edges
					.map(({ node }) => pins.indexOf((node as { id: Id }).id))
					.slice(-2),
				before.slice(3),
			);
		});

		it("to another board, wherever that is", async () => {
			const other = await user();
			for (let n = 0; n < 6; n++) {
				// On some of these the pin is on another shard than its board.
				const target = await board(await user());
				const moved = await pin(other, await board(other));
				const [home] = await graph.view(other).readObjects([moved]);
				await graph.writes.move({
					mapping: graph.mapping("placePin"),
					object: moved,
					from: target,
				});
				assert.deepEqual(await listOf(graph, "placePin", target), {
					ids: [moved],
					count: 1,
				});
				assert.deepEqual(
					await listOf(graph, "placePin", (home as Node).data.board_id as Id),
					{
						ids: [],
						count: 0,
					},
				);
				const [node] = await graph.view(other).readObjects([moved]);
				assert.equal((node as Node).data.board_id, target);
				// It can be removed, and comes off the list it is on now.
				await graph.writes.remove(moved);
				assert.deepEqual(await listOf(graph, "placePin", target), {
					ids: [],
					count: 0,
				});
			}
		});

		it("next to a neighbor that is not on the board: NOT_FOUND", async () => {
			const stranger = await pin(owner, await board(owner));
			await assert.rejects(
				place(pins[0] as Id, { before: stranger }),
				isCode("NOT_FOUND"),
			);
		});
	});

	describe("with an idempotency key", () => {
		const create = (owner: Id, key: string, name: string) =>
			graph.writes.create({
				type: "Board",
				data: { name, user_id: owner },
				idempotency: { scope: `createBoard ${owner}`, key, request: { name } },
			});

		it("create one object, also when repeated at the same time", async () => {
			const owner = await user();
			const ids = await Promise.all([
				create(owner, "k", "one"),
				create(owner, "k", "one"),
				create(owner, "k", "one"),
			]);
			ids.push(await create(owner, "k", "one"));
			assert.equal(new Set(ids).size, 1);
			assert.deepEqual(await listOf(graph, "ownBoard", owner), {
				ids: [ids[0]],
				count: 1,
			});
		});

		it("reject a different request with the same key, per owner of the key", async () => {
			const [owner, other] = [await user(), await user()];
			const first = await create(owner, "k", "one");
			await assert.rejects(create(owner, "k", "two"), isCode("BAD_USER_INPUT"));
			assert.notEqual(await create(other, "k", "one"), first);
		});
	});
});

describe("the outbox entry of a write", () => {
	it("is delivered by the outbox worker when the other shard was down, and both sides agree", async () => {
		let down = -1;
		await using graph = await openEmbedded({
			wrap: failing({
				transact: ({ shard }) => (shard === down ? "before" : null),
			}),
		});
		const { writes } = graph;
		const [one, two] = await twoShards(graph);
		down = unpackId(two).shard;
		await writes.setEdge(graph.mapping("followUser"), one, two, true);
		assert.deepEqual((await listOf(graph, "followUser", one)).ids, [two]);
		assert.deepEqual((await listOf(graph, "followUser.inverse", two)).ids, []);
		const stuck = await deliverPending(new WritePipeline(graph.store), 0);
		assert.deepEqual([stuck.delivered, stuck.undelivered], [0, 1]);

		down = -1;
		assert.deepEqual(await deliverPending(new WritePipeline(graph.store), 0), {
			delivered: 1,
			undelivered: 0,
			unreadable: 0,
		});
		assert.deepEqual(await listOf(graph, "followUser.inverse", two), {
			ids: [one],
			count: 1,
		});
		assert.deepEqual(
			await graph.storage.pendingEntries({ olderThanMs: 0, limit: 10 }),
			[],
		);
	});

	it("changes nothing when it is delivered after a newer one", async () => {
		let down = -1;
		await using graph = await openEmbedded({
			wrap: failing({
				transact: ({ shard }) => (shard === down ? "before" : null),
			}),
		});
		const { writes } = graph;
		const follow = graph.mapping("followUser");
		const [one, two] = await twoShards(graph);
		down = unpackId(two).shard;
		await writes.setEdge(follow, one, two, true);
		const [early] = await graph.storage.pendingEntries({
			olderThanMs: 0,
			limit: 10,
		});
		down = -1;
		await writes.setEdge(follow, one, two, false);
		await deliverPending(new WritePipeline(graph.store), 0);
		// The first deliverer slept through the unfollow and delivers what it once read.
		const { deliver } = await import("../../../src/graph/outbox/deliver.ts");
		assert.ok(early);
		await deliver(new WritePipeline(graph.store), [early]);
		assert.deepEqual(await listOf(graph, "followUser.inverse", two), {
			ids: [],
			count: 0,
		});
	});

	it("is not lost when the outcome of a commit is unknown", async () => {
		let lose = false;
		await using graph = await openEmbedded({
			wrap: failing({
				transact: () => (lose ? "after" : null),
			}),
		});
		const [one, two] = await twoShards(graph);
		await graph.view().readPages(graph.mapping("followUser"), [one], {
			first: 5,
			fields: WANT,
		});
		lose = true;
		await assert.rejects(
			graph.writes.setEdge(graph.mapping("followUser"), one, two, true),
			isCode("UNAVAILABLE"),
		);
		lose = false;
		// It did commit: the process that wrote must not keep showing the list as it was.
		const [page] = await graph
			.view()
			.readPages(graph.mapping("followUser"), [one], {
				first: 5,
				fields: WANT,
			});
		assert.equal((page as Page).totalCount, 1);
		await deliverPending(new WritePipeline(graph.store), 0);
		assert.deepEqual((await listOf(graph, "followUser.inverse", two)).ids, [
			one,
		]);
	});
});

describe("natural keys", () => {
	it("are reserved by one of many concurrent requests, in any spelling", async () => {
		await using graph = await openEmbedded();
		const results = await Promise.allSettled(
			["Ada", "ada", "ADA", "aDa", "adA"].map((username) =>
				graph.writes.create({ type: "User", data: { username } }),
			),
		);
		const won = results.filter(({ status }) => status === "fulfilled");
		assert.equal(won.length, 1);
		for (const result of results) {
			if (result.status === "rejected") {
				assert.ok(isCode("CONFLICT")(result.reason));
			}
		}
	});

	it("are released by a user who was rejected for another key", async () => {
		await using graph = await openEmbedded();
		const { writes } = graph;
		await writes.create({
			type: "User",
			data: { username: "ada", email: "a@example.com" },
		});
		// This one wins its username and then loses the address.
		await assert.rejects(
			writes.create({
				type: "User",
				data: { username: "bo", email: "A@example.com" },
			}),
			isCode("CONFLICT"),
		);
		const bo = await writes.create({ type: "User", data: { username: "bo" } });
		const username = graph.store.model.lookups.get("username");
		assert.ok(username);
		assert.deepEqual(await graph.view().lookUp(username, ["BO"]), [bo]);
	});

	it("are reserved by the outbox worker for a user whose creator died, who is invisible until then", async () => {
		let dead = false;
		await using graph = await openEmbedded({
			wrap: failing({ setLookups: () => dead }),
		});
		dead = true;
		await assert.rejects(
			graph.writes.create({ type: "User", data: { username: "ada" } }),
		);
		const [row] = await graph.storage.pendingEntries({
			olderThanMs: 0,
			limit: 10,
		});
		assert.ok(row?.entry);
		const [id] = row.entry.pendingObjects as unknown as [Id];
		assert.deepEqual(await new View(graph.cold(), id).readObjects([id]), [
			null,
		]);
		dead = false;
		await deliverPending(new WritePipeline(graph.store), 0);
		const [user] = await new View(graph.cold(), null).readObjects([id]);
		assert.equal((user as { id: Id }).id, id);
	});

	for (const where of ["read", "locked"] as const) {
		it(`are not taken, but the user is lost, where a failover lost the pending user before it was ${where}`, async () => {
			let lost: "read" | "locked" | null = null;
			await using graph = await openEmbedded({
				wrap: losing(() => lost),
			});
			lost = where;
			await assert.rejects(
				graph.writes.create({ type: "User", data: { username: "ada" } }),
				isCode("UNAVAILABLE"),
			);
			lost = null;
			if (where === "locked") {
				await graph.writes.create({ type: "User", data: { username: "ada" } });
			}
		});
	}

	it("are released by their token alone: from a to b and back keeps a", async () => {
		await using graph = await openEmbedded();
		const { writes } = graph;
		const id = await writes.create({ type: "User", data: { username: "a_a" } });
		const rename = (username: string) =>
			writes.modify(id, (data) => ({ ...data, username }));
		await rename("b_b");
		await rename("a_a");
		const username = graph.store.model.lookups.get("username");
		assert.ok(username);
		assert.deepEqual(await graph.view().lookUp(username, ["a_a", "b_b"]), [
			id,
			null,
		]);
		const other = await writes.create({
			type: "User",
			data: { username: "b_b" },
		});
		await assert.rejects(rename("B_B"), isCode("CONFLICT"));
		assert.deepEqual(await graph.view().lookUp(username, ["a_a", "b_b"]), [
			id,
			other,
		]);
		assert.deepEqual(
			await graph.storage.pendingEntries({ olderThanMs: 0, limit: 10 }),
			[],
		);
	});

	it("do not fail a committed rename whose outbox entry cannot be deleted yet", async () => {
		let dead = false;
		let renaming = false;
		await using graph = await openEmbedded({
			wrap: failing({
				settle: () => dead,
				// From the switch of the user's row on.
				transact: ({ objects }) => {
					if (renaming && objects !== undefined) dead = true;
					return null;
				},
			}),
		});
		const { writes } = graph;
		const id = await writes.create({ type: "User", data: { username: "old" } });
		renaming = true;
		await writes.modify(id, (data) => ({ ...data, username: "new" }));
		assert.equal(dead, true);
		const [user] = await new View(graph.cold(), null).readObjects([id]);
		assert.equal((user as Node).data.username, "new");
		dead = false;
		renaming = false;
		await deliverPending(new WritePipeline(graph.store), 0);
		await writes.create({ type: "User", data: { username: "old" } });
	});

	it("reserved for a rename that never happened are released by the outbox worker", async () => {
		let die = false;
		await using graph = await openEmbedded({
			wrap: failing({
				// Dies between the claim and the switch of the user's row.
				transact: ({ objects }) =>
					die && objects !== undefined ? "before" : null,
			}),
		});
		const { writes } = graph;
		const id = await writes.create({ type: "User", data: { username: "old" } });
		die = true;
		await assert.rejects(
			writes.modify(id, (data) => ({ ...data, username: "new" })),
		);
		die = false;
		await deliverPending(new WritePipeline(graph.store), 0);
		const other = await writes.create({
			type: "User",
			data: { username: "new" },
		});
		const username = graph.store.model.lookups.get("username");
		assert.ok(username);
		assert.deepEqual(await graph.view().lookUp(username, ["old", "new"]), [
			id,
			other,
		]);
	});
});

/** Two users on two shards. */
async function twoShards(graph: Embedded): Promise<readonly [Id, Id]> {
	const create = (n: number) =>
		graph.writes.create({ type: "User", data: { username: `user_${n}` } });
	const one = await create(0);
	for (let n = 1; ; n++) {
		const two = await create(n);
		if (unpackId(two).shard !== unpackId(one).shard) return [one, two];
	}
}
