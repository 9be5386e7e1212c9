import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { View } from "../../../src/graph/read/view.ts";
import { hidesNone } from "../../../src/graph/read/viewerLists.ts";
import type { Node } from "../../../src/graph/types.ts";
import { type Id, packId, unpackId } from "../../../src/id/ids.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import {
	callsOf,
	type Embedded,
	openEmbedded,
} from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";

describe("the view of one viewer", () => {
	let graph: Embedded;
	let ada: Id;
	let bo: Id;
	let open: Id;
	let secret: Id;
	let pins: Id[];
	let hidden: Id;
	let comment: Id;
	let users = 0;

	before(async () => {
		graph = await openEmbedded();
		const { writes } = graph;
		ada = await writes.create({ type: "User", data: { username: "ada" } });
		bo = await writes.create({ type: "User", data: { username: "bo" } });
		open = await writes.create({
			type: "Board",
			data: { name: "open", user_id: ada },
		});
		secret = await writes.create({
			type: "Board",
			data: { name: "secret", secret: true, user_id: ada },
		});
		pins = [];
		for (let n = 0; n < 5; n++) {
			pins.push(
				await writes.create({
					type: "Pin",
					data: { details: `pin ${n}`, board_id: open, user_id: ada },
				}),
			);
		}
		hidden = await writes.create({
			type: "Pin",
			data: { details: "hidden", board_id: secret, user_id: ada },
		});
		comment = await writes.create({
			type: "Comment",
			data: { text: "psst", pin_id: hidden, user_id: ada },
		});
	});
	after(() => graph[Symbol.asyncDispose]());

	it("hides a secret board, its pins and their comments from everyone but the owner", async () => {
		for (const viewer of [null, bo]) {
			assert.deepEqual(
				await graph.view(viewer).readObjects([secret, hidden, comment]),
				[null, null, null],
			);
		}
		const seen = await graph.view(ada).readObjects([secret, hidden, comment]);
		assert.deepEqual(
			seen.map((node) => (node as { type: string }).type),
			["Board", "Pin", "Comment"],
		);
	});

	it("shows a secret board, its pins and their comments to those it is shared with, until it is not", async () => {
		const share = (present: boolean) =>
			graph.writes.setEdge(graph.mapping("collaborate"), secret, bo, present);
		const seenBy = async (viewer: Id | null, store = graph.store) =>
			(
				await new View(store, viewer).readObjects([secret, hidden, comment])
			).map((node) => (node as Node | null)?.id ?? null);
		await share(true);
		for (const store of [graph.store, graph.store, graph.cold()]) {
			assert.deepEqual(await seenBy(bo, store), [secret, hidden, comment]);
		}
		const stranger = await graph.writes.create({
			type: "User",
			data: { username: "stranger_of_board" },
		});
		for (const other of [null, stranger]) {
			assert.deepEqual(await seenBy(other), [null, null, null]);
		}
		await share(false);
		for (const store of [graph.store, graph.cold()]) {
			assert.deepEqual(await seenBy(bo, store), [null, null, null]);
		}
	});

	it("hides an object from others where what could hide it is damaged, from memory too", async () => {
		const make = (type: string, data: JsonObject) =>
			graph.writes.create({ type, data });
		const board = { name: "b", user_id: ada };
		const pin = { board_id: open, user_id: ada };
		const hiddenIds = await Promise.all([
			...[1, 0, "false", "", {}].map((secret) =>
				make("Board", { ...board, secret }),
			),
			...[0, 1, "false", "", []].map((active) =>
				make("Pin", { ...pin, active }),
			),
			...[1, true, "", {}].map((deactivated_at) =>
				make("User", { username: `gone_${users++}`, deactivated_at }),
			),
			...[7, false, {}].map((user_id) => make("Pin", { ...pin, user_id })),
			...[7, false, {}].map((board_id) => make("Pin", { ...pin, board_id })),
		]);
		const shownIds = await Promise.all([
			make("Board", { ...board, secret: false }),
			make("Board", { ...board, secret: null }),
			make("Pin", { ...pin, active: true }),
			make("Pin", { ...pin, user_id: null }),
			make("User", { username: `here_${users++}`, deactivated_at: null }),
		]);
		const store = graph.cold();
		for (const viewer of [null, bo, null, bo]) {
			const view = new View(store, viewer);
			const hiddenNodes = await view.readObjects(hiddenIds);
			assert.deepEqual(
				hiddenNodes,
				hiddenIds.map(() => null),
			);
			const shown = await new View(store, viewer).readObjects(shownIds);
			assert.deepEqual(
				shown.map((node) => (node as Node | null)?.id),
				shownIds,
			);
		}
	});

	it("reads what is shared with the viewer once, and only where something is hidden", async () => {
		const view = new View(graph.cold(), bo);
		assert.deepEqual(await callsOf(() => view.readObjects([open])), [
			"scanLists 2",
			"readObjects 1",
			"readObjects 1",
		]);
		assert.deepEqual(await callsOf(() => view.readObjects([secret])), [
			"readObjects 1",
			"scanLists 1",
		]);
		assert.deepEqual(await callsOf(() => view.readObjects([hidden])), [
			"readObjects 1",
		]);
	});

	it("shows nothing that may be shared while it is not known with whom", async () => {
		let isDown = false;
		const shared = "collaborate.inverse";
		const none = { list: { count: 0, lastSequence: 0, epoch: 0 }, edges: [] };
		await using world = await openEmbedded({
			wrap: (storage) =>
				storageWith(storage, {
					read: readsWith(storage, {
						lists: async (scans) =>
							isDown
								? scans.map(({ mapping, from }) =>
										mapping.name === shared
											? new CorkboardError("UNAVAILABLE", "down")
											: { ...none, list: { ...none.list, from } },
									)
								: storage.read("lists", scans),
					}),
				}),
		});
		const user = (username: string) =>
			world.writes.create({ type: "User", data: { username } });
		const [owner, viewer] = [await user("owner"), await user("viewer")];
		const board = await world.writes.create({
			type: "Board",
			data: { name: "secret", secret: true, user_id: owner },
		});
		isDown = true;
		const [node] = await new View(world.cold(), viewer).readObjects([board]);
		assert.ok(node instanceof CorkboardError, `${node}`);
		const [own] = await new View(world.cold(), owner).readObjects([board]);
		assert.equal((own as Node).id, board);
	});

	it("returns null for ids without a row, a type or a shard", async () => {
		const ids = [
			packId({ shard: 0, type: 1, local: 999 }),
			packId({ shard: 0, type: 77, local: 1 }),
			packId({ shard: 4000, type: 1, local: 1 }),
			packId({ shard: 0, type: 5, local: 0 }),
			"0" as Id,
		];
		assert.deepEqual(
			await graph.view().readObjects(ids),
			ids.map(() => null),
		);
	});

	it("returns objects in the order of the ids, also repeated ones", async () => {
		const asked = [pins[2], ada, pins[2], pins[0]] as Id[];
		const nodes = await graph.view().readObjects(asked);
		assert.deepEqual(
			nodes.map((node) => (node as { id: Id }).id),
			asked,
		);
	});

	it("reads a level once: pins, then their boards and owners", async () => {
		const view = new View(graph.cold(), null);
		assert.deepEqual(await callsOf(() => view.readObjects(pins)), [
			"readObjects 5",
			"readObjects 2",
		]);
		assert.deepEqual(await callsOf(() => view.readObjects(pins)), []);
	});

	it("merges the reads that sibling branches start in one tick", async () => {
		const view = new View(graph.cold(), null);
		const calls = await callsOf(() =>
			Promise.all([
				view.readObjects([ada, bo]),
				view.readObjects([bo, open]),
				view.readObjects([ada]),
			]),
		);
		assert.deepEqual(calls, ["readObjects 3"]);
	});

	it("reads nothing from storage for objects cached in the process", async () => {
		const store = graph.cold();
		await new View(store, null).readObjects([...pins, ada]);
		const calls = await callsOf(() =>
			new View(store, null).readObjects([...pins, ada, open]),
		);
		assert.deepEqual(calls, []);
	});

	it("answers without a promise where all is cached in the process, visibility included", async () => {
		const store = graph.cold();
		const mapping = graph.mapping("placePin");
		const likes = graph.mapping("likePin");
		const username = theModel().model.lookups.get("username");
		assert.ok(username);
		const page = {
			first: 2,
			fields: {
				edges: true,
				hasNextPage: true,
				hasPreviousPage: true,
				cursors: true,
				totalCount: true,
			},
		};
		const read = () => {
			const view = new View(store, bo);
			return [
				view.readObjects([...pins, comment]),
				view.readPages(mapping, [open], page),
				view.hasEdges(likes, bo, pins),
				view.lookUp(username, ["ADA", "nobody"]),
			];
		};
		const first = await Promise.all(read());
		const again = read();
		assert.ok(again.every(Array.isArray), "a read returned a promise");
		const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
		assert.deepEqual(plain(again), plain(first));
		store.invalidator.invalidateLocally({ objects: [ada] });
		const [objects, ...others] = read();
		assert.ok(objects instanceof Promise, "the owner of all pins is missing");
		assert.deepEqual(plain(await objects), plain(first[0]));
		await Promise.all(others);
	});

	it("sees one state of each object, parents and owners too, where the cache changes between its reads", async () => {
		const user = await graph.writes.create({
			type: "User",
			data: { username: "once_open" },
		});
		const board = await graph.writes.create({
			type: "Board",
			data: { name: "old", user_id: user },
		});
		const [one, other] = [
			await graph.writes.create({
				type: "Pin",
				data: { details: "old", board_id: board, user_id: user },
			}),
			await graph.writes.create({
				type: "Pin",
				data: { details: "old", board_id: board, user_id: user },
			}),
		];
		const store = graph.cold();
		await new View(store, null).readObjects([one, other]);
		const view = new View(store, null);
		const [first] = await view.readObjects([one]);
		assert.equal((first as Node).data.details, "old");
		for (const [id, change] of [
			[one, { details: "new" }],
			[board, { secret: true }],
		] as const) {
			await graph.writes.modify(id, (data) => ({ ...data, ...change }));
		}
		store.invalidator.invalidateLocally({ objects: [one, board] });
		const again = await view.readObjects([one, other]);
		assert.equal(again[0], first);
		assert.ok(again[1], "the board is still that of this request");
		assert.deepEqual(await new View(store, null).readObjects([one, other]), [
			null,
			null,
		]);
		// If all that changed is in memory again, a running request still sees what it saw.
		assert.equal((await view.readObjects([one]))[0], first);
	});

	it("shows no object that is a part of itself", async () => {
		const own = await graph.writes.create({
			type: "Pin",
			data: { details: "own", board_id: open, user_id: ada },
		});
		await graph.writes.modify(own, (data) => ({ ...data, board_id: own }));
		const store = graph.cold();
		for (const _ of ["from the shard", "from memory"]) {
			assert.deepEqual(await new View(store, null).readObjects([own]), [null]);
		}
	});

	it("reads the block lists of the viewer once, beside the first objects", async () => {
		const store = graph.cold();
		const view = new View(store, bo);
		assert.deepEqual(await callsOf(() => view.readObjects(pins)), [
			"scanLists 2",
			"readObjects 5",
			"readObjects 2",
		]);
		assert.deepEqual(await callsOf(() => view.readObjects([ada])), []);
		const next = new View(store, bo);
		assert.deepEqual(await callsOf(() => next.readObjects(pins)), []);
	});

	it("reads the long block lists of a viewer once, and keeps them for later requests", async () => {
		const block = graph.mapping("blockUser");
		const create = (username: string) =>
			graph.writes.create({ type: "User", data: { username } });
		const many = await create("blocks_many");
		// More than a page has, in both directions.
		const others: Id[] = [];
		for (let n = 0; n < 40; n++) {
			const other = await create(`one_of_many_${n}`);
			others.push(other);
			await graph.writes.setEdge(block, many, other, true);
			await graph.writes.setEdge(block, other, many, true);
		}
		const [first] = others as [Id];
		const ofFirst = await graph.writes.create({
			type: "Board",
			data: { name: "hidden by a block", user_id: first },
		});
		const store = graph.cold();
		const read = async () => {
			const view = new View(store, many);
			const seen = await view.readObjects([...pins, ofFirst]);
			assert.deepEqual(
				seen.map((node) => node !== null),
				[...pins.map(() => true), false],
			);
		};
		const cold = await callsOf(read);
		assert.ok(!cold.some((call) => /^readEdges/.test(call)), cold.join());
		assert.deepEqual(await callsOf(read), []);
		// A kept answer is for this viewer too, if it shows none of those.
		assert.equal(hidesNone(store, many, new Set([ada, bo])), true);
		assert.equal(hidesNone(store, many, new Set([ada, first])), false);
	});

	it("reads the membership of many objects at once, and from memory the second time", async () => {
		const likes = graph.mapping("likePin");
		await graph.writes.setEdge(likes, bo, pins[1] as Id, true);
		await graph.writes.setEdge(likes, bo, pins[3] as Id, true);
		await graph.writes.setEdge(likes, bo, pins[3] as Id, false);
		const view = new View(graph.cold(), bo);
		const first = await callsOf(async () => {
			assert.deepEqual(await view.hasEdges(likes, bo, pins), [
				false,
				true,
				false,
				false,
				false,
			]);
		});
		assert.deepEqual(first, ["scanLists 1"]);
		const again = await callsOf(async () => {
			assert.deepEqual(
				await view.hasEdges(likes, bo, [pins[1], pins[2]] as Id[]),
				[true, false],
			);
		});
		assert.deepEqual(again, []);
	});

	it("returns errors for keys of a host that is down and results for the others", async () => {
		const dead = new CorkboardError("UNAVAILABLE", "down");
		await using broken = await openEmbedded({
			wrap: (storage) =>
				storageWith(storage, {
					read: readsWith(storage, {
						async objects(ids) {
							const answers = await storage.read("objects", ids);
							return ids.map((id, at) =>
								down.has(id) ? dead : (answers[at] ?? null),
							);
						},
					}),
				}),
		});
		const down = new Set<Id>();
		const user = await broken.writes.create({
			type: "User",
			data: { username: "up" },
		});
		const board = await broken.writes.create({
			type: "Board",
			data: { name: "b", user_id: user },
		});
		const pin = await broken.writes.create({
			type: "Pin",
			data: { board_id: board, user_id: user },
		});
		down.add(board);
		const store = broken.cold();
		const answers = await new View(store, null).readObjects([user, board, pin]);
		assert.equal((answers[0] as { id: Id }).id, user);
		assert.equal(answers[1], dead);
		// Its visibility is unknown while its board does not answer.
		assert.equal(answers[2], dead);
		down.clear();
		const later = await new View(store, null).readObjects([board]);
		assert.equal((later[0] as { id: Id }).id, board, "the error was kept");
	});
});

describe("what a list holds of a group", () => {
	let graph: Embedded;
	let ada: Id;
	let board: Id;
	let origins: Id[];

	const create = (type: string, data: Node["data"]) =>
		graph.writes.create({ type, data });
	const pinOn = (board_id: Id, user_id: Id, origin_id?: Id) =>
		create("Pin", { board_id, user_id, ...(origin_id && { origin_id }) });
	const savesOf = async (
		groups: readonly Id[],
		{ limit = 10, store = graph.store, viewer = ada as Id | null } = {},
	) => {
		const view = new View(store, viewer);
		const found = await view.readGroups(
			graph.mapping("savePin"),
			ada,
			groups,
			limit,
		);
		return found.map((nodes) => {
			assert.ok(!(nodes instanceof CorkboardError));
			return nodes.map((node) => (node as Node).id);
		});
	};

	before(async () => {
		graph = await openEmbedded();
		ada = await create("User", { username: "ada_saves" });
		const bo = await create("User", { username: "bo_is_saved" });
		const [mine, theirs] = await Promise.all(
			[ada, bo].map((user_id) => create("Board", { name: "b", user_id })),
		);
		board = mine as Id;
		origins = [];
		for (let n = 0; n < 3; n++) origins.push(await pinOn(theirs as Id, bo));
	});
	after(() => graph[Symbol.asyncDispose]());

	it("is there from the first save to the last deletion, no matter who reads the list, and for its owner only", async () => {
		const [one, other] = origins as [Id, Id];
		assert.deepEqual(await savesOf([one, other]), [[], []]);
		const first = await pinOn(board, ada, one);
		const second = await pinOn(board, ada, one);
		for (const store of [graph.store, graph.cold()]) {
			const [saves, none] = await savesOf([one, other, one], { store });
			assert.deepEqual(saves?.toSorted(), [first, second].toSorted());
			assert.deepEqual(none, []);
			assert.equal((await savesOf([one], { store, limit: 1 }))[0]?.length, 1);
		}
		for (const viewer of [null, other]) {
			assert.deepEqual(await savesOf([one], { viewer }), [[]]);
		}
		await graph.writes.remove(first);
		assert.deepEqual(await savesOf([one]), [[second]]);
		// Another update of the pin leaves it where it is.
		await graph.writes.modify(second, (data) => ({ ...data, details: "x" }));
		assert.deepEqual(await savesOf([one]), [[second]]);
		await graph.writes.modify(second, (data) => ({
			...data,
			origin_id: other,
		}));
		assert.deepEqual(await savesOf([one, other]), [[], [second]]);
		await graph.writes.remove(second);
		assert.deepEqual(await savesOf([one, other]), [[], []]);
	});

	it("is read with one storage call for all groups where the list is long, and from memory where it is short", async () => {
		const [one, other, most] = origins as [Id, Id, Id];
		const saves = [
			await pinOn(board, ada, one),
			await pinOn(board, ada, other),
		] as const;
		await savesOf([one, other]);
		assert.deepEqual(await callsOf(() => savesOf([one, other, most])), []);
		// Before the others in the list, and more than a head of it holds.
		const others: Id[] = [];
		for (let n = 0; n < 40; n++) others.push(await pinOn(board, ada, most));
		const store = graph.cold();
		const read = async () => {
			const groups = await savesOf([one, other, most], { store });
			assert.deepEqual(groups.slice(0, 2), [[saves[0]], [saves[1]]]);
			assert.equal(groups[2]?.length, 10);
		};
		const isOfList = (call: string) => call.startsWith("scanLists");
		assert.deepEqual((await callsOf(read)).filter(isOfList), [
			"scanLists 1",
			"scanLists 2",
			"scanLists 2", // The viewer's lists that hide something, beside the objects.
		]);
		// What is behind the head is kept beside it, until the list changes.
		assert.deepEqual(await callsOf(read), []);
		const first = await pinOn(board, ada, one);
		store.caches.invalidateAll();
		const [changed] = await savesOf([one], { store });
		assert.deepEqual(changed?.toSorted(), [saves[0], first].toSorted());
		for (const id of [...saves, first, ...others])
			await graph.writes.remove(id);
	});

	it("follows to another shard: a save on a board of somebody who lives there", async () => {
		const [one] = origins as [Id];
		const shardOf = (id: Id) => unpackId(id).shard;
		let host = ada;
		for (let n = 0; shardOf(host) === shardOf(ada); n++) {
			host = await create("User", { username: `host_${n}` });
		}
		const there = await create("Board", { name: "b", user_id: host });
		const save = await pinOn(there, ada, one);
		assert.notEqual(shardOf(save), shardOf(ada));
		assert.deepEqual(await savesOf([one]), [[save]]);
		await graph.writes.remove(save);
		for (const store of [graph.store, graph.cold()]) {
			assert.deepEqual(await savesOf([one], { store }), [[]]);
		}
	});

	it("goes on behind objects that the viewer does not see", async () => {
		const [one] = origins as [Id];
		const gone = await create("Board", { name: "gone", user_id: ada });
		const shown = await pinOn(board, ada, one);
		for (let n = 0; n < 5; n++) await pinOn(gone, ada, one);
		await graph.writes.remove(gone);
		for (const store of [graph.store, graph.cold()]) {
			for (const limit of [1, 10]) {
				assert.deepEqual(await savesOf([one], { limit, store }), [[shown]]);
			}
		}
	});
});
