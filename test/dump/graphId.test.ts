import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { databasesOf, placeOfLookup } from "../../src/dump/databases.ts";
import { pathOf } from "../../src/dump/source/sqliteSource.ts";
import { GRAPH_ID, readGraphId } from "../../src/ops/graphId.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { openEmbedded } from "../helpers/embedded.ts";
import { idOf } from "../helpers/importedGraph.ts";
import { theModel } from "../helpers/model.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SHARDS = 16;
const LINES = [
	{ type: "User", key: "ada", fields: { username: "ada" } },
	{ type: "Board", key: "o", fields: { owner: "ada", name: "Loaves" } },
	{ type: "Pin", key: "p", fields: { board: "o", details: "Rye" } },
];

/** Folders of embedded graphs, and dumps beside them. */
function world() {
	const folder = temporaryFolder();
	const path = (name: string) => join(folder.path, name);
	writeFileSync(
		path("lines.ndjson"),
		LINES.map((line) => JSON.stringify(line)).join("\n"),
	);
	const run = (graph: string, ...args: readonly string[]) =>
		runHere(args, { env: { CORKBOARD_DATA: path(graph) } });
	const done = async (graph: string, ...args: readonly string[]) => {
		const { code, out, err } = await run(graph, ...args);
		assert.equal(code, 0, err);
		return out;
	};
	return {
		path,
		run,
		done,
		make: (graph: string) => done(graph, "import", path("lines.ndjson")),
		dump: (graph: string, dump: string) =>
			done(graph, "dump", path(dump), "--for", "restore", "--unencrypted"),
		only: async (graph: string, dump: string) => [
			...[
				"restore",
				path(dump),
				"--only",
				`board:${await boardOf(path(graph))}`,
			],
		],
		head: (dump: string) => path(join(dump, "dump.json")),
		[Symbol.dispose]: () => folder[Symbol.dispose](),
	};
}

async function boardOf(data: string): Promise<string> {
	await using graph = await openEmbedded({ folder: data, shards: SHARDS });
	return String(await idOf(graph, "o"));
}

async function idIn(data: string): Promise<string | null> {
	await using graph = await openEmbedded({ folder: data, shards: SHARDS });
	return readGraphId(graph.storage);
}

/** No row of these tables is left. */
function forget(data: string, tables: readonly string[]): void {
	const databases = databasesOf(
		embeddedTopology(data, SHARDS),
		theModel().model,
	);
	for (const database of databases.filter(({ kind }) => kind === "db")) {
		using file = new DatabaseSync(pathOf(database));
		for (const table of tables) file.exec(`DELETE FROM ${table}`);
	}
}

/** As a graph that was made before there were ids. */
function forgetId(data: string): void {
	const databases = databasesOf(
		embeddedTopology(data, SHARDS),
		theModel().model,
	);
	using file = new DatabaseSync(pathOf(placeOfLookup(databases, GRAPH_ID)));
	file.prepare("DELETE FROM lookups WHERE name = ?").run(GRAPH_ID.name);
}

describe("the id of a graph", () => {
	test("keeps objects of another graph out, though no row of them is here", async () => {
		using all = world();
		await all.make("own");
		// Another graph whose objects have the same ids.
		cpSync(all.path("own"), all.path("other"), { recursive: true });
		forgetId(all.path("other"));
		await all.done("other", "init");
		for (const graph of ["own", "other"]) {
			await all.dump(graph, `${graph}-dump`);
		}
		const heads = ["own-dump", "other-dump"].map((dump) =>
			JSON.parse(readFileSync(all.head(dump), "utf8")),
		);
		assert.equal(heads[0].graph, await idIn(all.path("own")));
		assert.notEqual(heads[0].graph, heads[1].graph);
		const board = await all.only("own", "own-dump");
		forget(all.path("own"), ["boards", "pins"]);
		const foreign = ["restore", all.path("other-dump"), ...board.slice(2)];
		for (const more of [[], ["--dry-run"]]) {
			const refused = await all.run("own", ...foreign, ...more);
			assert.equal(refused.code, 1);
			assert.match(refused.err, /holds a dump of another graph: its id is /);
		}
		assert.match(await all.done("own", ...board), /^2 of 2 objects came back/);
		// Made before dumps named their graph: as far as anybody can see, it fits.
		forget(all.path("own"), ["boards", "pins"]);
		const { graph: _, ...old } = heads[1];
		writeFileSync(all.head("other-dump"), JSON.stringify(old));
		assert.match(
			await all.done("own", ...foreign),
			/^2 of 2 objects came back/,
		);
	});

	test("is that of the dump in a graph that was restored from it", async () => {
		using all = world();
		await all.make("old");
		await all.dump("old", "dump");
		// A folder that was served before has an id of its own.
		await all.done("new", "init");
		const former = await idIn(all.path("new"));
		await all.done("new", "restore", all.path("dump"));
		const id = await idIn(all.path("old"));
		assert.ok(id !== null && former !== null && id !== former);
		assert.equal(await idIn(all.path("new")), id);
		const board = await all.only("new", "dump");
		forget(all.path("new"), ["boards", "pins"]);
		assert.match(await all.done("new", ...board), /^2 of 2 objects came back/);
	});

	test("is given to a graph that has none, when it is opened to be written", async () => {
		using all = world();
		await all.make("own");
		const before = await idIn(all.path("own"));
		forgetId(all.path("own"));
		await all.dump("own", "old");
		assert.equal(JSON.parse(readFileSync(all.head("old"), "utf8")).graph, null);
		await all.done("own", "init");
		const given = await idIn(all.path("own"));
		assert.ok(given !== null && given !== before);
		await all.done("own", "init");
		assert.equal(await idIn(all.path("own")), given);
		// Once there is an id, a dump that was begun elsewhere is not continued here.
		await all.dump("own", "dump");
		forgetId(all.path("own"));
		await all.done("own", "init");
		const resumed = await all.run(
			"own",
			...["dump", all.path("dump"), "--for", "restore", "--unencrypted"],
		);
		assert.match(resumed.err, /holds a dump of another graph/);
	});

	test("keeps a stream of changes from beginning with the dump of another graph", async () => {
		using all = world();
		for (const graph of ["own", "other"]) {
			await all.make(graph);
			await all.done(graph, "changes", "enable");
			await all.dump(graph, `${graph}-dump`);
		}
		const follow = (dump: string) =>
			all.run(
				"own",
				...["changes", "follow", "--dump", all.path(dump), "--until-now"],
			);
		const refused = await follow("other-dump");
		assert.equal(refused.code, 1);
		assert.match(refused.err, /holds a dump of another graph/);
		const { code, err } = await follow("own-dump");
		assert.equal(code, 0, err);
	});
});
