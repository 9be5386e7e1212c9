import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { type Served, serve } from "../helpers/program.ts";
import { command, runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { type OwnServices, startServices } from "../services/startServices.ts";

const ROOT = join(import.meta.dirname, "../..");
const SECRET =
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/** A busy machine may be late, and all that is asked here may be asked again. */
const ATTEMPTS = 20;
const BUSY = /does not answer|UNAVAILABLE|not checked|TIMEOUT/;

/** What both versions have, besides examples/recipes. */
const NUMBERED: readonly (readonly [string, string])[] = [
	[
		'\t"Whether only its owner sees it, and the recipes in it."',
		'\t"How much its owner likes it."\n\trank: Int @stored\n\t"Whether only its owner sees it, and the recipes in it."',
	],
];

/** What the newer version changes in that SDL: a field, a rename, a list, a field that splits in two, a list by a field. */
const CHANGES: readonly (readonly [string, string])[] = [
	[
		'type Cookbook implements Node @object(type: 3, table: "cookbooks") @mutations {\n\t"The cookbook\'s id."\n\tid: ID!\n\t"What it is called."\n\tname: String! @stored(default: "")',
		'type Cookbook implements Node @object(type: 3, table: "cookbooks") @mutations {\n\t"The cookbook\'s id."\n\tid: ID!\n\t"What it is about."\n\tsubject: String @stored\n\t"What it is called."\n\ttitle: String! @stored(key: "name", default: "")',
	],
	[
		'\t"The shopping lists that the cook keeps at hand',
		'\t"The cookbooks that the cook keeps at hand, the latest first."\n\tkeptBooks: [Cookbook]\n\t\t@mapping(name: "keepBook", table: "cook_keeps_books")\n\t\t@mutations(add: "keepBook", remove: "dropBook")\n\t"The shopping lists that the cook keeps at hand',
	],
	[
		'\t"The recipes that the cook likes best, the latest first."',
		'\t"The cookbooks of the cook, the best first."\n\tbestBooks: [Cookbook]\n\t\t@mapping(name: "rankBook", table: "cook_ranks_books", inverse: "owner", order: HIGHEST_FIRST, orderBy: "rank")\n\t"The recipes that the cook likes best, the latest first."',
	],
	[
		'\t"Whether everything on it is bought."',
		'\t"The shop, which was the first part of the name."\n\tshop: String @stored\n\t"The day, which was the second part of the name."\n\tday: String @stored\n\t"Whether everything on it is bought."',
	],
	[
		"type Query {\n",
		'type Query {\n\t"All cookbooks, the latest first."\n\tcookbooks: [Cookbook] @mapping(name: "listCookbook", table: "root_has_cookbooks")\n',
	],
];

function replaced(
	text: string,
	changes: readonly (readonly [string, string])[],
): string {
	return changes.reduce((made, [from, to]) => {
		assert.ok(made.includes(from), from);
		return made.replace(from, to);
	}, text);
}

/** The name of a shopping list has both until no process writes it alone. */
const SPLIT = `
import type { Rewrite } from "corkboard";

export default {
	type: "ShoppingList",
	change(data) {
		const [shop, day] = String(data.name).split(": ");
		if (day === undefined) return null;
		if (data.shop === shop && data.day === day) return null;
		return { ...data, shop, day };
	},
} satisfies Rewrite;
`;

interface Cookbooks {
	readonly cookbooks: {
		readonly totalCount: number;
		readonly nodes: readonly { readonly title: string }[];
		readonly pageInfo: {
			readonly hasNextPage: boolean;
			readonly endCursor: string | null;
		};
	};
}

describe("an app that grows while an older version of it serves the same data", () => {
	const folder = temporaryFolder();
	let services: OwnServices;
	/** Two processes of `corkboard serve`, on the same servers. */
	let older: Served;
	let newer: Served;
	let token: string;
	const env = (app: string) => ({
		CORKBOARD_APP: join(folder.path, app),
		CORKBOARD_TOPOLOGY: join(folder.path, "topology.json"),
		CORKBOARD_MEMCACHED: services.memcached[0]?.address ?? "",
		CORKBOARD_REDIS: services.redis[0]?.url ?? "",
		CORKBOARD_SECRET: SECRET,
	});
	/** A copy of examples/recipes, with a number of each cookbook. */
	const copy = (name: string) => {
		const path = join(folder.path, name);
		cpSync(join(ROOT, "examples/recipes"), path, { recursive: true });
		const sdl = join(path, "schema/recipes.graphql");
		writeFileSync(sdl, replaced(readFileSync(sdl, "utf8"), NUMBERED));
		const code = join(path, "app.ts");
		writeFileSync(
			code,
			replaced(readFileSync(code, "utf8"), [
				["import { boolean, ", "import { boolean, integer, "],
				[
					"\t\t\t\tsecret: { validate: boolean },",
					"\t\t\t\tsecret: { validate: boolean },\n\t\t\t\trank: { validate: integer(0, 100) },",
				],
			]),
		);
		return path;
	};
	/** What a command prints; it must succeed, though not at once on a busy machine. */
	const run = async (app: string, ...args: readonly string[]) => {
		for (let attempt = 1; ; attempt++) {
			const { code, out, err } = await runHere(args, { env: env(app) });
			if (code === 0) return out;
			const said = `${args.join(" ")}: ${out}${err}`;
			assert.ok(attempt < ATTEMPTS && BUSY.test(said), said);
		}
	};

	before(async () => {
		services = await startServices({ mysql: 1, memcached: 1, redis: 1 });
		const primary = services.mysql[0]?.url ?? "";
		const ranges = [{ range: [0, 1], primary }];
		writeFileSync(
			join(folder.path, "topology.json"),
			JSON.stringify({
				version: 1,
				shards: [{ range: [0, 1], primary, open: true }],
				lookups: ranges,
			}),
		);
		writeFileSync(join(folder.path, "package.json"), '{"type": "module"}');
		copy("older");
		await run("older", "schema", "lock");
		const path = copy("newer");
		const sdl = join(path, "schema/recipes.graphql");
		writeFileSync(sdl, replaced(readFileSync(sdl, "utf8"), CHANGES));
		const code = join(path, "app.ts");
		writeFileSync(
			code,
			readFileSync(code, "utf8")
				.replace(
					"\t\t\t\tname: { validate: text(100) },\n\t\t\t\tsecret",
					"\t\t\t\ttitle: { validate: text(100) },\n\t\t\t\tsubject: { validate: text(100) },\n\t\t\t\tsecret",
				)
				.replace(
					"\t\t\t\tisDone:",
					"\t\t\t\tshop: { validate: text(100) },\n\t\t\t\tday: { validate: text(100) },\n\t\t\t\tisDone:",
				),
		);
		writeFileSync(join(folder.path, "split.ts"), SPLIT);
		await run("older", "init");
		older = await serve(env("older"));
		const imported = await runHere(["import", "-"], {
			env: env("older"),
			input: [
				'{"type":"Cook","key":"ada","fields":{"handle":"ada"}}',
				'{"type":"Cookbook","key":"b","fields":{"name":"Bread","owner":"ada"}}',
			].join("\n"),
		});
		assert.equal(imported.code, 0, imported.err);
		token = (await run("older", "tokens", "create", "ada")).trim();
		await run("newer", "schema", "lock");
		await run("newer", "init");
		newer = await serve(env("newer"));
	});
	after(async () => {
		await older?.[Symbol.asyncDispose]();
		await newer?.[Symbol.asyncDispose]();
		await services?.[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	/** What a process answers to ada. What a busy machine refuses is asked again. */
	async function ask<T>({ url }: Served, query: string): Promise<T> {
		for (let attempt = 1; ; attempt++) {
			const sent = await fetch(`${url}/graphql`, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					authorization: `Bearer ${token}`,
				},
				body: JSON.stringify({ query }),
			});
			const { data, errors } = JSON.parse(await sent.text());
			if (errors === undefined) return data as T;
			const said = JSON.stringify(errors);
			// It was deleted by the attempt before.
			if (attempt > 1 && said.includes("NOT_FOUND")) return data as T;
			assert.ok(attempt < ATTEMPTS && BUSY.test(said), said);
			await sleep(50);
		}
	}

	/** Creates cookbooks until it is stopped, one after the other; returns the names. */
	function writeOn(at: Served, field: "name" | "title", prefix: string) {
		const stopping = new AbortController();
		const written: string[] = [];
		const running = (async () => {
			while (!stopping.signal.aborted) {
				const name = `${prefix} ${written.length}`;
				await ask(
					at,
					`mutation { createCookbook(input: {${field}: "${name}", idempotencyKey: "${name}"}) { cookbook { id } } }`,
				);
				written.push(name);
				await sleep(50);
			}
			return written;
		})();
		running.catch(() => {});
		return async () => {
			stopping.abort();
			return await running;
		};
	}

	it("keeps what each version writes, splits a field while both write, and agrees at the end", async () => {
		const stopOlder = writeOn(older, "name", "Older");
		const stopNewer = writeOn(newer, "title", "Newer");
		type Books = {
			cook: { cookbooks: { nodes: { id: string; title: string }[] } };
		};
		const books = await ask<Books>(
			newer,
			'{ cook(by: {handle: "ada"}) { cookbooks(last: 1) { nodes { id title } } } }',
		);
		// The renamed field reads what was stored before.
		const [bread] = books.cook.cookbooks.nodes;
		assert.ok(bread);
		assert.equal(bread.title, "Bread");

		type Updated = {
			updateCookbook: { cookbook: { name: string; secret: boolean } };
		};
		// In turn, each reads what the other wrote, and loses nothing of it.
		for (let turn = 0; turn < 5; turn++) {
			await ask(
				newer,
				`mutation { updateCookbook(input: {cookbookId: "${bread.id}", subject: "Rye ${turn}", title: "Loaves ${turn}"}) { cookbook { id } } }`,
			);
			const updated: Updated = await ask(
				older,
				`mutation { updateCookbook(input: {cookbookId: "${bread.id}", secret: ${turn % 2 === 0}}) { cookbook { name secret } } }`,
			);
			assert.deepEqual(updated.updateCookbook.cookbook, {
				name: `Loaves ${turn}`,
				secret: turn % 2 === 0,
			});
			assert.deepEqual(
				await ask(
					newer,
					`{ node(id: "${bread.id}") { ... on Cookbook { subject title secret } } }`,
				),
				{
					node: {
						subject: `Rye ${turn}`,
						title: `Loaves ${turn}`,
						secret: turn % 2 === 0,
					},
				},
			);
		}

		// At the same time, each writes fields of its own.
		await Promise.all(
			Array.from({ length: 10 }, (_, n) =>
				n % 2 === 0
					? ask(
							newer,
							`mutation { updateCookbook(input: {cookbookId: "${bread.id}", subject: "last ${n}"}) { cookbook { id } } }`,
						)
					: ask(
							older,
							`mutation { updateCookbook(input: {cookbookId: "${bread.id}", name: "Last ${n}"}) { cookbook { id } } }`,
						),
			),
		);
		const { node } = await ask<{ node: { subject: string; title: string } }>(
			newer,
			`{ node(id: "${bread.id}") { ... on Cookbook { subject title } } }`,
		);
		assert.match(node.subject, /^last \d$/);
		assert.match(node.title, /^Last \d$/);

		// A list that is ordered by a field, of which the older version does not know.
		const rank = (at: Served, value: number) =>
			ask(
				at,
				`mutation { updateCookbook(input: {cookbookId: "${bread.id}", rank: ${value}}) { cookbook { id } } }`,
			);
		const best = async () => {
			const { cook } = await ask<{
				cook: {
					bestBooks: { nodes: { title: string; rank: number | null }[] };
				};
			}>(
				newer,
				'{ cook(by: {handle: "ada"}) { bestBooks(first: 2) { nodes { title rank } } } }',
			);
			return cook.bestBooks.nodes.map(({ title, rank }) => [
				title === "Second" ? title : "Bread",
				rank,
			]);
		};
		await ask(
			newer,
			'mutation { createCookbook(input: {title: "Second", rank: 3, idempotencyKey: "second"}) { cookbook { id } } }',
		);
		await rank(newer, 1);
		const second = ["Second", 3];
		assert.deepEqual(await best(), [second, ["Bread", 1]]);
		await rank(older, 7);
		// It stands where it stood, until verify moves it.
		await until(
			"the newer version to show what the older one wrote",
			async () => isDeepStrictEqual(await best(), [second, ["Bread", 7]]),
		);

		// A list that only the newer version has, of an object that the older one deletes.
		const gone = await ask<{ createCookbook: { cookbook: { id: string } } }>(
			older,
			'mutation { createCookbook(input: {name: "Gone", idempotencyKey: "gone"}) { cookbook { id } } }',
		);
		for (const id of [bread.id, gone.createCookbook.cookbook.id]) {
			await ask(
				newer,
				`mutation { keepBook(input: {cookbookId: "${id}"}) { cookbook { id } } }`,
			);
		}
		await ask(
			older,
			`mutation { deleteCookbook(input: {cookbookId: "${gone.createCookbook.cookbook.id}"}) { deletedCookbookId } }`,
		);
		assert.deepEqual(
			await ask(
				newer,
				'{ cook(by: {handle: "ada"}) { keptBooks { nodes { id } } } }',
			),
			{ cook: { keptBooks: { nodes: [{ id: bread.id }] } } },
		);

		// The older version writes names of shopping lists, before and during the rewrite.
		const create = (name: string) =>
			ask(
				older,
				`mutation { createShoppingList(input: {name: "${name}", idempotencyKey: "${name}"}) { shoppingList { id } } }`,
			);
		for (let n = 0; n < 30; n++) await create(`Market: day ${n}`);
		const file = join(folder.path, "split.ts");
		const counted = JSON.parse(
			await run("newer", "objects", "rewrite", file, "--dry-run", "--json"),
		);
		assert.deepEqual([counted.objects, counted.changed], [30, 30]);
		const interrupting = new AbortController();
		const interrupted = await command(
			["objects", "rewrite", file, "--rate", "20", "--yes", "--json"],
			{
				env: env("newer"),
				interruptSignal: () => interrupting.signal,
				open: async (...given) => {
					const corkboard = await openCorkboard(...given);
					setTimeout(() => interrupting.abort("SIGINT"), 300);
					return corkboard;
				},
			},
		);
		const first = JSON.parse(interrupted.out);
		await Promise.all([
			run("newer", "objects", "rewrite", file, "--yes", "--json"),
			(async () => {
				for (let n = 30; n < 40; n++) await create(`Baker: day ${n}`);
			})(),
		]);
		if (first.interruptedAt !== null) assert.ok(first.changed < 30);
		await run("newer", "objects", "rewrite", file, "--yes");
		const again = JSON.parse(
			await run("newer", "objects", "rewrite", file, "--yes", "--json"),
		);
		assert.deepEqual([again.objects, again.changed], [40, 0]);
		type Lists = {
			cook: { shoppingLists: { nodes: Record<string, string>[] } };
		};
		const lists = await ask<Lists>(
			newer,
			'{ cook(by: {handle: "ada"}) { shoppingLists(first: 100) { nodes { name shop day } } } }',
		);
		assert.equal(lists.cook.shoppingLists.nodes.length, 40);
		for (const { name, shop, day } of lists.cook.shoppingLists.nodes) {
			assert.equal(`${shop}: ${day}`, name);
		}

		// The older process ends while both are written to: it answers all that it took.
		const byOlder = await stopOlder();
		const stopped = await older.stop();
		assert.equal(stopped.code, 0, stopped.err);
		const byNewer = await stopNewer();
		assert.ok(byOlder.length > 0 && byNewer.length > 0);
		// Its objects are not on the new list of all, until verify puts them there.
		await run("newer", "verify", "--repair");
		assert.match(await run("newer", "verify"), /everything agrees/);
		assert.deepEqual(await best(), [["Bread", 7], second]);
		const written = [...byOlder, ...byNewer, node.title, "Second"].toSorted();
		const all: string[] = [];
		for (let after: string | null = null; ; ) {
			const { cookbooks }: Cookbooks = await ask(
				newer,
				`{ cookbooks(first: 100${after === null ? "" : `, after: "${after}"`}) { totalCount nodes { title } pageInfo { hasNextPage endCursor } } }`,
			);
			assert.equal(cookbooks.totalCount, written.length);
			all.push(...cookbooks.nodes.map(({ title }) => title));
			after = cookbooks.pageInfo.endCursor;
			if (!cookbooks.pageInfo.hasNextPage) break;
		}
		assert.deepEqual(all.toSorted(), written);
	});

	it("is refused a rewrite that names no type, or exports nothing, in a sentence", async () => {
		const file = join(folder.path, "bad.ts");
		for (const [text, problem] of [
			[
				'export default { type: "Cookbok", change: () => null };',
				"The schema has no type Cookbok. Did you mean Cookbook?",
			],
			["export const nothing = 1;", "exports no change: write export default"],
		] as const) {
			const path = file.replace("bad", `bad${text.length}`);
			writeFileSync(path, text);
			const { code, err } = await runHere(
				["objects", "rewrite", path, "--dry-run"],
				{
					env: env("newer"),
				},
			);
			assert.equal(code, 1);
			assert.ok(err.includes(problem), err);
		}
		const missing = await runHere(
			["objects", "rewrite", join(folder.path, "none.ts"), "--dry-run"],
			{ env: env("newer") },
		);
		assert.match(missing.err, /There is no file /);
	});
});
