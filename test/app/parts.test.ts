import assert from "node:assert/strict";
import {
	cpSync,
	globSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { defineApp, type Part } from "../../src/app/defineApp.ts";
import { findApp } from "../../src/app/findApp.ts";
import { readApp } from "../../src/app/readApp.ts";
import type { TypeVisibility } from "../../src/graph/read/visibilityPolicy.ts";
import type { Node } from "../../src/graph/types.ts";
import { byId } from "../../src/resolvers/nodeResolvers.ts";
import { openTest } from "../../src/testing/openTest.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startWhole } from "../helpers/wholeServer.ts";
import { appSuite } from "../suites/apps.ts";

const PINS = join(import.meta.dirname, "../../pins");

/** The files of the SDL of each part of pins. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
	homeFeed: ["feed.graphql"],
	comments: ["comment.graphql"],
	reports: ["report.graphql", "report.internal.graphql"],
	collaborators: ["collaborator.graphql"],
	sections: ["section.graphql"],
};

/** What only the parts have in their names. */
const THEIRS = /comment|report|collaborat|shared|section|feed|pool/i;

const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());

/** Pins with these parts alone, in a folder of its own. */
function pinsWith(name: string, parts: readonly string[]): string {
	const path = join(folder.path, name);
	mkdirSync(path);
	writeFileSync(join(path, "package.json"), '{"type": "module"}');
	cpSync(join(PINS, "../schema"), join(path, "schema"), { recursive: true });
	rmSync(join(path, "schema/model.lock.json"));
	for (const [part, files] of Object.entries(PARTS)) {
		if (parts.includes(part)) continue;
		for (const file of files) rmSync(join(path, "schema", file));
	}
	const code = readFileSync(join(PINS, "app.ts"), "utf8")
		.replace('"../schema"', '"schema"')
		.replace(/\tparts: \[[^\]]*\],/, `\tparts: [${parts}],`)
		// Its graph has something of every part.
		.replace("\tdemo,\n", "")
		.replaceAll(/ from "\.(\/[^"]+)"/g, (_, file) => ` from "${PINS}${file}"`);
	writeFileSync(join(path, "app.ts"), code);
	return path;
}

const plain = pinsWith("plain", []);

describe("a part", () => {
	it("adds to lists of a policy, and is refused where it would replace what another one says", () => {
		const app = (part: Part, other: Part = {}) =>
			defineApp({
				schema: plain,
				identity: { type: "User", nameLookup: "username" },
				resolvers: new Map([["Query.board", byId("board")]]),
				policies: {
					visibility: {
						types: { Board: { isVisible: () => false, siblings: ["a"] } },
						privateLists: [],
					},
				},
				parts: [part, other],
			});
		const seen = (rule: TypeVisibility): Part => ({
			policies: { visibility: { types: { Board: rule } } },
		});
		const { policies } = app(seen({ siblings: ["b"] }), seen({ owner: "c" }));
		const board = policies.visibility?.types.Board;
		assert.deepEqual(board?.siblings, ["a", "b"]);
		assert.equal(board?.owner, "c");
		assert.equal(board?.isVisible?.({} as Node, null), false);
		const id = { Board: { colocateWith: "owner" } };
		for (const [part, other, what] of [
			[
				seen({ isVisible: () => true }),
				{},
				"policies.visibility.types.Board.isVisible",
			],
			[seen({ owner: "b" }), seen({ owner: "c" }), "types.Board.owner"],
			[
				{ policies: { placement: id } },
				{ policies: { placement: id } },
				"policies.placement.Board",
			],
			[
				{ resolvers: new Map([["Query.board", byId("board")]]) },
				{},
				"the resolver Query.board",
			],
		] as const) {
			assert.throws(() => app(part, other), {
				code: "BAD_MODEL",
				message: new RegExp(`both have .*${what}: one would replace`),
			});
		}
	});
});

describe("the parts of pins", () => {
	it("are those that its app names, with files of the SDL of their own", () => {
		const code = readFileSync(join(PINS, "app.ts"), "utf8");
		const [, named = ""] = /\tparts: \[([^\]]*)\],/.exec(code) ?? [];
		assert.deepEqual(
			named.split(", ").toSorted(),
			Object.keys(PARTS).toSorted(),
		);
		assert.deepEqual(
			readdirSync(join(PINS, "parts")).toSorted(),
			Object.keys(PARTS)
				.map((part) => `${part}.ts`)
				.toSorted(),
		);
	});

	it("can each be there or not, whichever others are", async () => {
		const names = Object.keys(PARTS);
		for (let mask = 0; mask < 2 ** names.length; mask++) {
			const parts = names.filter((_, at) => mask & (1 << at));
			const path = pinsWith(`with-${parts.join("-")}`, parts);
			const { model, feedModel } = readApp(await findApp(path));
			assert.equal(feedModel !== null, parts.includes("homeFeed"));
			assert.equal(model.objects.has("Section"), parts.includes("sections"));
			rmSync(path, { recursive: true });
		}
	});

	it("leave nothing of theirs in an app without them: no field, mutation, table, command or metric", async () => {
		const env = {
			CORKBOARD_APP: plain,
			CORKBOARD_DATA: join(folder.path, "data"),
		};
		const printed = await runHere(["schema", "print", "--public"], { env });
		assert.equal(printed.code, 0, printed.err);
		const names = printed.out.replaceAll(/"""[\s\S]*?"""/g, "");
		assert.doesNotMatch(names, THEIRS);
		assert.match(names, /createPin/);

		{
			await using server = await startWhole(
				{ ...env, CORKBOARD_ADMIN: "127.0.0.1:0" },
				await findApp(plain),
			);
			const { text } = await server.ask({ query: "{ viewer { id } }" });
			assert.equal(text, '{"data":{"viewer":null}}\n');
			const metrics = await (await fetch(server.admin ?? "")).text();
			const served = [...metrics.matchAll(/^# HELP (\S+)/gm)].map(([, m]) => m);
			assert.ok(served.length > 50);
			assert.deepEqual(
				served.filter((metric) =>
					/feed|pool_|comment|section/.test(String(metric)),
				),
				[],
			);
		}

		const tables = globSync("**/*.sqlite", { cwd: env.CORKBOARD_DATA }).flatMap(
			(file) => {
				using database = new DatabaseSync(join(env.CORKBOARD_DATA, file), {
					readOnly: true,
				});
				return database
					.prepare("SELECT name FROM sqlite_master")
					.all()
					.map(({ name }) => String(name));
			},
		);
		assert.ok(tables.some((table) => table.includes("pins")));
		assert.deepEqual(
			[...new Set(tables)].filter((table) => THEIRS.test(table)),
			[],
		);

		const help = await runHere(["--help", "--app", plain]);
		assert.doesNotMatch(help.out, /^ {2}feeds /m);
		for (const list of ["reports", "interests"]) {
			const { code } = await runHere(["objects", "list", list], { env });
			assert.equal(code, list === "reports" ? 1 : 0, list);
		}
	});
});

appSuite(plain, "SQLite", openTest);
