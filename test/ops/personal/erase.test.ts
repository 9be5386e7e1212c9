import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import type { Id } from "../../../src/id/ids.ts";
import {
	erasedUsers,
	eraseUser,
	isErased,
} from "../../../src/ops/personal/eraseUser.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { PRESENT } from "../../../src/storage/rows.ts";
import { Death } from "../../helpers/death.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import {
	ada,
	board,
	bob,
	idOf,
	like,
	pin,
} from "../../helpers/importedGraph.ts";
import { dump, importAll } from "../../helpers/importing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

/** Everything that Ada wrote has this word. */
const PLANTED = "planted";
const OWN = [
	"u:ada",
	"b:1",
	"b:2",
	"s:1",
	"p:1",
	"p:2",
	"p:3",
	"p:5",
	"c:2",
	"r:1",
];

const LINES = [
	{ type: "Interest", key: "i:1", fields: { slug: "art", name: "Art" } },
	{
		...ada,
		fields: {
			username: "ada_planted",
			name: "Ada Planted",
			email: "ada@planted.example",
			bio: PLANTED,
			account: "planted-account",
		},
	},
	bob,
	{ ...board, fields: { owner: "u:ada", name: "One planted" } },
	{
		...board,
		key: "b:2",
		fields: { owner: "u:ada", name: "Two planted", secret: true },
	},
	{ ...board, key: "b:3", fields: { owner: "u:bob", name: "Bob's" } },
	{
		type: "Section",
		key: "s:1",
		fields: { board: "b:1", name: "Part planted" },
	},
	pin(1, { details: PLANTED }),
	pin(2, { section: "s:1", details: PLANTED }),
	pin(3, { board: "b:2", details: PLANTED }),
	// On a board of somebody else.
	pin(5, { board: "b:3", owner: "u:ada", details: PLANTED }),
	pin(4, { board: "b:3", origin: "p:1", owner: "u:bob", details: "Bob's own" }),
	{
		type: "Comment",
		key: "c:1",
		fields: { author: "u:bob", pin: "p:1", text: "Bob's remark" },
	},
	{
		type: "Comment",
		key: "c:2",
		fields: { author: "u:ada", pin: "p:4", text: PLANTED },
	},
	{
		type: "Report",
		key: "r:1",
		fields: {
			reporter: "u:ada",
			subjectId: "1",
			reason: "SPAM",
			text: PLANTED,
		},
	},
	{ edge: "filePin", from: "p:1", to: "i:1" },
	{ edge: "filePin", from: "p:4", to: "i:1" },
	like("u:ada", "p:4"),
	like("u:bob", "p:1"),
	{ edge: "followUser", from: "u:ada", to: "u:bob" },
	{ edge: "followUser", from: "u:bob", to: "u:ada" },
	{ edge: "followBoard", from: "u:bob", to: "b:1" },
	{ edge: "collaborate", from: "b:3", to: "u:ada" },
	{ edge: "blockUser", from: "u:bob", to: "u:ada" },
];

const folders = temporaryFolder();
const IMPORTED = join(folders.path, "imported");
let opened = 0;
const ids = new Map<string, Id>();
const signal = new AbortController().signal;

before(async () => {
	mkdirSync(IMPORTED);
	await using graph = await openEmbedded({ folder: IMPORTED });
	const { bad } = await importAll(graph, LINES);
	assert.deepEqual(bad, []);
	for (const key of [...OWN, "u:bob", "p:4", "i:1", "c:1"]) {
		ids.set(key, (await idOf(graph, key)) as Id);
	}
	// In the home feed of somebody else; and deleted before, with its content.
	await graph.writes.setEdge(
		graph.mapping("showPin"),
		id("u:bob"),
		id("p:1"),
		true,
	);
	await graph.writes.remove(id("p:2"));
});
after(() => folders[Symbol.dispose]());

function id(key: string): Id {
	return ids.get(key) as Id;
}

async function copy(options: Parameters<typeof openEmbedded>[0] = {}) {
	const folder = join(folders.path, String(opened++));
	cpSync(IMPORTED, folder, { recursive: true });
	return openEmbedded({ folder, ...options });
}

/** What is left of Ada in the tables. */
async function tracesIn({ folder, storage, store }: Embedded) {
	const traces: string[] = [];
	const own = new Set(OWN.map(id));
	for (const [place, rows] of dump(folder)) {
		for (const row of rows) {
			const text = Object.values(row).join(" ");
			const isPlanted = /planted/i.test(text) && !place.endsWith(" outbox");
			if (isPlanted) traces.push(`${place}: ${text}`);
			if (place.endsWith(" outbox")) traces.push(`${place}: an entry`);
			const isNote = place.endsWith(" lookups") && row.name === "erased users";
			if (place.endsWith(" lookups") && own.has(String(row.id) as Id)) {
				traces.push(`${place}: ${text}`);
			}
			if (isNote) assert.equal(String(row.key), id("u:ada"));
		}
	}
	for (const shard of storage.map.shards) {
		for (const mapping of store.model.mappings.values()) {
			// Bob's pin says which pin it was saved from: an id, of an object without content.
			if (mapping.name === "repin") continue;
			for await (const edges of storage.walk("edges", shard, mapping)) {
				for (const { from, to, state } of edges) {
					if (state !== PRESENT || !(own.has(from) || own.has(to))) continue;
					traces.push(`${mapping.name} ${from} ${to}`);
				}
			}
		}
	}
	const texts = await storage.read("objects", [...own]);
	for (const [at, text] of texts.entries()) {
		if (!isErased(JSON.parse(String(text)))) traces.push(`${OWN[at]}: ${text}`);
	}
	return traces;
}

async function othersIn(graph: Embedded) {
	const [text, remark] = await graph.storage.read("objects", [
		id("p:4"),
		id("c:1"),
	]);
	const page = async (mapping: string, from: string) => {
		const [scanned] = await graph.storage.read("lists", [
			{
				mapping: graph.mapping(mapping),
				from: id(from),
				backward: false,
				limit: 99,
			},
		]);
		assert.ok(scanned && !(scanned instanceof Error));
		return [scanned.list.count, scanned.edges.map(({ to }) => to)];
	};
	return {
		pin: JSON.parse(String(text)).details,
		remark: JSON.parse(String(remark)).active ?? true,
		pins: await page("ownPin", "u:bob"),
		feed: await page("showPin", "u:bob"),
		likes: await page("likePin", "u:bob"),
		filed: await page("filePin.inverse", "i:1"),
		following: await page("followUser", "u:bob"),
	};
}

describe("the erasure of a user", () => {
	it("leaves no trace in any table, and nothing else changed", async () => {
		await using graph = await copy();
		const dry = await eraseUser(graph.store, id("u:ada"), {
			signal,
			isDryRun: true,
			forget: async () => assert.fail("a dry run forgets nothing"),
		});
		assert.equal(dry.objects, OWN.length);
		assert.ok((await tracesIn(graph)).length > 20);
		const forgotten: Id[] = [];
		const erased = await eraseUser(graph.store, id("u:ada"), {
			signal,
			settleMs: 0,
			forget: async (id) => void forgotten.push(id),
		});
		assert.equal(erased.objects, OWN.length);
		assert.equal(erased.keys, OWN.length);
		assert.deepEqual(forgotten, [id("u:ada")]);
		assert.deepEqual(await tracesIn(graph), []);
		assert.deepEqual(await othersIn(graph), {
			pin: "Bob's own",
			// It is a part of Ada's pin.
			remark: false,
			pins: [1, [id("p:4")]],
			feed: [0, []],
			likes: [0, []],
			filed: [1, [id("p:4")]],
			following: [0, []],
		});
		const { remaining, unchecked } = await verify(graph.store, {});
		assert.deepEqual([remaining, unchecked], [[], []]);
		for await (const { user } of erasedUsers(graph.store)) {
			assert.equal(user, id("u:ada"));
		}
		// What the caches of this process have is gone as well.
		const [node] = await graph.view(id("u:bob")).readObjects([id("u:ada")]);
		assert.equal(node, null);
		// The name is free for somebody else.
		await graph.writes.create({
			type: "User",
			data: { username: "ada_planted", name: "Another" },
		});
	});

	it("is finished by another run, wherever the first one died", async () => {
		for (let deaths = 0, isWhole = false; !isWhole; deaths += 41) {
			const death = new Death(deaths + 1);
			const options = { signal, settleMs: 0, forget: async () => {} };
			const graph = await copy({ wrap: (storage) => death.of(storage) });
			{
				await using _ = graph;
				death.isNear = true;
				isWhole = await eraseUser(graph.store, id("u:ada"), options).then(
					() => true,
					(thrown) => {
						assert.match(String(thrown), /died here/);
						return false;
					},
				);
			}
			await using again = await openEmbedded({ folder: graph.folder });
			await deliverAll(again);
			await eraseUser(again.store, id("u:ada"), options);
			await deliverAll(again);
			assert.deepEqual(await tracesIn(again), [], `${deaths}`);
			const { remaining } = await verify(again.store, {});
			assert.deepEqual(remaining, [], `${deaths}`);
		}
	});
});

/** What the process that died had still to deliver. */
async function deliverAll({ store }: Embedded): Promise<void> {
	await deliverPending(new WritePipeline(store), 0);
}
