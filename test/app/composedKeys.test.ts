import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import events from "../../examples/events/app.ts";
import { type App, defineApp } from "../../src/app/defineApp.ts";
import { readApp } from "../../src/app/readApp.ts";
import { CorkboardError } from "../../src/errors.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import type { Id } from "../../src/id/ids.ts";
import { createStoredTypes } from "../../src/model/storedTypes.ts";
import { keyOfContent } from "../../src/model/types.ts";
import { text } from "../../src/model/validation.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { byIdOrKey } from "../../src/resolvers/nodeResolvers.ts";
import { openTest } from "../../src/testing/openTest.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { composedKeysSuite } from "../suites/composedKeys.ts";

composedKeysSuite("SQLite", () => openTest(events));

const SDL = `
type Query { viewer: Keeper box(by: BoxBy!): Box }
input BoxBy @oneOf { id: ID shelfAndLabel: ShelfAndLabelInput }
input ShelfAndLabelInput { shelf: ID! label: String! }
type Keeper implements Node @object(type: 1, table: "keepers") {
	id: ID!
	handle: String! @stored(default: "") @lookup(name: "handle")
}
type Shelf implements Node @object(type: 2, table: "shelves") {
	id: ID!
	boxes: [Box] @mapping(name: "holdBox", table: "shelf_has_boxes", inverse: "shelf", order: POSITION)
}
type Box implements Node
	@object(type: 3, table: "boxes")
	@lookup(name: "shelfAndLabel", of: ["shelf", "label"])
{
	id: ID!
	label: String! @stored(default: "")
	shelf: Shelf @reference(key: "shelf_id")
}
`;

describe("a natural key of a reference and a text", () => {
	const folder = temporaryFolder();
	after(() => folder[Symbol.dispose]());

	function boxes(sdl = SDL): App {
		writeFileSync(join(folder.path, "boxes.graphql"), sdl);
		return defineApp({
			schema: folder.path,
			resolvers: new Map([["Query.box", byIdOrKey("box", "shelfAndLabel")]]),
			policies: { fields: { Box: { label: { validate: text(20) } } } },
			identity: { type: "Keeper", nameLookup: "handle" },
		});
	}

	it("moves with its object to another arranged list, or not at all", async () => {
		await using graph = await openTest(boxes(), []);
		const { store, model } = graph.corkboard;
		const writes = createWrites(store);
		const shelf = () => writes.create({ type: "Shelf", data: {} });
		const [one, two] = [await shelf(), await shelf()];
		const box = (label: string, shelf_id: Id) =>
			writes.create({ type: "Box", data: { label, shelf_id } });
		const nails = await box("nails", one);
		await box("glue", one);
		const glue = await box("glue", two);
		const mapping = model.mappings.get("holdBox");
		assert.ok(mapping);
		const find = async (label: string, on: Id) => {
			const { data } = await graph.query(
				`{ box(by: {shelfAndLabel: {shelf: "${on}", label: "${label}"}}) { id shelf { boxes { nodes { label } } } } }`,
			);
			return (data as { box: { id: Id; shelf: object } | null }).box;
		};
		await writes.move({ mapping, object: nails, from: two, before: glue });
		assert.equal(await find("nails", one), null);
		assert.deepEqual(await find("nails", two), {
			id: nails,
			shelf: { boxes: { nodes: [{ label: "nails" }, { label: "glue" }] } },
		});
		// The name on the other shelf is free again; that of another box there is not.
		await box("nails", one);
		await assert.rejects(writes.move({ mapping, object: glue, from: one }), {
			code: "CONFLICT",
		});
		assert.equal((await find("glue", two))?.id, glue);
	});

	it("is another one with another default of its field, once verify --repair has written it", async () => {
		const withDefault = (label: string) =>
			boxes(
				SDL.replace(
					'label: String! @stored(default: "")',
					`label: String! @stored(default: "${label}")`,
				),
			);
		await using graph = await openTest(withDefault("plain"), []);
		const { store } = graph.corkboard;
		const { create } = createWrites(store);
		const shelf = await create({ type: "Shelf", data: {} });
		const id = await create({ type: "Box", data: { shelf_id: shelf } });
		await using newer = await openTest(withDefault("small"), []);
		const { schema, model } = newer.corkboard;
		const types = createStoredTypes(schema);
		const later = store.with({ model });
		const lookup = model.lookups.get("shelfAndLabel");
		assert.ok(lookup);
		const holderOf = async (label: string) => {
			const key = keyOfContent(lookup, { shelf_id: shelf, label }) ?? "";
			const [row] = await store.storage.read("lookups", [
				{ name: lookup.name, key },
			]);
			assert.ok(!(row instanceof CorkboardError));
			return row?.id;
		};
		assert.equal(await holderOf("plain"), id);
		assert.equal(await holderOf("small"), undefined);
		const { damage } = await verify(later, { types });
		assert.deepEqual(damage.map(({ kind }) => kind).toSorted(), [
			"lookup missing",
			"lookup not held",
		]);
		await verify(later, { types, repair: true });
		assert.equal(await holderOf("plain"), undefined);
		assert.equal(await holderOf("small"), id);
		assert.equal((await verify(later, { types })).clean, true);
	});

	it("is asked for by an input with each part, or the program does not start", () => {
		const refused = (from: string, to: string) => {
			assert.notEqual(SDL.replace(from, to), SDL);
			try {
				readApp(boxes(SDL.replace(from, to)));
			} catch (thrown) {
				return (thrown as Error).message;
			}
			return "";
		};
		const wanted =
			"The resolver of Query.box finds by the parts of the lookup shelfAndLabel: shelfAndLabel in its argument by must be an input with shelf: ID!, label: String!";
		assert.equal(
			refused("{ shelf: ID! label: String! }", "{ shelf: ID! label: String }"),
			`${wanted}, got shelf: ID!, label: String.`,
		);
		assert.equal(
			refused("shelfAndLabel: ShelfAndLabelInput }", "shelfAndLabel: String }"),
			`${wanted}, got String.`,
		);
		assert.equal(
			refused("shelfAndLabel: ShelfAndLabelInput }", "byLabel: String }"),
			`${wanted}, got none.`,
		);
	});
});
