import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import {
	type ArchivePosition,
	archiveBatch,
	leavingEdges,
} from "../../../src/graph/write/archive.ts";
import type { Id } from "../../../src/id/ids.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import { idOf } from "../../helpers/importedGraph.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const mappingOf = (folder: string) => `
import { migration, ref } from "corkboard";
export default migration({
	source: ${JSON.stringify(`file:${folder}`)},
	types: {
		User: { table: "users", key: "id", fields: { username: "login" } },
		Board: { table: "boards", key: "id", fields: { name: "title", owner: ref("User", "user_id") } },
		Pin: { table: "pins", key: "id", deleted: "deleted", fields: { details: "text", board: ref("Board", "board_id") } },
		Comment: { table: "comments", key: "id", fields: { text: "text", author: ref("User", "user_id"), pin: ref("Pin", "pin_id") } },
	},
	edges: {
		likePin: { table: "likes", from: ref("User", "user_id"), to: ref("Pin", "pin_id") },
	},
});
`;

it("what jobs delete here with a pin that the old database deleted is no difference, and no change to feed back", async () => {
	using folder = temporaryFolder();
	const write = (table: string, ...lines: readonly string[]) =>
		writeFileSync(join(folder.path, `${table}.csv`), `${lines.join("\n")}\n`);
	write("users", "id,login", "1,ada", "2,ben");
	write("boards", "id,user_id,title", "1,1,Loaves");
	const pins = (deleted: 0 | 1) =>
		write(
			"pins",
			"id,board_id,text,deleted",
			"1,1,Rye,0",
			`2,1,Oat,${deleted}`,
		);
	pins(0);
	write("comments", "id,user_id,pin_id,text", "1,2,1,Yes", "2,2,2,No");
	write("likes", "user_id,pin_id", "2,1", "2,2");
	const mapping = join(folder.path, "old.ts");
	writeFileSync(mapping, mappingOf(folder.path));
	const data = join(folder.path, "data");
	const migrate = (...args: readonly string[]) =>
		runHere(["migrate", ...args], { env: { CORKBOARD_DATA: data } });

	assert.equal((await migrate("run", mapping)).code, 0);
	pins(1);
	assert.equal((await migrate("run", mapping)).code, 0);
	{
		await using graph = await openEmbedded({ folder: data, shards: 16 });
		const { store } = graph;
		const pin = (await idOf(graph, "Pin:2")) as Id;
		// As the jobs of a server do.
		for (const id of [pin, ...(await leavingEdges(store, [pin]))]) {
			let at: ArchivePosition | null = null;
			do {
				at = (await archiveBatch(store, id, at)).next;
			} while (at !== null);
		}
		const comment = (await idOf(graph, "Comment:2")) as Id;
		const [text] = await graph.storage.read("objects", [comment]);
		assert.match(text as string, /"active":false/);
	}
	const { out, code } = await migrate("compare", mapping, "--all");
	assert.match(out, / 0 differ, 0 newer here, 2 bad/);
	assert.equal(code, 0);
	const shown = await migrate("show", mapping, "Comment:2");
	assert.match(
		shown.out,
		/^Comment:2: bad, id \d+: What it belongs to is deleted/,
	);
	assert.equal((await migrate("back-feed", mapping)).out, "");

	// What is deleted here is fed back.
	{
		await using graph = await openEmbedded({ folder: data, shards: 16 });
		await graph.writes.remove((await idOf(graph, "Comment:1")) as Id);
	}
	assert.match((await migrate("compare", mapping, "--all")).out, / 1 differ,/);
	const fed = (await migrate("back-feed", mapping)).out;
	assert.equal(fed, '{"type":"Comment","key":"Comment:1","deleted":true}\n');
});
