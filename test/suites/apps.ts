import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, it } from "node:test";
import type { App } from "../../src/app/defineApp.ts";
import { findApp } from "../../src/app/findApp.ts";
import { createFieldReaders } from "../../src/model/fieldReaders.ts";
import { createStoredTypes } from "../../src/model/storedTypes.ts";
import { importLines } from "../../src/ops/import/importLines.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import type { TestGraph } from "../../src/testing/openTest.ts";
import { walkRandomly } from "../../src/testing/randomWalk.ts";
import { walkPrivacy } from "../../src/testing/walkPrivacy.ts";
import { IS_SLOW_RUN } from "../helpers/slowRun.ts";

/** A random walk has so many. */
const STEPS = IS_SLOW_RUN ? 200 : 100;

/** Pins of a user, something that is secret, and a block. */
const PINS: readonly object[] = [
	{ type: "User", key: "ada", fields: { username: "ada" } },
	{ type: "User", key: "bo", fields: { username: "bob" } },
	{ type: "User", key: "cy", fields: { username: "cyd" } },
	{ type: "Board", key: "open", fields: { name: "Kites", owner: "ada" } },
	{
		type: "Board",
		key: "secret",
		fields: { name: "Gifts", owner: "ada", secret: true },
	},
	{
		type: "Pin",
		key: "kite",
		fields: { title: "A kite", board: "open", owner: "ada" },
	},
	{
		type: "Pin",
		key: "gift",
		fields: { title: "A gift", board: "secret", owner: "ada" },
	},
	{
		type: "Interest",
		key: "craft",
		fields: { slug: "craft", name: "Craft" },
	},
	{ edge: "filePin", from: "kite", to: "craft" },
	{ edge: "followUser", from: "bo", to: "ada" },
	{ edge: "likePin", from: "bo", to: "kite" },
	{ edge: "blockUser", from: "cy", to: "bo" },
];

/** A small graph of each app: two users and more, and something that is hidden. */
const GRAPHS: Readonly<Record<string, readonly object[]>> = {
	pins: [
		...PINS,
		{
			type: "Comment",
			key: "nice",
			fields: { text: "Nice", pin: "kite", author: "bo" },
		},
	],
	// The app of pins without its parts.
	plain: PINS,
	recipes: [
		{ type: "Cook", key: "ada", fields: { handle: "ada" } },
		{ type: "Cook", key: "bo", fields: { handle: "bo" } },
		{ type: "Cookbook", key: "open", fields: { name: "Bread", owner: "ada" } },
		{
			type: "Cookbook",
			key: "secret",
			fields: { name: "Family", owner: "ada", secret: true },
		},
		{
			type: "Recipe",
			key: "loaf",
			fields: { title: "Loaf", cook: "ada", cookbook: "open" },
		},
		{
			type: "Recipe",
			key: "cake",
			fields: { title: "Cake", cook: "ada", cookbook: "secret" },
		},
		{ edge: "favoriteRecipe", from: "bo", to: "loaf" },
		{
			type: "Note",
			key: "nice",
			fields: { body: "Nice", cook: "bo", recipe: "loaf" },
		},
		{
			type: "Note",
			key: "late",
			fields: { body: "Burnt", cook: "ada", recipe: "cake" },
		},
	],
};

/** Fields whose answers are not stored. */
const NOT_STORED: Readonly<Record<string, readonly string[]>> = {
	// Related pins are null if the databases are late.
	pins: ["User.homeFeedWaiting", "Pin.homeFeedReason", "Pin.related"],
	events: ["Person.feedWaiting"],
};

/** Mutations that somebody who is blocked may use in turn. */
const AS_VISITOR: Readonly<Record<string, readonly string[]>> = {
	pins: ["report", "blockUser"],
	plain: ["blockUser"],
};

/** Opens an app, with settings of one's own. */
type OpenApp = (app: App, lines: readonly object[]) => Promise<TestGraph>;

function linesOf(folder: string, { demo }: App): readonly object[] {
	return GRAPHS[basename(folder)] ?? [...(demo?.graph() ?? [])];
}

/** Import, privacy, caches and `verify` of the app in a folder, on a database. */
export function appSuite(
	folder: string,
	database: string,
	open: OpenApp,
): void {
	const name = basename(folder);
	/** The app, and its graph: that of its demo, if it has none here. */
	const opened = async () => {
		const app = await findApp(folder);
		return open(app, linesOf(folder, app));
	};
	describe(`the app ${name} on ${database}`, () => {
		it("imports a graph, a second time without a change, and all that is stored twice agrees", async () => {
			await using graph = await opened();
			const { schema, store, app } = graph.corkboard;
			const again = await importLines(store, textOf(linesOf(folder, app)), {
				fields: createFieldReaders(schema, store.domain.fields),
				strict: true,
				signal: new AbortController().signal,
				onBadLine: (line, reason) => assert.fail(`${line}: ${reason}`),
			});
			assert.deepEqual(
				[again.objects, again.edges, again.existing],
				[{}, {}, linesOf(folder, app).length],
			);
			const { clean, damage, checked } = await verify(store, {
				types: createStoredTypes(schema),
			});
			assert.deepEqual([clean, damage], [true, []]);
			assert.ok(checked.objects > 0);
		});

		it("shows nobody what it hides, in any field or mutation", async () => {
			await using graph = await opened();
			const { hidden, problems } = await walkPrivacy(graph, {
				asVisitor: AS_VISITOR[name] ?? [],
			});
			assert.ok(hidden > 0);
			assert.deepEqual(problems, []);
		});

		it("answers from its caches what is stored, whatever random users do, and stays whole", async () => {
			await using graph = await opened();
			const { done, compared, problems } = await walkRandomly(graph, {
				seed: 20_261_129,
				steps: STEPS,
				leftOut: NOT_STORED[name] ?? [],
			});
			assert.deepEqual(problems, []);
			assert.ok(compared >= STEPS / 2);
			const succeeded = [...done].filter(([, times]) => times > 0);
			assert.ok(
				succeeded.length >= done.size / 3,
				`of ${done.size} mutations only ${succeeded.map(([one]) => one)} ever succeeded`,
			);
		});
	});
}

async function* textOf(lines: readonly object[]): AsyncGenerator<string> {
	for (const line of lines) yield JSON.stringify(line);
}
