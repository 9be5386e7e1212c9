import assert from "node:assert/strict";
import { test } from "node:test";
import { openTest, walkPrivacy } from "corkboard/testing";
import app from "./app.ts";

const NOTES =
	'{ user(by: {username: "ada"}) { notes { nodes { id text starredBy { totalCount } } } } }';

test("a secret note is only for who wrote it", async () => {
	await using graph = await openTest(app);
	const hers = await graph.query(NOTES, { as: "ada" });
	assert.match(JSON.stringify(hers), /A kite for Bo/);
	const his = await graph.query(NOTES, { as: "bo" });
	assert.match(JSON.stringify(his), /Water plants/);
	assert.doesNotMatch(JSON.stringify(his), /A kite for Bo/);
});

test("a note is written and starred", async () => {
	await using graph = await openTest(app, [
		{ type: "User", key: "ada", fields: { username: "ada" } },
	]);
	const written = await graph.query(
		'mutation { createNote(input: {text: "Hello"}) { note { id text } } }',
		{ as: "ada" },
	);
	assert.equal(written.errors, undefined);
	const { createNote } = written.data as {
		createNote: { note: { id: string } };
	};
	const starred = await graph.query(
		"mutation ($noteId: ID!) { starNote(input: {noteId: $noteId}) { note { viewerStars starredBy { totalCount } } } }",
		{ as: "ada", variables: { noteId: createNote.note.id } },
	);
	assert.deepEqual(starred.data, {
		starNote: { note: { viewerStars: true, starredBy: { totalCount: 1 } } },
	});
});

test("nothing shows what it hides, in any field or mutation of the schema", async () => {
	await using graph = await openTest(app);
	const { hidden, problems } = await walkPrivacy(graph);
	assert.ok(hidden > 0);
	assert.deepEqual(problems, []);
});
