import assert from "node:assert/strict";
import { join } from "node:path";
import { databasesOf } from "../../src/dump/databases.ts";
import { readPart } from "../../src/dump/dumpedGraph.ts";
import { FolderFiles } from "../../src/dump/files/folderFiles.ts";
import { readDump } from "../../src/dump/manifest.ts";
import { restorePart } from "../../src/dump/restorePart.ts";
import {
	type ArchivePosition,
	archiveBatch,
	leavingEdges,
} from "../../src/graph/write/archive.ts";
import type { Id } from "../../src/id/ids.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { PRESENT } from "../../src/storage/rows.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { type Embedded, openEmbedded } from "../helpers/embedded.ts";
import { idOf } from "../helpers/importedGraph.ts";
import { importAll } from "../helpers/importing.ts";
import { theModel } from "../helpers/model.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { dumpInto } from "./dumping.ts";

/**
 * A board of so many pins is deleted, and all that it leaves behind is archived;
 * then it comes back from a dump, beside what others did meanwhile.
 */
export async function bringBoardBack(pins: number): Promise<void> {
	using folder = temporaryFolder();
	const data = join(folder.path, "data");
	await using graph = await openEmbedded({ folder: data });
	const { store, writes } = graph;
	const { bad } = await importAll(graph, linesOf(pins));
	assert.deepEqual(bad, []);
	const id = async (key: string) => (await idOf(graph, key)) as Id;
	const [ada, ben, board] = [await id("ada"), await id("ben"), await id("o")];
	const place = join(folder.path, "dump");
	await dumpInto(place, embeddedTopology(data, 4), { for: "restore" });
	const lists: [string, Id][] = [
		["placePin", board],
		["placeSection", board],
		["placeInSection", await id("s")],
		["followBoard.inverse", board],
		["collaborate", board],
		["ownBoard", ada],
		["ownPin", ada],
		["likePin", ben],
		["likePin.inverse", await id("p:1")],
		["commentPin", await id("p:1")],
	];
	const before = await listed(graph, lists);
	// Meanwhile: somebody changes their mind, and the owner makes another board.
	const likes = graph.mapping("likePin");
	const [unliked, kept] = [await id("p:2"), await id("p:3")];
	await writes.setEdge(likes, ben, unliked, false);
	await writes.remove(await id("c:p:2"));
	const other = await writes.create({
		type: "Board",
		data: { user_id: ada, name: "Rolls", secret: false },
	});
	await writes.modify(kept, (pin) => ({ ...pin, details: "changed" }));
	await deleteWhole(graph, board);
	assert.deepEqual((await listed(graph, [["placePin", board]]))[0], []);
	assert.equal((await graph.view(ada).readObjects([kept]))[0], null);

	const { model } = theModel();
	const files = new FolderFiles(place);
	const { signal } = new AbortController();
	const part = await readPart(
		{
			store,
			files,
			cipher: null,
			signal,
			dump: await readDump(files),
			databases: databasesOf(embeddedTopology(data, 4), model),
		},
		board,
	);
	const tried = await restorePart({ store, isDryRun: true, signal }, part);
	assert.deepEqual((await listed(graph, [["placePin", board]]))[0], []);
	// A dump of another graph may have the same ids.
	const [whole, ...parts] = part.objects;
	assert.ok(whole);
	const strange = { ...whole.data, created_at: "2019-01-01T00:00:00.000Z" };
	await assert.rejects(
		restorePart(
			{ store, isDryRun: true, signal },
			{ ...part, objects: [{ ...whole, data: strange }, ...parts] },
		),
		/The dump has another Board .* Is it a dump of this graph\?/,
	);
	// A run that ends between the edges and the objects is finished by another one.
	const cut = new AbortController();
	await assert.rejects(
		restorePart(
			{
				store,
				isDryRun: false,
				signal: cut.signal,
				onStep: (step) => step === "objects" && cut.abort(),
			},
			part,
		),
	);
	const report = await restorePart({ store, isDryRun: false, signal }, part);
	assert.deepEqual(report, { ...tried, edges: {} });
	assert.deepEqual(report.back, {
		Board: 1,
		Pin: pins,
		Section: 1,
		// The other one had been deleted before.
		Comment: 1,
	});
	assert.deepEqual(report.left, { removed: 1, gone: 0 });
	const now = await listed(graph, lists);
	const without = (ids: readonly Id[] = [], gone: Id) =>
		ids.filter((each) => each !== gone);
	const [, , , , , boards, , liked] = now;
	assert.deepEqual(liked, without(before[7], unliked));
	assert.deepEqual(without(boards, other), before[5]);
	for (const at of [0, 1, 2, 3, 4, 6, 8, 9]) {
		assert.deepEqual(now[at], before[at], lists[at]?.[0]);
	}
	const { clean, damage } = await verify(store, { repair: false });
	assert.ok(clean, JSON.stringify(damage));
	const again = await restorePart({ store, isDryRun: false, signal }, part);
	assert.deepEqual([again.back, again.edges], [{}, {}]);
	assert.equal(again.living, part.objects.length - 1);
}

function linesOf(pins: number): readonly object[] {
	const user = (key: string) => ({
		type: "User",
		key,
		fields: { username: key },
	});
	return [
		...["ada", "ben", "eve"].map(user),
		{ type: "Board", key: "x", fields: { owner: "ada", name: "Cakes" } },
		{ type: "Board", key: "o", fields: { owner: "ada", name: "Loaves" } },
		{ type: "Section", key: "s", fields: { board: "o", name: "Rye" } },
		...Array.from({ length: pins }, (_, n) => ({
			type: "Pin",
			key: `p:${n}`,
			fields: {
				board: "o",
				details: `Loaf ${n}`,
				...(n % 10 === 0 && { section: "s" }),
			},
		})),
		...["p:1", "p:2"].map((pin) => ({
			type: "Comment",
			key: `c:${pin}`,
			fields: { pin, author: "eve", text: "Crusty" },
		})),
		...Array.from({ length: Math.min(pins, 500) }, (_, n) => ({
			edge: "likePin",
			from: "ben",
			to: `p:${n}`,
		})),
		{ edge: "likePin", from: "eve", to: "p:1" },
		{ edge: "followBoard", from: "eve", to: "o" },
		{ edge: "collaborate", from: "o", to: "ben" },
	];
}

/** What is on each list now, in its order. */
async function listed(
	{ storage, mapping }: Embedded,
	lists: readonly (readonly [string, Id])[],
): Promise<readonly (readonly Id[])[]> {
	const results = await storage.read(
		"lists",
		lists.map(([name, from]) => ({
			mapping: mapping(name),
			from,
			backward: false,
			limit: 10_000,
		})),
	);
	return results.map((result) => {
		assert.ok(!(result instanceof Error));
		assert.equal(result.list.count, result.edges.length);
		return result.edges
			.filter(({ state }) => state === PRESENT)
			.map(({ to }) => to);
	});
}

/** As the jobs of the archive do. */
async function deleteWhole(graph: Embedded, board: Id): Promise<void> {
	const { store, writes } = graph;
	const [parts = []] = await listed(graph, [["placePin", board]]);
	await writes.remove(board);
	for (const id of [board, ...(await leavingEdges(store, parts))]) {
		let at: ArchivePosition | null = null;
		do {
			at = (await archiveBatch(store, id, at)).next;
		} while (at !== null);
	}
}
