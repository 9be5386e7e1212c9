import assert from "node:assert/strict";
import type { Id } from "../../src/id/ids.ts";
import type { ScanResult } from "../../src/storage/rows.ts";
import type { JsonObject } from "../../src/util/json.ts";
import type { Embedded } from "./embedded.ts";

/** Lines of a small import, and what became of them. */
export const ada = {
	type: "User",
	key: "u:ada",
	fields: { username: "Ada", name: "Ada" },
};
export const bob = {
	type: "User",
	key: "u:bob",
	fields: { username: "bob", name: "Bob" },
};
export const board = {
	type: "Board",
	key: "b:1",
	fields: { owner: "u:ada", name: "One" },
};

export function pin(n: number, fields: JsonObject = {}) {
	return {
		type: "Pin",
		key: `p:${n}`,
		fields: { board: "b:1", details: `Pin ${n}`, ...fields },
	};
}

export function like(from: string, to: string) {
	return { edge: "likePin", from, to };
}

export async function idOf(
	{ storage }: Pick<Embedded, "storage">,
	key: string,
): Promise<Id | null> {
	const [row] = await storage.read("lookups", [{ name: "import", key }]);
	assert.ok(!(row instanceof Error));
	return row?.id ?? null;
}

/** By id, for keys that lead to one. */
export async function keysOf(
	graph: Embedded,
	keys: readonly string[],
): Promise<ReadonlyMap<Id | null, string>> {
	return new Map(
		await Promise.all(
			keys.map(async (key) => [await idOf(graph, key), key] as const),
		),
	);
}

export async function contentOf(
	graph: Embedded,
	key: string,
): Promise<JsonObject> {
	const [text] = await graph.storage.read("objects", [
		(await idOf(graph, key)) as Id,
	]);
	return JSON.parse(text as string);
}

/** A list's first hundred edges, with its row. */
export async function listOf(
	graph: Embedded,
	name: string,
	key: string,
): Promise<ScanResult> {
	const from = (await idOf(graph, key)) as Id;
	const mapping = graph.mapping(name);
	const [scanned] = await graph.storage.read("lists", [
		{ mapping, from, backward: false, limit: 100 },
	]);
	assert.ok(scanned !== undefined && !(scanned instanceof Error));
	return scanned;
}
