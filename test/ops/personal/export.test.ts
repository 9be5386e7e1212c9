import assert from "node:assert/strict";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isShown } from "../../../src/model/shownFields.ts";
import { writeExport } from "../../../src/ops/personal/exportFolder.ts";
import type { ExportContext } from "../../../src/ops/personal/exportUser.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import {
	ada,
	board,
	bob,
	idOf,
	like,
	pin,
} from "../../helpers/importedGraph.ts";
import { importAll } from "../../helpers/importing.ts";
import { theModel } from "../../helpers/model.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const cid = {
	type: "User",
	key: "u:cid",
	fields: { username: "cid", name: "Cid", email: "cid@made-up.example" },
};
const PINS = 230;

/** Ada's two boards, one of which is secret, what she wrote elsewhere, and what others did. */
const LINES = [
	{ type: "Interest", key: "i:1", fields: { slug: "art", name: "Art" } },
	{
		...ada,
		fields: {
			...ada.fields,
			email: "ada@made-up.example",
			bio: '<script>alert("planted")</script>',
			website: "https://ada.made-up.example/",
		},
	},
	bob,
	cid,
	board,
	{
		...board,
		key: "b:2",
		fields: { owner: "u:ada", name: "Planted secret", secret: true },
	},
	{ ...board, key: "b:3", fields: { owner: "u:bob", name: "Bob's" } },
	{
		...board,
		key: "b:4",
		fields: { owner: "u:cid", name: "Cid's", secret: true },
	},
	{
		type: "Section",
		key: "s:1",
		fields: { board: "b:1", name: "Planted section" },
	},
	...Array.from({ length: PINS }, (_, n) => pin(n, { section: "s:1" })),
	pin(900, { board: "b:2", details: "Planted in secret" }),
	pin(901, { board: "b:3", owner: "u:bob" }),
	pin(902, { board: "b:4", owner: "u:cid", details: "Hidden from Ada" }),
	{
		type: "Comment",
		key: "c:1",
		fields: { author: "u:ada", pin: "p:901", text: "Planted comment" },
	},
	{
		type: "Comment",
		key: "c:2",
		fields: { author: "u:bob", pin: "p:1", text: "Bob's own words" },
	},
	{
		type: "Report",
		key: "r:1",
		fields: {
			reporter: "u:ada",
			subjectId: "1",
			reason: "SPAM",
			text: "Planted report",
		},
	},
	like("u:ada", "p:901"),
	like("u:ada", "p:902"),
	like("u:bob", "p:1"),
	{ edge: "filePin", from: "p:1", to: "i:1" },
	{ edge: "followUser", from: "u:ada", to: "u:bob" },
	{ edge: "followUser", from: "u:bob", to: "u:ada" },
	{ edge: "followBoard", from: "u:ada", to: "b:3" },
	{ edge: "followInterest", from: "u:ada", to: "i:1" },
	{ edge: "collaborate", from: "b:1", to: "u:bob" },
	{ edge: "blockUser", from: "u:ada", to: "u:cid" },
];

const folders = temporaryFolder();
let graph: Embedded;
let context: ExportContext;
let nth = 0;
before(async () => {
	graph = await openEmbedded({ folder: join(folders.path, "data") });
	const { bad } = await importAll(graph, LINES);
	assert.deepEqual(bad, []);
	const { schema } = theModel();
	context = {
		store: graph.store,
		isShown: (type, field) => isShown(schema, type, field),
		userType: "User",
		closedKey: "deactivated_at",
	};
});
after(async () => {
	await graph[Symbol.asyncDispose]();
	folders[Symbol.dispose]();
});

const emptyFolder = () => join(folders.path, `export ${nth++}`);
const textOf = (folder: string) =>
	readFileSync(join(folder, "data.ndjson"), "utf8");

async function exportOf(key: string) {
	const folder = emptyFolder();
	const user = await idOf(graph, key);
	assert.ok(user);
	const written = await writeExport(context, user, folder);
	return { folder, written, text: textOf(folder), user };
}

describe("the export of a user", () => {
	it("has everything that the user stored and did, and nothing that the user may not see", async () => {
		const { text, folder } = await exportOf("u:ada");
		const lines = text
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line));
		const groups = Map.groupBy(lines, (line) =>
			String(line.type ?? line.field),
		);
		const counts = Object.fromEntries(
			[...groups].map(([name, some]) => [name, some.length]),
		);
		assert.deepEqual(counts, {
			User: 1,
			following: 1,
			followers: 1,
			followedBoards: 1,
			followedInterests: 1,
			// One of the two liked pins is on a secret board of somebody else.
			likes: 1,
			blockedUsers: 1,
			Board: 2,
			collaborators: 1,
			Section: 1,
			// The order of the board, and that of its section.
			pins: 2 * PINS + 1,
			Pin: PINS + 1,
			interests: 1,
			Comment: 1,
			Report: 1,
		});
		for (const planted of [
			"ada@made-up.example",
			"Planted secret",
			"Planted section",
			"Planted in secret",
			"Planted comment",
			"Planted report",
		]) {
			assert.ok(text.includes(planted), planted);
			assert.ok(
				readFileSync(join(folder, "index.html"), "utf8").includes(planted),
				planted,
			);
		}
		for (const others of [
			"cid@made-up",
			"Bob's own words",
			"Hidden from Ada",
		]) {
			assert.ok(!text.includes(others), others);
		}
	});

	it("is a page that runs nothing and loads nothing, and files that others cannot read", async () => {
		const { folder } = await exportOf("u:ada");
		const page = readFileSync(join(folder, "index.html"), "utf8");
		assert.doesNotMatch(page, /<(script|img|link|iframe|object)\b/i);
		assert.match(page, /&lt;script&gt;/);
		assert.match(page, /default-src 'none'/);
		assert.equal(page.match(/<ul>/g)?.length, page.match(/<\/ul>/g)?.length);
		for (const name of ["index.html", "data.ndjson"]) {
			assert.equal(statSync(join(folder, name)).mode & 0o077, 0);
		}
	});

	it("does not say who blocks the user", async () => {
		const { text } = await exportOf("u:cid");
		assert.ok(!text.includes("blockedBy"));
		assert.ok(!text.includes((await idOf(graph, "u:ada")) as string));
	});

	it("is the same after the run was ended at any page, and after half a line", async () => {
		const whole = await exportOf("u:ada");
		const folder = emptyFolder();
		let pages = 0;
		for (let stop = 1; ; stop++) {
			const stopped = new AbortController();
			pages = 0;
			try {
				const written = await writeExport(context, whole.user, folder, {
					signal: stopped.signal,
					onPage: () => void (++pages === stop % 3 && stopped.abort()),
				});
				assert.equal(written.wentOn, true);
				break;
			} catch (thrown) {
				assert.equal((thrown as Error).name, "AbortError");
				writeFileSync(join(folder, "data.ndjson"), '{"type":"Pin","id', {
					flag: "a",
				});
			}
		}
		assert.equal(textOf(folder), whole.text);
	});

	it("is not written where it cannot be, nor over other files or the unfinished export of another user", async () => {
		const { folder, user } = await exportOf("u:bob");
		await assert.rejects(writeExport(context, user, join(folder, "no/such")), {
			code: "UNAVAILABLE",
			message: /^The export was not written to .*no such file or directory/,
		});
		await assert.rejects(writeExport(context, user, folder), {
			code: "CONFLICT",
			message: `${folder} is not empty. Name a folder that is empty or not there yet.`,
		});
		truncateSync(join(folder, "data.ndjson"), 0);
		writeFileSync(
			join(folder, "progress.json"),
			JSON.stringify({ user: "1", next: { part: 0, after: null }, bytes: 0 }),
		);
		await assert.rejects(writeExport(context, user, folder), {
			code: "CONFLICT",
			message: /has the unfinished export of user 1\. Name another folder\./,
		});
	});

	it("has the same of a closed account, which nobody sees", async () => {
		const { text, user } = await exportOf("u:ada");
		await graph.writes.modify(user, (data) => ({
			...data,
			deactivated_at: "2026-11-20T00:00:00.000Z",
		}));
		const closed = await exportOf("u:ada");
		assert.equal(closed.text.replace(/,"deactivatedAt":"[^"]*"/, ""), text);
		await graph.writes.modify(user, ({ deactivated_at: _, ...data }) => data);
	});
});
