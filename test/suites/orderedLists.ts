import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { App } from "../../src/app/defineApp.ts";
import { findApp } from "../../src/app/findApp.ts";
import { applyEdges } from "../../src/graph/outbox/parts/edgeUpdates.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { createStoredTypes } from "../../src/model/storedTypes.ts";
import type { Mapping } from "../../src/model/types.ts";
import { rewriteObjects } from "../../src/ops/rewriteObjects.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { shardOfList } from "../../src/storage/feedShards.ts";
import { type Edge, PRESENT } from "../../src/storage/rows.ts";
import type { TestGraph } from "../../src/testing/openTest.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

/** Recipes of a shelf by how good they are and by when they are wanted. Each is on the shard of its cook, and a shelf on that of its owner. */
const SDL = `
type Query { viewer: Cook shelf(id: ID!): Shelf }
type Cook implements Node @object(type: 1, table: "cooks") {
	id: ID!
	handle: String! @stored(default: "") @lookup(name: "handle")
}
type Shelf implements Node @object(type: 2, table: "shelves") {
	id: ID!
	name: String! @stored(default: "")
	owner: Cook @reference(key: "cook_id")
	newest: [Recipe] @mapping(name: "put", table: "shelf_has_recipes", inverse: "shelf")
	best: [Recipe]
		@mapping(name: "rate", table: "shelf_rates_recipes", inverse: "shelf", order: HIGHEST_FIRST, orderBy: "rating")
	next: [Recipe]
		@mapping(name: "want", table: "shelf_wants_recipes", inverse: "shelf", order: LOWEST_FIRST, orderBy: "wantedAt")
}
type Recipe implements Node @object(type: 3, table: "recipes") @mutations(owner: "cook", in: "shelf") {
	id: ID!
	title: String! @stored(default: "")
	rating: Int @stored(key: "stars")
	wantedAt: DateTime @stored(key: "wanted_at")
	cook: Cook @reference(key: "cook_id")
	shelf: Shelf @reference(key: "shelf_id")
}
input CreateRecipeInput { wantedAt: DateTime }
input UpdateRecipeInput { wantedAt: DateTime }
`;

const APP = `
import { byId, dateTime, defineApp, integer, text } from "corkboard";

export default defineApp({
	schema: import.meta.dirname + "/schema",
	resolvers: new Map([["Query.shelf", byId("shelf")]]),
	policies: {
		visibility: { types: { Recipe: { owner: "cook" } }, privateLists: [] },
		placement: {
			Recipe: { colocateWith: "cook" },
			Shelf: { colocateWith: "owner" },
		},
		fields: {
			Cook: { handle: { validate: text(20) } },
			Shelf: { name: { validate: text(20) } },
			Recipe: {
				title: { validate: text(20) },
				rating: { validate: integer(-2147483648, 2147483647) },
				wantedAt: { validate: dateTime },
			},
		},
	},
	identity: { type: "Cook", nameLookup: "handle" },
});
`;

/** The first owns the shelves, so that recipes of this cook alone are on their shard. */
const COOKS = Array.from({ length: 6 }, (_, at) => `cook${at}`);

const LINES: readonly object[] = [
	...COOKS.map((handle) => ({
		type: "Cook",
		key: handle,
		fields: { handle },
	})),
];

/** In the order of `next`. */
const TIMES = [
	"0000-01-01T00:00:00.000Z",
	"1969-12-31T23:59:59.999Z",
	"1970-01-01T00:00:00.000Z",
	"2026-11-29T20:00:00.000Z",
	"2026-11-29T20:00:00.001Z",
	"9999-12-31T23:59:59.999Z",
	null,
];
/** In the order of `best`. */
const RATINGS = [2_147_483_647, 5, 1, 0, -1, -2_147_483_648, null];

/** Opens an app, whose folder is given. */
type OpenApp = (
	app: App,
	lines: readonly object[],
	folder: string,
) => Promise<TestGraph>;

type ListName = "newest" | "best" | "next";

interface List {
	readonly totalCount: number;
	readonly nodes: readonly { readonly id: Id; readonly title: string }[];
	readonly pageInfo: {
		readonly hasNextPage: boolean;
		readonly hasPreviousPage: boolean;
		readonly startCursor: string | null;
		readonly endCursor: string | null;
	};
}

/** Lists that are ordered by a field, on a database. */
export function orderedListSuite(database: string, open: OpenApp): void {
	describe(`a list that is ordered by a field, on ${database}`, () => {
		const folder = temporaryFolder();
		let graph: TestGraph;
		let owner: Id;

		before(async () => {
			mkdirSync(join(folder.path, "schema"));
			writeFileSync(join(folder.path, "schema/a.graphql"), SDL);
			writeFileSync(join(folder.path, "app.ts"), APP);
			writeFileSync(join(folder.path, "package.json"), '{"type": "module"}');
			const locked = await runHere(["schema", "lock", "--app", folder.path]);
			assert.equal(locked.code, 0, locked.err);
			graph = await open(await findApp(folder.path), LINES, folder.path);
			const { storage } = graph.corkboard.store;
			const found = await storage.read("lookups", [
				{ name: "import", key: "cook0" },
			]);
			owner = (found[0] as { readonly id: Id }).id;
		});
		after(async () => {
			await graph?.[Symbol.asyncDispose]();
			folder[Symbol.dispose]();
		});

		async function ask<T>(document: string, as: string): Promise<T> {
			const { data, errors } = await graph.query(document, { as });
			assert.equal(errors, undefined, JSON.stringify(errors));
			return data as T;
		}

		/** A mutation with values of the SDL, which JSON is but for its keys. */
		function input(values: Readonly<Record<string, unknown>>): string {
			const fields = Object.entries(values).map(
				([name, value]) => `${name}: ${JSON.stringify(value)}`,
			);
			return `{${fields.join(", ")}}`;
		}

		async function create(
			values: Readonly<Record<string, unknown>>,
			cook = COOKS[0] as string,
		): Promise<Id> {
			const { createRecipe } = await ask<{
				createRecipe: { recipe: { id: Id } };
			}>(
				`mutation { createRecipe(input: ${input(values)}) { recipe { id } } }`,
				cook,
			);
			return createRecipe.recipe.id;
		}

		async function update(
			recipeId: Id,
			values: Readonly<Record<string, unknown>>,
			cook = COOKS[0] as string,
		): Promise<void> {
			await ask(
				`mutation { updateRecipe(input: ${input({ recipeId, ...values })}) { recipe { id } } }`,
				cook,
			);
		}

		async function page(
			of: Id,
			list: ListName,
			args: string = "first: 100",
		): Promise<List> {
			const found = await ask<{ shelf: Record<ListName, List> }>(
				`{ shelf(id: "${of}") { ${list}(${args}) { totalCount nodes { id title } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
				COOKS[0] as string,
			);
			return found.shelf[list];
		}

		async function titles(of: Id, list: ListName): Promise<readonly string[]> {
			const { nodes, totalCount } = await page(of, list);
			assert.equal(totalCount, nodes.length);
			return nodes.map(({ title }) => title);
		}

		/** A shelf of its own for a test, with these recipes by title. */
		async function newShelf(
			recipes: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
		): Promise<{
			readonly of: Id;
			readonly ids: Readonly<Record<string, Id>>;
		}> {
			const of = await createWrites(graph.corkboard.store).create({
				type: "Shelf",
				data: { name: "x", cook_id: owner },
			});
			const ids: Record<string, Id> = {};
			for (const [at, [title, values]] of Object.entries(recipes).entries()) {
				const cook = COOKS[at % COOKS.length];
				ids[title] = await create({ shelfId: of, title, ...values }, cook);
			}
			return { of, ids };
		}

		function mapping(name: string): Mapping {
			const found = graph.corkboard.model.mappings.get(name);
			assert.ok(found);
			return found;
		}

		async function edge(name: string, from: Id, to: Id): Promise<Edge> {
			const [found] = await graph.corkboard.store.storage.read("edges", [
				{ mapping: mapping(name), from, to },
			]);
			assert.ok(found && !(found instanceof Error));
			return found;
		}

		async function everythingAgrees(): Promise<void> {
			const { store, schema } = graph.corkboard;
			const { clean, damage } = await verify(store, {
				types: createStoredTypes(schema),
			});
			assert.deepEqual([clean, damage], [true, []]);
		}

		it("has the lowest or the highest first, from the first time to the last, and objects without a value at its end", async () => {
			const shuffled = [3, 6, 0, 5, 1, 4, 2];
			const { of } = await newShelf(
				Object.fromEntries(
					shuffled.map((at) => [
						`r${at}`,
						{ rating: RATINGS[at], wantedAt: TIMES[at] },
					]),
				),
			);
			const inOrder = [0, 1, 2, 3, 4, 5, 6].map((at) => `r${at}`);
			assert.deepEqual(await titles(of, "next"), inOrder);
			assert.deepEqual(await titles(of, "best"), inOrder);
			assert.deepEqual(
				await titles(of, "newest"),
				shuffled.map((at) => `r${at}`).toReversed(),
			);
			await everythingAgrees();
		});

		it("is the same where an import wrote it, whatever the order of its lines", async () => {
			await graph.import([
				{ type: "Shelf", key: "i", fields: { name: "i", owner: "cook0" } },
				...[2, 0, 3, 1].map((at) => ({
					type: "Recipe",
					key: `i${at}`,
					at: `2020-01-0${at + 1}T00:00:00.000Z`,
					fields: {
						title: `i${at}`,
						cook: `cook${at}`,
						shelf: "i",
						wantedAt: TIMES[at],
						rating: RATINGS[at],
					},
				})),
			]);
			const found = await ask<{ node: { shelf: { id: Id } } }>(
				`{ node(id: "${await imported("i0")}") { ... on Recipe { shelf { id } } } }`,
				"cook0",
			);
			const { id } = found.node.shelf;
			assert.deepEqual(await titles(id, "next"), ["i0", "i1", "i2", "i3"]);
			assert.deepEqual(await titles(id, "best"), ["i0", "i1", "i2", "i3"]);
			// An import that changes the field moves the edge.
			await graph.import([
				{
					type: "Recipe",
					key: "i0",
					rev: "2",
					fields: {
						title: "i0",
						cook: "cook0",
						shelf: "i",
						wantedAt: TIMES[5],
						rating: null,
					},
				},
			]);
			assert.deepEqual(await titles(id, "next"), ["i1", "i2", "i3", "i0"]);
			assert.deepEqual(await titles(id, "best"), ["i1", "i2", "i3", "i0"]);
			await everythingAgrees();
		});

		async function imported(key: string): Promise<Id> {
			const [found] = await graph.corkboard.store.storage.read("lookups", [
				{ name: "import", key },
			]);
			assert.ok(found && !(found instanceof Error) && found.id);
			return found.id;
		}

		it("follows the field, wherever the object is stored", async () => {
			const { of, ids } = await newShelf({
				a: { rating: 1 },
				b: { rating: 2 },
				c: { rating: 3 },
				d: {},
			});
			assert.deepEqual(await titles(of, "best"), ["c", "b", "a", "d"]);
			await update(ids.a as Id, { rating: 9 }, "cook0");
			await update(ids.d as Id, { rating: 2 }, "cook3");
			await update(ids.c as Id, { rating: null }, "cook2");
			const best = await titles(of, "best");
			assert.deepEqual([best[0], best[3]], ["a", "c"]);
			assert.deepEqual(best.slice(1, 3).toSorted(), ["b", "d"]);
			await everythingAgrees();
		});

		it("does not write an edge whose object changes in something else", async () => {
			const { of, ids } = await newShelf({
				a: { rating: 1, wantedAt: TIMES[3] },
			});
			const [a] = [ids.a as Id];
			const before = await Promise.all([
				edge("rate", of, a),
				edge("want", of, a),
			]);
			await update(a, { title: "b" });
			await update(a, { rating: 1, title: "c" });
			assert.deepEqual(
				await Promise.all([edge("rate", of, a), edge("want", of, a)]),
				before,
			);
			await update(a, { rating: 2 });
			const [rated, wanted] = await Promise.all([
				edge("rate", of, a),
				edge("want", of, a),
			]);
			assert.ok(rated.version > (before[0]?.version ?? 0));
			assert.deepEqual(wanted, before[1]);
		});

		it("has each of many objects with one value once, by id, on pages forwards and back", async () => {
			const { of, ids } = await newShelf(
				Object.fromEntries(
					Array.from({ length: 7 }, (_, at) => [
						`s${at}`,
						{ rating: at % 2 === 0 ? 4 : null },
					]),
				),
			);
			const rising = Object.values(ids).toSorted((a, b) =>
				BigInt(a) < BigInt(b) ? -1 : 1,
			);
			const falling = rising.toReversed();
			const rated = new Set(
				["s0", "s2", "s4", "s6"].map((title) => ids[title]),
			);
			for (const [list, all] of [
				[
					"best",
					[
						...falling.filter((id) => rated.has(id)),
						...falling.filter((id) => !rated.has(id)),
					],
				],
				["next", rising],
			] as const) {
				const seen: Id[] = [];
				let after: string | null = null;
				do {
					const args: string = after === null ? "" : `, after: "${after}"`;
					const { nodes, pageInfo } = await page(of, list, `first: 3${args}`);
					seen.push(...nodes.map(({ id }) => id));
					after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
				} while (after !== null);
				assert.deepEqual(seen, all);
				const back: Id[] = [];
				let before: string | null = null;
				do {
					const args: string = before === null ? "" : `, before: "${before}"`;
					const { nodes, pageInfo } = await page(of, list, `last: 3${args}`);
					back.unshift(...nodes.map(({ id }) => id));
					before = pageInfo.hasPreviousPage ? pageInfo.startCursor : null;
				} while (before !== null);
				assert.deepEqual(back, all);
			}
		});

		it("goes on behind a cursor at the same value, also if its object has moved, has no value any more or is deleted", async () => {
			const { of, ids } = await newShelf({
				a: { rating: 5 },
				b: { rating: 4 },
				c: { rating: 3 },
				d: { rating: 2 },
				e: {},
			});
			const { pageInfo } = await page(of, "best", "first: 2");
			const rest = async () => {
				const args = `first: 9, after: "${pageInfo.endCursor}"`;
				const { nodes } = await page(of, "best", args);
				return nodes.map(({ title }) => title);
			};
			assert.deepEqual(await rest(), ["c", "d", "e"]);
			// What was read and falls behind the cursor is read twice.
			await update(ids.b as Id, { rating: 1 }, "cook1");
			assert.deepEqual(await rest(), ["c", "d", "b", "e"]);
			// What was not read and rises above it is missed.
			await update(ids.c as Id, { rating: 6 }, "cook2");
			assert.deepEqual(await rest(), ["d", "b", "e"]);
			await update(ids.b as Id, { rating: null }, "cook1");
			assert.deepEqual((await rest()).toSorted(), ["b", "d", "e"]);
			await ask(
				`mutation { deleteRecipe(input: {recipeId: "${ids.b}"}) { deletedRecipeId } }`,
				"cook1",
			);
			assert.deepEqual(await rest(), ["d", "e"]);
			assert.deepEqual(await titles(of, "best"), ["c", "a", "d", "e"]);
		});

		it("begins at a value with startAt, in both directions, and goes on from there by cursors", async () => {
			const { of } = await newShelf({
				a: { rating: 5, wantedAt: TIMES[1] },
				b: { rating: 3, wantedAt: TIMES[2] },
				c: { rating: 3, wantedAt: TIMES[3] },
				d: { rating: -4, wantedAt: TIMES[4] },
				e: {},
			});
			const from = async (list: ListName, args: string) => {
				const { nodes, pageInfo } = await page(of, list, args);
				return { titles: nodes.map(({ title }) => title).join(""), pageInfo };
			};
			for (const [list, args, expected] of [
				["best", "first: 9, startAt: 6", "abcde"],
				["best", "first: 9, startAt: 5", "abcde"],
				["best", "first: 9, startAt: 4", "bcde"],
				["best", "first: 9, startAt: 3", "bcde"],
				["best", "first: 9, startAt: 2", "de"],
				["best", "first: 9, startAt: -5", "e"],
				["best", "last: 2, startAt: 3", "de"],
				["best", "last: 9, startAt: 2", "de"],
				["next", `first: 9, startAt: "${TIMES[0]}"`, "abcde"],
				["next", `first: 9, startAt: "${TIMES[2]}"`, "bcde"],
				["next", `first: 1, startAt: "2000-01-01T00:00:00+02:00"`, "c"],
				["next", `first: 9, startAt: "${TIMES[5]}"`, "e"],
				["next", "first: 2, startAt: null", "ab"],
			] as const) {
				const found = await from(list, args);
				// Those with the same rating are in the order of their ids.
				assert.equal(
					found.titles.replace("cb", "bc"),
					expected,
					`${list} ${args}`,
				);
			}
			const first = await from("best", "first: 2, startAt: 3");
			assert.equal(first.pageInfo.hasPreviousPage, true);
			assert.equal(first.pageInfo.hasNextPage, true);
			const { titles } = await from(
				"best",
				`first: 2, startAt: 3, after: "${first.pageInfo.endCursor}"`,
			);
			assert.equal(titles, "de");
			const back = await from(
				"best",
				`last: 1, startAt: 3, before: "${first.pageInfo.startCursor}"`,
			);
			assert.deepEqual(
				[back.titles, back.pageInfo.hasPreviousPage],
				["", true],
			);
		});

		it("agrees with the field after changes that race", async () => {
			const { of, ids } = await newShelf({
				a: { rating: 1 },
				b: { rating: 50 },
			});
			await Promise.all(
				Array.from({ length: 20 }, (_, at) =>
					update(ids.b as Id, { rating: 100 - at * 7 }, "cook1"),
				),
			);
			const found = await ask<{ node: { rating: number } }>(
				`{ node(id: "${ids.b}") { ... on Recipe { rating } } }`,
				"cook0",
			);
			assert.deepEqual(
				await titles(of, "best"),
				found.node.rating > 1 ? ["b", "a"] : ["a", "b"],
			);
			await everythingAgrees();
		});

		it("keeps a change when one before it is delivered late, and then again", async () => {
			const { of, ids } = await newShelf({ x: {}, b: { rating: 1 } });
			const to = ids.b as Id;
			const late = await edge("rate", of, to);
			await update(to, { rating: 7 }, "cook1");
			const now = await edge("rate", of, to);
			const pipeline = new WritePipeline(graph.corkboard.store);
			for (const { state, version, sequence } of [late, now, late]) {
				await applyEdges(pipeline, [
					{ mapping: "rate", from: of, to, state, version, sequence },
				]);
			}
			assert.deepEqual(await edge("rate", of, to), now);
			assert.deepEqual(await titles(of, "best"), ["b", "x"]);
		});

		it("has an object at its place when it comes from another list, and loses one that is deleted", async () => {
			const { of, ids } = await newShelf({
				a: { rating: 1 },
				b: { rating: 3 },
			});
			const writes = createWrites(graph.corkboard.store);
			const from = await newShelf({ x: {}, c: { rating: 9 } });
			// With its rating, in one change.
			await writes.modify(from.ids.c as Id, (data) => ({
				...data,
				shelf_id: of,
				stars: 2,
			}));
			assert.deepEqual(await titles(of, "best"), ["b", "c", "a"]);
			assert.deepEqual(await titles(from.of, "best"), ["x"]);
			await writes.modify(ids.b as Id, (data) => ({
				...data,
				active: false,
				stars: 0,
			}));
			assert.deepEqual(await titles(of, "best"), ["c", "a"]);
			await everythingAgrees();
		});

		it("follows a rewrite of all objects", async () => {
			const { of } = await newShelf({ a: { rating: 1 }, b: { rating: 2 } });
			const options = { rate: null, signal: new AbortController().signal };
			const rewrite = {
				type: "Recipe",
				change: (data: Readonly<Record<string, unknown>>) =>
					data.shelf_id === of && Number(data.stars) > 0
						? { ...data, stars: -Number(data.stars) }
						: null,
			} as const;
			const dry = await rewriteObjects(graph.corkboard.store, rewrite, {
				...options,
				isDryRun: true,
			});
			assert.deepEqual(
				[dry.changed, await titles(of, "best")],
				[2, ["b", "a"]],
			);
			await rewriteObjects(graph.corkboard.store, rewrite, {
				...options,
				isDryRun: false,
			});
			assert.deepEqual(await titles(of, "best"), ["a", "b"]);
			await everythingAgrees();
		});

		it("is checked by verify, and repaired", async () => {
			const { of, ids } = await newShelf({
				a: { rating: 1 },
				b: { rating: 2 },
			});
			const { store, schema } = graph.corkboard;
			const list = { mapping: mapping("rate"), from: of };
			const a = await edge("rate", of, ids.a as Id);
			await new WritePipeline(store).transact({
				shard: shardOfList(list, store.storage),
				lists: [list],
				edges: [{ ...list, to: a.to }],
				decide: () => ({
					result: null,
					edges: [
						{
							...list,
							to: a.to,
							state: PRESENT,
							version: a.version,
							sequence: a.sequence + 100,
						},
					],
				}),
			});
			const types = createStoredTypes(schema);
			const found = await verify(store, { types });
			assert.deepEqual(
				found.damage.map(({ kind, count }) => [kind, count]),
				[["wrong edge number", 1]],
			);
			assert.match(
				String(found.damage[0]?.examples[0]?.description),
				/; sequence \d+, expected \d+ for its rating 1$/,
			);
			assert.equal((await verify(store, { types, repair: true })).clean, true);
			assert.deepEqual(await titles(of, "best"), ["b", "a"]);
			await everythingAgrees();
		});
	});
}
