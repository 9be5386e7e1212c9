import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import recipes from "../../examples/recipes/app.ts";
import { openTest, type TestGraph } from "../../src/testing/openTest.ts";

const LINES = [
	...["ada", "bo", "cy"].map((handle) => ({
		type: "Cook",
		key: handle,
		fields: { handle },
	})),
	{ type: "Cookbook", key: "bread", fields: { name: "Bread", owner: "ada" } },
	{
		type: "Recipe",
		key: "loaf",
		fields: { title: "Loaf", cook: "ada", cookbook: "bread" },
	},
];

describe("comments with the names of another app", () => {
	let graph: TestGraph;
	let recipe = "";
	let cookbook = "";
	before(async () => {
		graph = await openTest(recipes, LINES);
		type Found = {
			cook: Record<"recipes" | "cookbooks", { nodes: { id: string }[] }>;
		};
		const { cook } = (await ask(
			'{ cook(by: {handle: "ada"}) { recipes { nodes { id } } cookbooks { nodes { id } } } }',
		)) as Found;
		recipe = cook.recipes.nodes[0]?.id ?? "";
		cookbook = cook.cookbooks.nodes[0]?.id ?? "";
	});
	after(() => graph[Symbol.asyncDispose]());

	/** What a document answers, or the code and message of its first error. */
	async function ask(document: string, as?: string): Promise<unknown> {
		const { data, errors } = await graph.query(document, as ? { as } : {});
		const [first] = errors ?? [];
		return first === undefined
			? data
			: `${first.extensions.code}: ${first.message}`;
	}
	async function add(body: string, as: string): Promise<string> {
		const made = await ask(
			`mutation { addNote(input: {recipeId: "${recipe}", body: "${body}"}) { note { id } } }`,
			as,
		);
		assert.ok(typeof made === "object", String(made));
		return (made as { addNote: { note: { id: string } } }).addNote.note.id;
	}
	const update = (id: string, body: string, as: string) =>
		ask(
			`mutation { updateNote(input: {noteId: "${id}", body: "${body}"}) { note { body changedAt } } }`,
			as,
		);
	const remove = (id: string, as: string) =>
		ask(
			`mutation { deleteNote(input: {noteId: "${id}"}) { deletedNoteId } }`,
			as,
		);

	it("are counted, changed by their writers alone, and keep when that was", async () => {
		const note = await add("Good", "bo");
		assert.deepEqual(
			await ask(
				`{ node(id: "${recipe}") { ... on Recipe { noteCount notes { nodes { body changedAt cook { handle } viewerCanDelete } } } } }`,
				"cy",
			),
			{
				node: {
					noteCount: 1,
					notes: {
						nodes: [
							{
								body: "Good",
								changedAt: null,
								cook: { handle: "bo" },
								viewerCanDelete: false,
							},
						],
					},
				},
			},
		);
		assert.equal(
			await update(note, "Bad", "ada"),
			"FORBIDDEN: Only its cook may change this note.",
		);
		const same = { updateNote: { note: { body: "Good", changedAt: null } } };
		assert.deepEqual(await update(note, "Good", "bo"), same);
		const changed = (await update(note, "Better", "bo")) as typeof same;
		assert.equal(changed.updateNote.note.body, "Better");
		assert.ok(
			Number.isFinite(Date.parse(String(changed.updateNote.note.changedAt))),
		);
		assert.match(
			String(await update(note, "x".repeat(501), "bo")),
			/^BAD_USER_INPUT: .*body/,
		);
		assert.deepEqual(await remove(note, "bo"), {
			deleteNote: { deletedNoteId: note },
		});
	});

	it("are deleted by those whom the app names, and by their writers also where they are hidden", async () => {
		const [one, two] = [await add("One", "bo"), await add("Two", "bo")];
		assert.equal(
			await remove(one, "cy"),
			"FORBIDDEN: Only its cook or its recipe's cook may delete this note.",
		);
		assert.deepEqual(await remove(one, "ada"), {
			deleteNote: { deletedNoteId: one },
		});
		await ask(
			`mutation { updateCookbook(input: {cookbookId: "${cookbook}", secret: true}) { cookbook { id } } }`,
			"ada",
		);
		assert.equal(
			await update(two, "Three", "bo"),
			"NOT_FOUND: Note not found.",
		);
		assert.equal(await remove(two, "cy"), "NOT_FOUND: Note not found.");
		assert.deepEqual(await remove(two, "bo"), {
			deleteNote: { deletedNoteId: two },
		});
	});
});
