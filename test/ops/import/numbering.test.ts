import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../../src/id/ids.ts";
import { globalListId } from "../../../src/model/types.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import {
	ada,
	board,
	bob,
	idOf,
	keysOf,
	like,
	listOf,
	pin,
} from "../../helpers/importedGraph.ts";
import { importAll, START } from "../../helpers/importing.ts";

describe("import sequences", () => {
	it("later lines get higher sequences, equal on both sides of an edge", async () => {
		await using graph = await openEmbedded();
		await importAll(
			graph,
			[
				ada,
				bob,
				board,
				pin(1),
				pin(2),
				pin(3),
				like("u:bob", "p:1"),
				like("u:ada", "p:2"),
				like("u:ada", "p:1"),
			],
			{ now: () => START },
		);
		const names = await keysOf(graph, ["u:ada", "u:bob", "p:1", "p:2", "p:3"]);
		const placed = await listOf(graph, "placePin", "b:1");
		assert.deepEqual(
			placed.edges.map(({ to }) => names.get(to)),
			["p:3", "p:2", "p:1"],
		);
		const likedBy = await listOf(graph, "likePin.inverse", "p:1");
		assert.deepEqual(
			likedBy.edges.map(({ to }) => names.get(to)),
			["u:ada", "u:bob"],
		);
		const likes = await listOf(graph, "likePin", "u:ada");
		const base = (START - 86_400_000) * 1_000 + 500;
		assert.deepEqual(
			likes.edges.map(({ sequence }) => sequence),
			[base + 9_000, base + 8_000],
		);
		assert.equal(likedBy.edges[0]?.sequence, base + 9_000);
		assert.equal(likedBy.list.count, 2);
	});

	it("likes after an import get higher sequences than imported likes", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada, bob, board, pin(1), like("u:bob", "p:1")]);
		const mapping = graph.mapping("likePin");
		const [user, liked] = [
			await idOf(graph, "u:ada"),
			await idOf(graph, "p:1"),
		];
		await graph.writes.setEdge(mapping, user as Id, liked as Id, true);
		const { edges } = await listOf(graph, "likePin.inverse", "p:1");
		assert.deepEqual(edges[0]?.to, user);
	});

	it("an import gets higher sequences than users' entries and earlier imports", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada, board, pin(1)]);
		const live = await graph.writes.create({
			type: "Pin",
			data: {
				board_id: (await idOf(graph, "b:1")) as Id,
				user_id: (await idOf(graph, "u:ada")) as Id,
			},
		});
		await importAll(graph, [pin(2)]);
		await importAll(graph, [pin(3)]);
		const names = await keysOf(graph, ["p:1", "p:2", "p:3"]);
		const { edges } = await listOf(graph, "placePin", "b:1");
		assert.deepEqual(
			edges.map(({ to }) => (to === live ? "live" : names.get(to))),
			["p:3", "p:2", "live", "p:1"],
		);
		assert.ok(
			edges
				.slice(1)
				.every(
					({ sequence }, at) =>
						(edges[at]?.sequence as number) - sequence >= 1_000 ||
						names.get(edges[at]?.to as Id) === undefined,
				),
		);
	});

	it("imported interests are added to the global list of interests", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [
			{ type: "Interest", key: "i:1", fields: { slug: "art", name: "Art" } },
			{ type: "Interest", key: "i:2", fields: { slug: "bees", name: "Bees" } },
		]);
		const mapping = graph.mapping("listInterest");
		const [scanned] = await graph.storage.read("lists", [
			{
				mapping,
				from: globalListId(graph.store.model, mapping),
				backward: false,
				limit: 10,
			},
		]);
		assert.ok(scanned !== undefined && !(scanned instanceof Error));
		assert.deepEqual(
			scanned.edges.map(({ to }) => to),
			[await idOf(graph, "i:2"), await idOf(graph, "i:1")],
		);
	});
});
