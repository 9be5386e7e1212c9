import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { View } from "../../../src/graph/read/view.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import {
	callsOf,
	type Embedded,
	openEmbedded,
} from "../../helpers/embedded.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";

/** More than a head holds. */
const MANY = 40;

describe("block lists longer than a head", () => {
	let graph: Embedded;
	let viewer: Id;
	let strangers: readonly Id[];
	let blockers: readonly Id[];
	let blocked: readonly Id[];
	let isDown = false;

	before(async () => {
		graph = await openEmbedded({ wrap: failing });
		const user = (username: string) =>
			graph.writes.create({ type: "User", data: { username } });
		const users = (name: string, count: number) =>
			Promise.all(
				Array.from({ length: count }, (_, n) => user(`${name}_${n}`)),
			);
		viewer = await user("the_viewer");
		strangers = await users("stranger", 3);
		blockers = await users("blocker", MANY);
		blocked = await users("blocked", MANY);
		const block = graph.mapping("blockUser");
		for (const blocker of blockers) {
			await graph.writes.setEdge(block, blocker, viewer, true);
		}
		for (const one of blocked) {
			await graph.writes.setEdge(block, viewer, one, true);
		}
	});
	after(() => graph[Symbol.asyncDispose]());

	/** Lists cannot be read while it is down. */
	function failing(storage: Storage): Storage {
		const read = readsWith(storage, {
			lists: async (scans) =>
				isDown
					? scans.map(() => new CorkboardError("UNAVAILABLE", "down"))
					: storage.read("lists", scans),
		});
		return storageWith(storage, { read });
	}

	it("hide every user who blocks the viewer, and read their lists whole", async () => {
		const view = new View(graph.cold(), viewer);
		const calls = await callsOf(async () => {
			assert.deepEqual(
				await view.readObjects(blockers),
				blockers.map(() => null),
			);
		});
		const [oldest] = blockers as [Id];
		assert.deepEqual(calls.toSorted(), [
			`readObjects ${MANY}`,
			...["scanLists 2", "scanLists 2"],
		]);
		// And what was asked is known.
		assert.deepEqual(await callsOf(() => view.readObjects([oldest])), []);
	});

	it("longer than a head decide for each board whether it is shared with the viewer", async () => {
		const [owner, other] = strangers as [Id, Id];
		const boards = await Promise.all(
			Array.from({ length: MANY + 2 }, (_, n) =>
				graph.writes.create({
					type: "Board",
					data: { name: `b${n}`, secret: true, user_id: owner },
				}),
			),
		);
		const share = graph.mapping("collaborate");
		for (const board of boards.slice(0, MANY)) {
			await graph.writes.setEdge(share, board, other, true);
		}
		const view = new View(graph.cold(), other);
		const nodes = await view.readObjects(boards);
		assert.deepEqual(
			nodes.map((node) => (node as { id: Id } | null)?.id ?? null),
			[...boards.slice(0, MANY), null, null],
		);
	});

	it("show users whom the viewer blocks, strangers and the viewer itself", async () => {
		const asked = [...blocked, ...strangers, viewer];
		const nodes = await new View(graph.cold(), viewer).readObjects(asked);
		assert.deepEqual(
			nodes.map((node) => (node as { id: Id }).id),
			asked,
		);
	});

	it("hide the objects of users who block or are blocked", async () => {
		const boards = await Promise.all(
			[blockers[0], blocked[0], strangers[0]].map((owner) =>
				graph.writes.create({
					type: "Board",
					data: { name: "b", user_id: owner as Id },
				}),
			),
		);
		const seen = await new View(graph.cold(), viewer).readObjects(boards);
		assert.deepEqual(
			seen.map((node) => (node === null ? null : "seen")),
			[null, null, "seen"],
		);
		const anonymous = await new View(graph.cold(), null).readObjects(boards);
		assert.ok(anonymous.every((node) => node !== null));
	});

	it("show no user while they cannot be read", async () => {
		isDown = true;
		try {
			const [node] = await new View(graph.cold(), viewer).readObjects(
				strangers,
			);
			assert.ok(node instanceof CorkboardError);
			assert.equal(node.code, "UNAVAILABLE");
		} finally {
			isDown = false;
		}
	});

	it("can be paged through by their owner only", async () => {
		const fields = {
			edges: true,
			hasNextPage: false,
			hasPreviousPage: false,
			cursors: false,
			totalCount: true,
		};
		const [stranger] = strangers as [Id];
		for (const [who, expected] of [
			[viewer, [MANY, null]],
			[stranger, [null, 0]],
			[null, [null, null]],
		] as const) {
			const pages = await new View(graph.cold(), who).readPages(
				graph.mapping("blockUser"),
				[viewer, stranger],
				{ first: 100, fields },
			);
			assert.deepEqual(
				pages.map((page) =>
					page instanceof CorkboardError ? page : (page?.totalCount ?? null),
				),
				expected,
			);
		}
	});
});
