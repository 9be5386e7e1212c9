import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { isObjectType } from "graphql";
import pinsApp from "../../pins/app.ts";
import type { App } from "../../src/app/defineApp.ts";
import { readApp } from "../../src/app/readApp.ts";
import { semanticNonNullLevels } from "../../src/model/semanticNonNull.ts";
import { openTest } from "../../src/testing/openTest.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

/** The app with another SDL, whose files are in the folder. */
function withSdl(
	folder: string,
	file: string,
	change: (text: string) => string,
): App {
	cpSync(pinsApp.schema, folder, { recursive: true });
	const path = join(folder, file);
	const text = readFileSync(path, "utf8");
	const changed = change(text);
	assert.notEqual(changed, text);
	writeFileSync(path, changed);
	return { ...pinsApp, schema: folder };
}

suite("@semanticNonNull", () => {
	test("is on the references that nobody sees an object without, and on the owners that each object has", () => {
		const { model, schema, domain } = readApp(pinsApp);
		const declared: string[] = [];
		const parents: string[] = [];
		for (const { name, references } of model.objects.values()) {
			const type = schema.getType(name);
			if (!isObjectType(type)) continue;
			for (const { field } of references) {
				const definition = type.getFields()[field];
				if (definition === undefined) continue;
				const path = `${name}.${field}`;
				if (semanticNonNullLevels(definition.astNode).includes(0)) {
					declared.push(path);
				}
				if (domain.visibility.parentOf(name)?.field === field)
					parents.push(path);
			}
		}
		const owners = ["Board.owner", "Pin.owner"];
		assert.deepEqual(declared.toSorted(), [...parents, ...owners].toSorted());
		assert.deepEqual(parents.toSorted(), [
			"Comment.pin",
			"Pin.board",
			"Section.board",
		]);
	});

	test("is on the nodes and the edges' node of every connection", () => {
		const { schema } = readApp(pinsApp);
		const lacking = Object.values(schema.getTypeMap())
			.filter(isObjectType)
			.flatMap((type) => {
				const { nodes, node, edges } = type.getFields();
				const isPage = edges !== undefined && nodes !== undefined;
				const isEdge = node !== undefined && type.name.endsWith("Edge");
				const levels = semanticNonNullLevels((nodes ?? node)?.astNode);
				if (isPage && !levels.includes(1)) return [`${type.name}.nodes`];
				return isEdge && !levels.includes(0) ? [`${type.name}.node`] : [];
			});
		assert.deepEqual(lacking, []);
	});

	test("is not on authors: what is imported may have none, but each board and each pin has an owner, also after an import that clears it", async () => {
		const ada = {
			type: "User",
			key: "u",
			fields: { username: "ada", name: "Ada" },
		};
		const pin = { type: "Pin", key: "p", fields: { board: "b" }, rev: "1" };
		await using graph = await openTest(pinsApp, [
			ada,
			{ type: "Board", key: "b", fields: { name: "Maps", owner: "u" } },
			pin,
			{ ...pin, fields: { board: "b", owner: null }, rev: "2" },
			{ type: "Comment", key: "c", fields: { pin: "p", text: "Where?" } },
			{ edge: "likePin", from: "u", to: "p" },
		]);
		const { data, errors } = await graph.query(
			`{ user(by: { username: "ada" }) { likes { nodes {
				owner { username }
				board { owner { username } }
				comments { nodes { text author { id } } }
			} } } }`,
		);
		assert.equal(errors, undefined);
		const owner = { username: "ada" };
		const comments = { nodes: [{ text: "Where?", author: null }] };
		assert.deepEqual(data, {
			user: { likes: { nodes: [{ owner, board: { owner }, comments }] } },
		});
		const board = { type: "Board", key: "b", fields: { name: "Maps" } };
		await assert.rejects(
			openTest(pinsApp, [ada, board]),
			/Board needs the field owner\./,
		);
	});

	test("is refused on an owner that an object may lack", () => {
		using folder = temporaryFolder();
		const app = withSdl(folder.path, "comment.graphql", (text) =>
			text.replace(
				/(author: User @reference\(key: "[a-z_]+"\))/,
				"$1 @semanticNonNull",
			),
		);
		assert.throws(() => readApp(app), {
			code: "BAD_MODEL",
			message:
				/^Comment\.author is @semanticNonNull, but a viewer may see a Comment/,
		});
	});

	test("is refused on a reference that may be hidden while its object is seen", () => {
		using folder = temporaryFolder();
		const app = withSdl(folder.path, "pin.graphql", (text) =>
			text.replace(
				'origin: Pin @reference(key: "origin_id")',
				'origin: Pin @reference(key: "origin_id") @semanticNonNull',
			),
		);
		assert.throws(() => readApp(app), {
			code: "BAD_MODEL",
			message: /^Pin\.origin is @semanticNonNull, but a viewer may see a Pin/,
		});
	});

	test("is refused where no object is, or at a level that is not there", () => {
		using folder = temporaryFolder();
		const app = withSdl(folder.path, "pin.graphql", (text) =>
			text
				.replace(
					"title: String @stored",
					"title: String @stored @semanticNonNull",
				)
				.replace(
					'board: Board @reference(key: "board_id") @semanticNonNull',
					'board: Board @reference(key: "board_id") @semanticNonNull(levels: [1])',
				),
		);
		assert.throws(() => readApp(app), {
			code: "BAD_MODEL",
			message:
				/must name a nullable position of an object type, got level 0 of String[\s\S]*got level 1 of Board/,
		});
	});

	test("makes a null without a reason an error at its path", async () => {
		using folder = temporaryFolder();
		const app = withSdl(
			folder.path,
			"pin.graphql",
			(text) =>
				`${text}\nextend type Query {\n\t"A pin that is not there."\n\tlostPin: Pin @semanticNonNull\n}\n`,
		);
		const resolvers = new Map([
			...app.resolvers,
			[
				"Query.lostPin",
				{
					cost: () => 0,
					dependsOnViewer: false,
					resolve: ({ parents }: { readonly parents: readonly unknown[] }) =>
						parents.map(() => null),
				},
			] as const,
		]);
		await using graph = await openTest({ ...app, resolvers });
		const { data, errors } = await graph.query("{ lostPin { id } }");
		assert.deepEqual(data, { lostPin: null });
		assert.deepEqual(
			errors?.map(({ path, extensions }) => [path, extensions?.code]),
			[[["lostPin"], "UNAVAILABLE"]],
		);
	});
});
