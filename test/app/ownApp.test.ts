import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findApp } from "../../src/app/findApp.ts";
import { findUserByName } from "../../src/app/findUser.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import { command, runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const RECIPES = join(import.meta.dirname, "../../examples/recipes");

describe("an app of somebody's own", () => {
	const folder = temporaryFolder();
	let at = -1;
	after(() => folder[Symbol.dispose]());
	before(() => {
		writeFileSync(join(folder.path, "package.json"), '{"type": "module"}');
	});

	/** A folder with an app; returns its path. */
	function made(
		name: string,
		{ app = APP, sdl = SDL }: { readonly app?: string; readonly sdl?: string },
	): string {
		const path = join(folder.path, name);
		mkdirSync(join(path, "schema"), { recursive: true });
		writeFileSync(join(path, "app.ts"), app);
		writeFileSync(join(path, "schema/songs.graphql"), sdl);
		return path;
	}

	it("is found by --app, before or after the command, and by CORKBOARD_APP", async () => {
		const path = made("songs", {});
		for (const [args, env] of [
			[["--app", path, "schema", "print"], {}],
			[["schema", "print", `--app=${path}`], {}],
			[["schema", "print"], { CORKBOARD_APP: path }],
		] as const) {
			const { code, out, err } = await command(args, { env });
			assert.equal(code, 0, err);
			assert.match(out, /songs/);
			assert.doesNotMatch(out, /pins/);
		}
	});

	it("imports, lists and verifies with nothing of users, boards and pins", async () => {
		const path = made("stored", {});
		const env = {
			CORKBOARD_APP: path,
			CORKBOARD_DATA: join(path, "data"),
		};
		const imported = await runHere(["import", "-"], {
			env,
			input: [
				'{"type":"Artist","key":"a","fields":{"handle":"ada"}}',
				'{"type":"Song","key":"s","fields":{"title":"One","artist":"a"}}',
				'{"type":"Song","key":"t","fields":{"title":"Two","artist":"a","hidden":true}}',
			].join("\n"),
		});
		assert.equal(imported.code, 0, imported.err);
		assert.match(imported.out, /3 objects and 0 edges created/);
		const verified = await runHere(["verify"], { env });
		assert.equal(verified.code, 0, verified.out);
		const token = await runHere(["tokens", "create", "ada"], { env });
		assert.equal(token.code, 0, token.err);
		const file = join(path, "songs.query");
		writeFileSync(
			file,
			'{ artist(by: {handle: "ada"}) { songs(first: 9) { totalCount nodes { title } } } }',
		);
		const asked = await runHere(["explain", file, "--as", "ada"], { env });
		assert.equal(asked.code, 0, asked.err);
	});

	it("says in a few lines of verify that tables of a newer schema are missing", async () => {
		const path = made("older", {});
		const env = { CORKBOARD_APP: path, CORKBOARD_DATA: join(path, "data") };
		const input = '{"type":"Artist","key":"a","fields":{"handle":"ada"}}';
		assert.equal((await runHere(["import", "-"], { env, input })).code, 0);
		const list =
			'  liked: [Song] @mapping(name: "likeSong", table: "artist_likes_songs")\n';
		made("older", { sdl: SDL.replace("  songs: [", `${list}  songs: [`) });
		const { code, out } = await runHere(["verify"], { env });
		assert.equal(code, 3);
		assert.match(out, /no such table: artist_likes_songs/);
		assert.match(out, /^ {2}and \d+ more, which --json names$/m);
		assert.match(
			out,
			/^tables of a newer schema are missing until init, or the next start on a data folder, creates them$/m,
		);
		assert.ok(out.trim().split("\n").length < 20, out);
	});

	it("is refused with a file and a line before anything is opened, where it changed against its lock file", async () => {
		const path = made("locked", {});
		const data = join(path, "data");
		const lock = {
			types: {
				Artist: { number: 1, table: "artists", keys: { handle: "String" } },
				Song: {
					number: 7,
					table: "songs",
					keys: {
						title: "String",
						hidden: "Boolean",
						artist_id: "id of Artist",
					},
				},
			},
			mappings: {},
			lookups: {},
		};
		writeFileSync(join(path, "schema/model.lock.json"), JSON.stringify(lock));
		const { code, err } = await runHere(["objects", "list", "songs"], {
			env: { CORKBOARD_APP: path, CORKBOARD_DATA: data },
		});
		assert.equal(code, 1);
		assert.match(
			err,
			/schema\/songs\.graphql:\d+: the number of the type Song must stay 7, got 2$/m,
		);
		assert.ok(!existsSync(data));
	});

	it("is served in examples/recipes with secret cookbooks and favorites, and nothing of ours", async () => {
		const data = join(folder.path, "recipes");
		const env = { CORKBOARD_APP: RECIPES, CORKBOARD_DATA: data };
		const imported = await runHere(["import", "-"], {
			env,
			input: [
				'{"type":"Cook","key":"ada","fields":{"handle":"ada"}}',
				'{"type":"Cook","key":"bo","fields":{"handle":"bo"}}',
				'{"type":"Cookbook","key":"open","fields":{"name":"Bread","owner":"ada"}}',
				'{"type":"Cookbook","key":"secret","fields":{"name":"Family","owner":"ada","secret":true}}',
				'{"type":"Recipe","key":"loaf","fields":{"title":"Loaf","cook":"ada","cookbook":"open"}}',
				'{"type":"Recipe","key":"cake","fields":{"title":"Cake","cook":"ada","cookbook":"secret"}}',
				'{"edge":"favoriteRecipe","from":"bo","to":"loaf"}',
			].join("\n"),
		});
		assert.equal(imported.code, 0, imported.err);
		const app = await findApp(RECIPES);
		{
			await using corkboard = await openCorkboard(app, readConfig(env));
			const { query } = corkboard;
			const bo = await findUserByName(corkboard, "bo");
			const ada = await findUserByName(corkboard, "ada");
			const ask =
				'{ cook(by: {handle: "ada"}) { recipes { nodes { title favoredBy { totalCount } viewerFavors } } cookbooks { nodes { name } } } }';
			const loaf = (viewerFavors: boolean) => ({
				title: "Loaf",
				favoredBy: { totalCount: 1 },
				viewerFavors,
			});
			assert.deepEqual((await query(ask, { viewer: bo })).data, {
				cook: {
					recipes: { nodes: [loaf(true)] },
					cookbooks: { nodes: [{ name: "Bread" }] },
				},
			});
			const { data: own } = await query(ask, { viewer: ada });
			assert.match(JSON.stringify(own), /Cake.*Family/);
			const { data: made } = await query(
				'mutation { createCookbook(input: {name: "Soup", secret: true}) { cookbook { name secret } } }',
				{ viewer: bo },
			);
			assert.deepEqual(made, {
				createCookbook: { cookbook: { name: "Soup", secret: true } },
			});
			await tryDeclaredMutations(query, bo, ada);
		}
		const verified = await runHere(["verify"], { env });
		assert.equal(verified.code, 0, verified.out);
		const printed = await command(["schema", "print", "--public"], { env });
		assert.match(
			printed.out,
			/"""A page of recipes\."""\ntype RecipeConnection/,
		);
		assert.doesNotMatch(printed.out, /\bPin/);
	});

	it("has no pools and commands of a home feed where it names none", async () => {
		const data = join(folder.path, "unfed");
		const env = { CORKBOARD_APP: RECIPES, CORKBOARD_DATA: data };
		const { code } = await runHere(["import", "-"], { env, input: "" });
		assert.equal(code, 0);
		assert.ok(existsSync(join(data, "db00000.sqlite")));
		assert.ok(!existsSync(join(data, "pool00000.sqlite")));
		const { out } = await command(["--help"], { env });
		assert.match(out, /^ +objects list/m);
		assert.doesNotMatch(out, /^ +feeds /m);
		const asked = await command(["feeds", "stats"], { env });
		assert.equal(asked.code, 2);
		assert.match(asked.err, /Unknown command feeds: this app has no such part/);
	});

	it("is refused where its feed names what the schema does not have", async () => {
		const app = (feed: string) =>
			APP.replace("\tidentity:", `\tfeed: ${feed},\n\tidentity:`);
		const source = '{ name: "artist", follow: "ownSong", items: "ownSong" }';
		for (const [name, feed, problem] of [
			[
				"list",
				`{ list: "shown", owner: "artist", from: [${source}] }`,
				"feed.list names the mapping shown, which the schema does not have.",
			],
			[
				"owner",
				`{ list: "ownSong", owner: "singer", from: [${source}] }`,
				"feed.owner names Song.singer, which is no @reference to Artist.",
			],
			[
				"from",
				`{ list: "ownSong", owner: "artist", from: [${source}] }`,
				"feed.from[0].items must be a mapping from Song to Song; ownSong leads from Artist to Song.",
			],
			[
				"nobody",
				'{ list: "ownSong", owner: "artist", from: [] }',
				"feed.from must name what users follow.",
			],
		] as const) {
			const path = made(`feed-${name}`, { app: app(feed) });
			const { code, err } = await command(["schema", "print", "--app", path]);
			assert.equal(code, 1, name);
			assert.ok(err.includes(`The app's ${problem}`), err);
		}
	});

	for (const [what, files, problem] of [
		[
			"a folder without one",
			null,
			/no app: expected a file app\.ts there that exports what defineApp returns/,
		],
		[
			"one that does not compile",
			{ app: "export default defineApp({\n  schema: ,\n});\n" },
			/bad-1\/app\.ts:2: /,
		],
		[
			"one that imports what is not there",
			{ app: 'import { b } from "./b.ts";\nexport default b;\n' },
			/bad-2\/app\.ts:1: Cannot find module '.*\/bad-2\/b\.ts'/,
		],
		[
			"one that throws",
			{ app: "const a = 1;\nthrow new Error('no luck');\n" },
			/bad-3\/app\.ts:2: no luck$/m,
		],
		[
			"one that exports nothing",
			{ app: "export const app = 1;\n" },
			/bad-4\/app\.ts exports no app: write export default defineApp/,
		],
	] as const) {
		it(`is refused in a sentence: ${what}`, async () => {
			at += 1;
			const path =
				files === null
					? join(folder.path, "nothing")
					: made(`bad-${at}`, files as { app?: string });
			const { code, err } = await command(["schema", "print", "--app", path]);
			assert.equal(code, 1);
			assert.match(err, problem);
			assert.doesNotMatch(err, /^ +at /m);
		});
	}

	it("is refused with the lines of its SDL: a resolver without a field, a mapping without a table, two types with one number, an identity that is not there", async () => {
		for (const [name, change, problem] of [
			[
				"resolver",
				{ app: APP.replace('"Query.artist"', '"Artist.shoes"') },
				/songs\.graphql:\d+: there is a resolver for Artist\.shoes, which is not a field/,
			],
			[
				"table",
				{ sdl: SDL.replace(', table: "artist_has_songs"', "") },
				/songs\.graphql:\d+: .*table/,
			],
			[
				"number",
				{ sdl: SDL.replace("type: 2", "type: 1") },
				/songs\.graphql:\d+: the type number 1 of Song is already that of Artist/,
			],
			[
				"identity",
				{ app: APP.replace('nameLookup: "handle"', 'nameLookup: "name"') },
				/identity names the lookup name of Artist, which the schema does not have/,
			],
			[
				"mutations",
				{
					sdl: SDL.replace('"songs")', '"songs") @mutations(owner: "artist")'),
				},
				/createSong takes Song\.title, which has no validator: add policies\.fields\.Song\.title/,
			],
		] as const) {
			const path = made(name, change);
			const { code, err } = await command(["serve", "--check"], {
				env: { CORKBOARD_APP: path, CORKBOARD_DATA: join(path, "data") },
			});
			assert.equal(code, 1, name);
			assert.match(err, problem);
		}
	});

	it("is refused in one sentence: a list of an unknown type, a wrong name in @mutations, a resolver of a lookup or a mapping that is not there, a wrong createdAtField, what is no resolver or policy, no folder of SDL", async () => {
		const ofSong = (argument: string) => ({
			sdl: SDL.replace('"songs")', `"songs") @mutations(${argument})`),
		});
		const rename = (input: Readonly<Record<string, string>>) => ({
			sdl: `${SDL}type Mutation { rename(input: RenameInput!): RenamePayload }
input RenameInput { songId: ID! title: String! }
type RenamePayload { song: Song }
`,
			app: APP.replace(
				"new Map([",
				`new Map([["Mutation.rename", mutation({ name: "rename", cost: () => 0, input: () => ({ ${Object.entries(
					input,
				)
					.map((pair) => pair.join(": "))
					.join(", ")} }) }, async () => ({}))], `,
			),
		});
		for (const [name, change, problem] of [
			[
				"list",
				{ sdl: SDL.replace("[Song]", "[Sogn]") },
				/songs\.graphql:11: Unknown type "Sogn"\. Did you mean "Song"\?$/,
			],
			[
				"in",
				ofSong('owner: "artist", in: "album"'),
				/songs\.graphql:15: @mutations\(in:\) of Song must name a @reference of Song, got album$/,
			],
			[
				"owner",
				ofSong('owner: "singer"'),
				/songs\.graphql:15: @mutations\(owner:\) of Song must name a @reference of Song, got singer$/,
			],
			[
				"lookup",
				{ app: APP.replace('"artist", "handle"', '"artist", "handel"') },
				/The resolver of Query\.artist names the lookup handel, which the schema does not have\. Did you mean handle\?$/,
			],
			[
				"mapping",
				{
					app: APP.replace('byIdOrKey("artist", "handle")', 'listCount("x")'),
				},
				/The resolver of Query\.artist names the mapping x, which the schema does not have\.$/,
			],
			[
				"created",
				{ app: APP.replace("policies: {", 'policies: { createdAtField: "x",') },
				/The policies name the createdAtField x, which no type of the schema stores\.$/,
			],
			[
				"unknown",
				rename({ song: "required(id)", title: "required(text(9))" }),
				/The resolver of Mutation\.rename reads song, which RenameInput does not have\. Did you mean songId\?$/,
			],
			[
				"unread",
				rename({ songId: "required(id)" }),
				/The resolver of Mutation\.rename does not read title, which RenameInput has\.$/,
			],
			...(
				[
					[
						"absent",
						'byIdOrKey("artist", "handle")',
						"undefined",
						/The resolver of Query\.artist must be an object with the functions cost and resolve, got undefined\.$/,
					],
					[
						"plain",
						'byIdOrKey("artist", "handle")',
						"() => null",
						/The resolver of Query\.artist must be .* got a function\.$/,
					],
					[
						"policy",
						"policies: {",
						"policies: { visiblity: {},",
						/policies has visiblity, which means nothing there\. Did you mean visibility\?$/,
					],
					[
						"hidden",
						"isVisible:",
						"isVisble:",
						/policies\.visibility\.types\.Song has isVisble, which means nothing there\. Did you mean isVisible\?$/,
					],
					[
						"nothing",
						"types: {",
						"types: { Artist: undefined,",
						/policies\.visibility\.types\.Artist must be an object with parent, owner, .*, got undefined\.$/,
					],
					[
						"right",
						"policies: {",
						"policies: { rights: { Song: { edit: {} } },",
						/policies\.rights\.Song has edit, which means nothing there\.$/,
					],
					[
						"bare",
						"policies: {",
						"policies: { fields: { Song: { title: text(9) } },",
						/policies\.fields\.Song\.title must be an object with validate, .*, got a function\.$/,
					],
					[
						"unvalidated",
						"policies: {",
						"policies: { fields: { Song: { title: {} } },",
						/policies\.fields\.Song\.title\.validate must be a function, such as text\(100\), got undefined\.$/,
					],
				] as const
			).map(
				([name, from, to, problem]) =>
					[name, { app: APP.replace(from, to) }, problem] as const,
			),
			[
				"folder",
				{ app: APP.replace('"schema")', '"schem")') },
				/Cannot read the folder .*\/one-folder\/schem of the SDL: ENOENT\.$/,
			],
		] as const) {
			const path = made(`one-${name}`, change);
			const { code, err } = await command(["schema", "print", "--app", path]);
			assert.equal(code, 1, name);
			assert.match(err.trim(), problem);
			assert.equal(err.trim().split("\n").length, 1, err);
		}
	});
});

/** Those of ShoppingList, which nobody wrote. */
async function tryDeclaredMutations(
	query: Corkboard["query"],
	bo: Id | null,
	ada: Id | null,
): Promise<void> {
	const { data: created } = await query(
		'mutation { createShoppingList(input: {name: "Market"}) { shoppingList { id name isDone } shoppingListEdge { node { name } } viewer { handle shoppingLists { totalCount } } } }',
		{ viewer: bo },
	);
	const { createShoppingList: payload } = created as {
		createShoppingList: { shoppingList: { id: string } };
	};
	const { id } = payload.shoppingList;
	assert.deepEqual(payload, {
		shoppingList: { id, name: "Market", isDone: false },
		shoppingListEdge: { node: { name: "Market" } },
		viewer: { handle: "bo", shoppingLists: { totalCount: 1 } },
	});
	const ask = async (document: string, viewer: Id | null) => {
		const { data, errors = [] } = await query(document, {
			viewer,
			variables: { id },
		});
		return errors[0]?.extensions.code ?? data;
	};
	const update =
		"mutation ($id: ID!) { updateShoppingList(input: {shoppingListId: $id, isDone: true}) { shoppingList { name isDone } } }";
	const remove =
		"mutation ($id: ID!) { deleteShoppingList(input: {shoppingListId: $id}) { deletedShoppingListId } }";
	assert.equal(await ask(update, ada), "FORBIDDEN");
	assert.equal(await ask(remove, ada), "FORBIDDEN");
	assert.equal(await ask(remove, null), "UNAUTHENTICATED");
	assert.deepEqual(await ask(update, bo), {
		updateShoppingList: { shoppingList: { name: "Market", isDone: true } },
	});
	assert.deepEqual(
		await ask(
			"mutation ($id: ID!) { keepList(input: {shoppingListId: $id}) { viewer { keptLists { totalCount } } } }",
			ada,
		),
		{ keepList: { viewer: { keptLists: { totalCount: 1 } } } },
	);
	assert.deepEqual(await ask(remove, bo), {
		deleteShoppingList: { deletedShoppingListId: id },
	});
	assert.equal(await ask(remove, bo), "NOT_FOUND");
}

const SDL = `
type Query {
  viewer: Artist
  artist(by: ArtistBy!): Artist
}
input ArtistBy @oneOf { id: ID handle: String }

type Artist implements Node @object(type: 1, table: "artists") {
  id: ID!
  handle: String! @stored(default: "") @lookup(name: "handle", fold: CASE)
  songs: [Song]
    @mapping(name: "ownSong", table: "artist_has_songs", inverse: "artist")
}

type Song implements Node @object(type: 2, table: "songs") {
  id: ID!
  title: String! @stored(default: "")
  hidden: Boolean! @stored(default: false)
  artist: Artist @reference(key: "artist_id")
}
`;

const APP = `
import { join } from "node:path";
import { byIdOrKey, defineApp, id, listCount, mutation, required, text } from "corkboard";

export default defineApp({
	schema: join(import.meta.dirname, "schema"),
	resolvers: new Map([["Query.artist", byIdOrKey("artist", "handle")]]),
	policies: {
		visibility: {
			types: { Song: { owner: "artist", decidedBy: ["hidden"], isVisible: ({ data }) => data.hidden !== true } },
			privateLists: [],
		},
	},
	identity: { type: "Artist", nameLookup: "handle" },
});
`;
