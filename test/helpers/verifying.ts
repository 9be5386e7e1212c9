import assert from "node:assert/strict";
import type { Id } from "../../src/id/ids.ts";
import { type Embedded, openEmbedded } from "./embedded.ts";
import { ada, board, bob, idOf, like, pin } from "./importedGraph.ts";
import { importAll, sqlOn } from "./importing.ts";

/** One of each: what verify looks at. In a folder of its own, unless one is given. */
export async function smallGraph(folder?: string): Promise<Embedded> {
	const graph = await openEmbedded(folder === undefined ? {} : { folder });
	const { bad } = await importAll(graph, [
		ada,
		bob,
		{ type: "Interest", key: "i:1", fields: { slug: "art", name: "Art" } },
		board,
		pin(1),
		pin(2, { origin: "p:1" }),
		{
			type: "Comment",
			key: "c:1",
			fields: { author: "u:bob", pin: "p:1", text: "Nice" },
		},
		like("u:bob", "p:1"),
		like("u:ada", "p:1"),
		{ edge: "followUser", from: "u:ada", to: "u:bob" },
		{ edge: "filePin", from: "p:1", to: "i:1" },
	]);
	assert.deepEqual(bad, []);
	return graph;
}

/** An id as SQL takes it. */
export async function bits(graph: Embedded, key: string): Promise<bigint> {
	return BigInt((await idOf(graph, key)) as Id);
}

/** One statement on the shard files of a graph, and on its mod shards'. Answers how many rows it changed. */
export function onShards(
	graph: Embedded,
	sql: string,
	...parameters: (string | number | bigint)[]
): number {
	return sqlOn(graph.folder, /^db/, sql, ...parameters);
}

export function onModShards(
	graph: Embedded,
	sql: string,
	...parameters: (string | number | bigint)[]
): number {
	return sqlOn(graph.folder, /^mod/, sql, ...parameters);
}
