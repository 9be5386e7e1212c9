import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { View } from "../../../src/graph/read/view.ts";
import { Store } from "../../../src/graph/store/store.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { Mapping } from "../../../src/model/types.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import { sharedHeads } from "../../helpers/pagingWorld.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";

/** 100,000 answers take minutes: CORKBOARD_KEPT_STEPS=12500. */
const STEPS = Number(process.env.CORKBOARD_KEPT_STEPS ?? 60);
const SEED = Number(process.env.CORKBOARD_KEPT_SEED ?? randomInt(2 ** 31));
console.log(`seed ${SEED}, repeated by CORKBOARD_KEPT_SEED=${SEED}`);

const PINS = 150;
const USERS = 60;
const FIELDS = {
	edges: true,
	cursors: true,
	totalCount: true,
	hasNextPage: true,
	hasPreviousPage: true,
};

/** docs/consistency.md, "3. Caches". */
describe("what viewers see through what processes keep", () => {
	let graph: Embedded;
	/** Two processes that share heads, and a third one that keeps little. */
	let stores: readonly Store[];
	let nothing: Store;
	let viewers: readonly (Id | null)[];
	let users: readonly Id[];
	let boards: readonly Id[];
	let pins: readonly Id[];
	let like: Mapping;
	let block: Mapping;
	let follow: Mapping;
	let pinsOf: Mapping;
	/** Whether lists cannot be read from the shards. */
	let isDown = false;
	const redis = sharedHeads();

	before(async () => {
		graph = await openEmbedded();
		[like, block, follow, pinsOf] = [
			...["likePin", "blockUser", "followUser", "placePin"],
		].map((name) => graph.mapping(name)) as [
			Mapping,
			Mapping,
			Mapping,
			Mapping,
		];
		const { writes } = graph;
		users = await Promise.all(
			Array.from({ length: USERS }, (_, n) =>
				writes.create({ type: "User", data: { username: `user_${n}` } }),
			),
		);
		viewers = [users[0] as Id, users[1] as Id, null];
		boards = await Promise.all(
			[2, 3, 4].map((owner) =>
				writes.create({
					type: "Board",
					data: { name: "b", user_id: users[owner] as Id, secret: owner === 4 },
				}),
			),
		);
		pins = await Promise.all(
			Array.from({ length: PINS }, (_, n) =>
				newPin(writes, n < 110 ? 0 : n < 140 ? 1 : 2),
			),
		);
		// Longer than the heads of first pages.
		for (const viewer of users.slice(0, 2)) {
			for (const pin of pins.slice(0, 50)) {
				await writes.setEdge(like, viewer, pin, true);
			}
		}
		stores = [10_000_000, 10_000_000, 20_000].map(processWith);
		nothing = new Store({ ...common(), cacheBytes: 0 });
	});
	after(() => graph[Symbol.asyncDispose]());

	const newPin = (writes: Embedded["writes"], on: number) =>
		writes.create({
			type: "Pin",
			data: { user_id: users[2 + on] as Id, board_id: boards[on] as Id },
		});

	function common() {
		const { model, domain } = theModel();
		const cursors = createCursorCodec(Buffer.alloc(32, 1));
		return { model, domain, cursors, storage: graph.storage };
	}

	function processWith(cacheBytes: number): Store {
		const store: Store = new Store({
			...common(),
			storage: failing(graph.storage),
			cacheBytes,
			shared: {
				objects: null,
				heads: redis.cache,
				publish: async (keys) => {
					for (const other of stores) other.caches.applyInvalidations(keys);
					return true;
				},
				publishBehindDeletes: () => null,
				untilPublished: async () => true,
				generationOf: () => 1,
			},
		});
		return store;
	}

	function failing(storage: Storage): Storage {
		const read = readsWith(storage, {
			lists: async (scans) =>
				isDown
					? scans.map(() => new CorkboardError("UNAVAILABLE", "down"))
					: storage.read("lists", scans),
		});
		return storageWith(storage, { read });
	}

	/** What a viewer is shown: likes of many pins, a scroll through a board, whom it follows. */
	async function shownTo(viewer: Id | null, store: Store, at: number) {
		const view = new View(store, viewer);
		const board = boards[at % 3] as Id;
		const shown: unknown[] = [];
		let after: string | undefined;
		for (let page = 0; page < 1 + (at % 5); page++) {
			const wanted = { first: 25, fields: FIELDS, ...(after && { after }) };
			const [found] = await view.readPages(pinsOf, [board], wanted);
			if (!found || found instanceof CorkboardError) return [found];
			const ids = found.nodes.map((node) => idOf(node));
			const { endCursor, totalCount, hasNextPage } = found;
			shown.push({ ids, endCursor, totalCount, hasNextPage });
			shown.push(found.edges.map((edge) => edge.cursor()));
			const known = ids.filter((id): id is Id => typeof id === "string");
			if (viewer !== null) {
				shown.push(await view.hasEdges(like, viewer, known));
			}
			if (endCursor === null) break;
			after = endCursor;
		}
		const nodes = await view.readObjects([...users, ...boards]);
		shown.push(nodes.map((node) => node && idOf(node)));
		if (viewer !== null) shown.push(await view.hasEdges(follow, viewer, users));
		return shown;
	}

	it(`is what they see through a process that keeps nothing, after each of ${STEPS} changes and through faults`, async () => {
		const random = seededRandom(SEED);
		const below = (count: number) => random.integer(0, count - 1);
		let compared = 0;
		let failed = 0;
		for (let step = 0; step < STEPS; step++) {
			const writes = createWrites(random.pick(stores.slice(0, 2)));
			const viewer = random.pick(viewers.slice(0, 2)) as Id;
			const isThere = random.chance(0.7);
			const kind = random.fraction();
			if (kind < 0.4) {
				for (let n = 0; n < 12; n++) {
					await writes.setEdge(like, viewer, random.pick(pins), isThere);
				}
			} else if (kind < 0.55) {
				await writes.setEdge(follow, viewer, random.pick(users), isThere);
			} else if (kind < 0.7) {
				// Mostly of those who own nothing: their lists grow longer than most heads.
				const other = users[
					random.chance(0.1) ? 2 : 5 + below(USERS - 5)
				] as Id;
				await writes.setEdge(block, viewer, other, isThere);
				await writes.setEdge(
					block,
					other,
					viewer,
					isThere && random.chance(0.5),
				);
			} else if (kind < 0.8) {
				const secret = random.chance(0.5);
				const board = random.pick(boards);
				await writes.modify(board, (data) => ({ ...data, secret }));
			} else await newPin(writes, below(2));
			const at = below(1_000);
			const seen = await Promise.all(
				viewers.map((viewer) => shownTo(viewer, nothing, at)),
			);
			isDown = random.chance(0.1);
			for (const store of stores) {
				const shown = await Promise.all(
					viewers.map((viewer) => shownTo(viewer, store, at)),
				);
				for (const [nth, answer] of shown.entries()) {
					if (JSON.stringify(answer).includes("UNAVAILABLE")) {
						assert.ok(isDown);
						failed++;
						continue;
					}
					compared++;
					assert.deepEqual(answer, seen[nth], `step ${step}, viewer ${nth}`);
				}
			}
			isDown = false;
		}
		assert.ok(compared > STEPS * 6, `${compared} compared, ${failed} failed`);
	});
});

function idOf(node: object | null): unknown {
	if (node === null) return null;
	return "id" in node ? node.id : (node as CorkboardError).code;
}
