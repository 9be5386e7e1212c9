import assert from "node:assert/strict";
import {
	appendFileSync,
	cpSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findApp } from "../../src/app/findApp.ts";
import { openTest } from "../../src/testing/openTest.ts";
import { walkRandomly } from "../../src/testing/randomWalk.ts";
import { walkPrivacy } from "../../src/testing/walkPrivacy.ts";
import { startProgram } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/how-to/first-graph.md"), "utf8");

/** The page's blocks of code in a language, of which one contains the text. */
function block(language: string, text: string): string {
	const all = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)];
	const found = all.filter(
		([, one, code]) => one === language && code?.includes(text),
	);
	assert.equal(found.length, 1, `${found.length} blocks with ${text}`);
	return found[0]?.[2] ?? "";
}

/** The app of create-corkboard with what the page on a first graph adds to it, block by block. */
describe("your first graph", () => {
	const folder = temporaryFolder();
	let app = join(folder.path, "my-notes-0");
	const env = () => ({
		CORKBOARD_APP: app,
		CORKBOARD_DATA: join(folder.path, "data"),
	});
	const schema = () => join(app, "schema/notes.graphql");
	const code = () => join(app, "app.ts");
	let steps = 0;
	after(() => folder[Symbol.dispose]());

	/** Goes on in a copy: a process loads a file of code once. */
	function step(): void {
		steps += 1;
		const next = join(folder.path, `my-notes-${steps}`);
		cpSync(app, next, { recursive: true });
		app = next;
	}

	function change(file: string, from: string, to: string): void {
		const text = readFileSync(file, "utf8");
		assert.ok(text.includes(from), from);
		writeFileSync(
			file,
			text.replace(from, () => to),
		);
	}

	const lock = () => runHere(["schema", "lock"], { env: env() });
	before(() => {
		cpSync(join(ROOT, "create-corkboard/template"), app, { recursive: true });
		appendFileSync(schema(), block("graphql", "type Label"));
		const list = block("graphql", "ownLabel");
		change(
			schema(),
			"\t\"The user's notes, newest",
			`${list}\n\t"The user's notes, newest`,
		);
	});

	it("is refused as the page says while a label's name has no validator", async () => {
		const { code: exit, err } = await lock();
		assert.equal(exit, 1);
		assert.ok(PAGE.includes(err.trim()), err);
		step();
		change(
			code(),
			"\t\t\tNote: {\n\t\t\t\ttext",
			"\t\t\tLabel: { name: { validate: text(40) } },\n\t\t\tNote: {\n\t\t\t\ttext",
		);
	});

	it("puts into the lock what the page says", async () => {
		const { code: exit, out, err } = await lock();
		assert.equal(exit, 0, err);
		const added = out.split("\n").filter((line) => /^New/.test(line));
		assert.equal(added.length, 5);
		assert.ok(PAGE.includes(added.join("\n")), out);
	});

	it("takes the shared notes and the mutation by hand", async () => {
		step();
		appendFileSync(schema(), block("graphql", "shareNote"));
		appendFileSync(schema(), block("graphql", "remindOfNote"));
		change(
			code(),
			'owner: "owner",',
			'owner: "owner",\n\t\t\t\t\tsharedBy: "shareNote.inverse",',
		);
		change(code(), "privateLists: []", 'privateLists: ["shareNote.inverse"]');
		change(
			code(),
			"resolvers: {",
			'resolvers: {\n\t\t"Mutation.remindOfNote": remindOfNote,',
		);
		change(
			code(),
			"/** Users, the notes",
			`${block("ts", "const remindOfNote")}\n/** Users, the notes`,
		);
		change(
			code(),
			"boolean, forSchema, text",
			"boolean, CorkboardError, dateTime, forSchema, id, invalidField, mutation, required, text",
		);
		change(
			code(),
			"policy, viewerMembership",
			"policy, requireVisible, updatedStoredJson, viewerMembership",
		);
		const { code: exit, err } = await lock();
		assert.equal(exit, 0, err);
		const types = await runHere(["schema", "types"], { env: env() });
		assert.equal(types.code, 0, types.err);
	});

	it("shows a secret note to whom it is shared with, and hides it otherwise", async () => {
		await using graph = await openTest(await findApp(app));
		const notes =
			'{ user(by: {username: "ada"}) { notes { nodes { id text } } } }';
		const asBo = async () =>
			JSON.stringify(await graph.query(notes, { as: "bo" }));
		assert.doesNotMatch(await asBo(), /A kite for Bo/);
		const { data } = await graph.query(
			'{ viewer { notes { nodes { id text } } } user(by: {username: "bo"}) { id } }',
			{ as: "ada" },
		);
		const { viewer, user } = data as {
			viewer: { notes: { nodes: { id: string; text: string }[] } };
			user: { id: string };
		};
		const noteId = viewer.notes.nodes.find(({ text }) => /kite/.test(text))?.id;
		const share = (as: string) =>
			graph.query(
				"mutation ($noteId: ID!, $userId: ID!) { shareNote(input: {noteId: $noteId, userId: $userId}) { note { readers { totalCount } } } }",
				{ as, variables: { noteId, userId: user.id } },
			);
		const refused = await share("bo");
		assert.equal(refused.errors?.[0]?.extensions.code, "NOT_FOUND");
		assert.deepEqual((await share("ada")).data, {
			shareNote: { note: { readers: { totalCount: 1 } } },
		});
		assert.match(await asBo(), /A kite for Bo/);

		const remind = (as: string, remindAt: string) =>
			graph.query(
				"mutation ($noteId: ID!, $remindAt: DateTime!) { remindOfNote(input: {noteId: $noteId, remindAt: $remindAt}) { note { remindAt } } }",
				{ as, variables: { noteId, remindAt } },
			);
		const future = "2999-01-01T09:00:00.000Z";
		assert.deepEqual((await remind("ada", future)).data, {
			remindOfNote: { note: { remindAt: future } },
		});
		const others = await remind("bo", future);
		assert.equal(others.errors?.[0]?.extensions.code, "FORBIDDEN");
		const [past] =
			(await remind("ada", "2001-01-01T09:00:00.000Z")).errors ?? [];
		const { message, extensions } = JSON.parse(block("json", "remindOfNote"));
		assert.deepEqual(
			{ message: past?.message, extensions: past?.extensions },
			{ message, extensions },
		);
	});

	it("leaks nothing, and stays whole whatever random users do", async () => {
		await using graph = await openTest(await findApp(app));
		const { hidden, mutations, problems } = await walkPrivacy(graph);
		assert.ok(hidden > 0);
		assert.deepEqual(problems, []);
		assert.ok(mutations.includes("remindOfNote.noteId"));
		assert.ok(mutations.includes("shareNote.noteId"));
		const walk = await walkRandomly(graph, { steps: 60 });
		assert.deepEqual(walk.problems, []);
	});

	it("imports the page's lines, names a bad one, and verifies", async () => {
		const shown = block("text", "words.ndjson");
		const lines = shown.split("\n").filter((line) => line.startsWith("{"));
		const bad =
			'{"type":"Note","key":"n:2","fields":{"text":"x","secret":"yes","owner":"u:1"}}';
		const input = lines.join("\n");
		const first = await runHere(["import", "-"], { env: env(), input });
		assert.equal(first.code, 0, first.err);
		assert.ok(shown.includes(first.out), first.out);
		const verified = await runHere(["verify"], { env: env() });
		assert.ok(shown.includes(verified.out), verified.out);
		const again = await runHere(["import", "-"], {
			env: env(),
			input: `${input}\n${bad}\n`,
		});
		assert.equal(again.code, 1);
		assert.equal(`${again.err.trim()}\n`, block("text", "line 5: "));
	});

	it("answers the page's client, page by page", async () => {
		const more = Array.from({ length: 30 }, (_, at) =>
			JSON.stringify({
				type: "Note",
				key: `m:${at}`,
				fields: { text: `Note ${at}`, owner: "u:1" },
			}),
		);
		const user = '{"type":"User","key":"u:1","fields":{"username":"eve"}}';
		const imported = await runHere(["import", "-"], {
			env: env(),
			input: [user, ...more].join("\n"),
		});
		assert.equal(imported.code, 0, imported.err);
		const token = await runHere(["tokens", "create", "eve"], { env: env() });
		await using served = startProgram(["serve"], {
			env: { ...env(), PORT: "0", CORKBOARD_GRAPHIQL: "off" },
		});
		const [, url = ""] = await served.printed("out", /(http:\/\/[^\s]+)/);
		const file = join(folder.path, "notes.mjs");
		writeFileSync(file, block("js", "const PAGE"));
		const API = new URL("/graphql", url).href;
		await using client = startProgram([], {
			command: [process.execPath, file],
			env: { API, TOKEN: token.out.trim() },
		});
		const { code: exit, out, err } = await client.ended;
		assert.equal(exit, 0, err);
		assert.match(
			out,
			/^Note 29\n[\s\S]*Note 0\nBuy seeds\n.*viewerStars: true/,
		);
		served.send("SIGTERM");
	});

	it("is begun anew without the lock of the notes", async () => {
		step();
		rmSync(join(app, "schema/model.lock.json"));
		change(schema(), 'type: 3, table: "labels"', 'type: 30, table: "marks"');
		const { code: exit, out, err } = await lock();
		assert.equal(exit, 0, err);
		assert.match(out, /^New in the lock: the type User\.$/m);
	});
});
