import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import type { Store } from "../../../src/graph/store/store.ts";
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
		Board: { table: "boards", key: "id", deleted: "deleted", fields: { name: "title", owner: ref("User", "user_id") } },
		Pin: { table: "pins", key: "id", deleted: "deleted", fields: { details: "text", board: ref("Board", "board_id") } },
		Comment: { table: "comments", key: "id", fields: { text: "text", author: ref("User", "user_id"), pin: ref("Pin", "pin_id") } },
	},
	edges: {
		likePin: { table: "likes", from: ref("User", "user_id"), to: ref("Pin", "pin_id") },
	},
});
`;

/** What the jobs of a server do when an object is deleted. */
async function archiveAll(store: Store, id: Id) {
	for (const one of [id, ...(await leavingEdges(store, [id]))]) {
		let at: ArchivePosition | null = null;
		do {
			at = (await archiveBatch(store, one, at)).next;
		} while (at !== null);
	}
}

it("what jobs delete here with a pin that the old database deleted is no difference, and no change to feed back", async () => {
	using folder = temporaryFolder();
	const write = (table: string, ...lines: readonly string[]) =>
		writeFileSync(join(folder.path, `${table}.csv`), `${lines.join("\n")}\n`);
	write("users", "id,login", "1,ada", "2,ben");
	write("boards", "id,user_id,title,deleted", "1,1,Loaves,0");
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
		await archiveAll(store, pin);
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
		/^Comment:2: bad, id \d+: It belongs to something that is deleted/,
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

it("what jobs deleted here with a board comes back with --revive when the old database has the board again", async () => {
	using folder = temporaryFolder();
	const write = (table: string, ...lines: readonly string[]) =>
		writeFileSync(join(folder.path, `${table}.csv`), `${lines.join("\n")}\n`);
	write("users", "id,login", "1,ada", "2,ben");
	const boards = (deleted: 0 | 1) =>
		write(
			...(["boards", "id,user_id,title,deleted"] as const),
			...[`1,1,Loaves,${deleted}`, "2,1,Rolls,0"],
		);
	boards(0);
	const pins = (text: string) =>
		write(
			"pins",
			"id,board_id,text,deleted",
			...["1,1,Rye,0", `2,1,${text},0`, "3,1,Old,1", "4,2,Bun,0"],
		);
	pins("Oat");
	write("comments", "id,user_id,pin_id,text", "1,2,1,Yes", "2,2,3,No");
	write("likes", "user_id,pin_id", "2,1", "2,2", "2,4");
	const mapping = join(folder.path, "old.ts");
	writeFileSync(mapping, mappingOf(folder.path));
	const data = join(folder.path, "data");
	const migrate = (...args: readonly string[]) =>
		runHere(["migrate", ...args], { env: { CORKBOARD_DATA: data } });
	const pass = async (...args: readonly string[]) => {
		const { out } = await migrate("run", mapping, "--json", ...args);
		const { made, changed, deleted, unchanged } = JSON.parse(out).pass;
		return { made, changed, deleted, unchanged };
	};

	await pass();
	boards(1);
	assert.equal((await pass()).deleted, 1);
	{
		await using graph = await openEmbedded({ folder: data, shards: 16 });
		for (const key of ["Board:1", "Pin:1", "Pin:2"]) {
			await archiveAll(graph.store, (await idOf(graph, key)) as Id);
		}
	}
	// While the board is deleted there, nothing of it comes back.
	assert.deepEqual(await pass("--revive"), {
		...{ made: 0, changed: 0, deleted: 0, unchanged: 12 },
	});
	boards(0);
	pins("Oats");
	assert.equal((await pass()).changed, 1);
	const { out } = await migrate("compare", mapping, "--all");
	assert.match(out, /Pin:1: deleted here\n/);
	assert.match(
		out,
		/\nWhat is deleted here and not there comes back with migrate run MAPPING --revive\.\n/,
	);
	// The comment of a pin that is deleted there stays deleted, as a row that waits.
	const { made, changed } = await pass("--revive");
	assert.deepEqual([made, changed], [2, 3]);
	assert.match(
		(await migrate("compare", mapping, "--all")).out,
		/ 0 differ, 0 newer here, 1 bad/,
	);
	const again = await pass("--revive");
	assert.deepEqual([again.made, again.changed], [0, 0]);
	const { out: verified } = await runHere(["verify"], {
		env: { CORKBOARD_DATA: data },
	});
	assert.match(verified, /everything agrees/);
	const refused = await migrate("run", mapping, "--revive", "--changed");
	assert.match(refused.err, /--revive needs a full pass/);
});
