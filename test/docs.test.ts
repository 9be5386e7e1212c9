import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "graphql";
import { SETTINGS } from "../src/config/settings.ts";
import { applyScalars } from "../src/graphql/scalars.ts";
import { createPlanner } from "../src/plan/planner.ts";
import { checkTopology } from "../src/topology/check.ts";
import { commandsPage } from "./commandsPage.ts";
import { configurationPage } from "./configurationPage.ts";
import { theModel } from "./helpers/model.ts";
import { resolvers } from "./helpers/resolvers.ts";
import { command } from "./helpers/runCommand.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const PAGES = [
	"README.md",
	"CONTRIBUTING.md",
	"CHANGELOG.md",
	"examples/pinboard/README.md",
	...globSync("{docs,bench/results}/**/*.md", { cwd: ROOT }),
];

describe("every page", () => {
	for (const page of PAGES) {
		const text = read(page);

		it(`${page} links to pages, headings and pictures that exist`, () => {
			const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)];
			for (const [, link] of links) {
				const [path = "", heading] = (link as string).split("#");
				if (/^https?:/.test(path)) continue;
				const target = path === "" ? page : join(dirname(page), path);
				assert.ok(existsSync(join(ROOT, target)), `${page}: ${link}`);
				if (heading !== undefined) {
					assert.ok(
						headingsOf(read(target)).includes(heading),
						`${page}: ${link}: no such heading`,
					);
				}
			}
		});

		// A change log names what there was.
		if (page === "CHANGELOG.md") continue;

		it(`${page} names files, folders, scripts and commands that exist`, async () => {
			for (const [, path] of text.matchAll(
				/`((?:src|test|tools|schema|docs|examples|deploy|bench)\/[\w./-]*[\w/])`/g,
			)) {
				if (isOfAnother(page, path as string)) continue;
				assert.ok(existsSync(join(ROOT, path as string)), `${page}: ${path}`);
			}
			const { scripts } = JSON.parse(read("package.json"));
			for (const [, script] of text.matchAll(/npm run (?:-s )?([a-z:]+)/g)) {
				if (isOfAnother(page, "package.json")) continue;
				assert.ok(
					Object.hasOwn(scripts, script as string),
					`${page}: ${script}`,
				);
			}
			const { out } = await command(["--help"]);
			for (const [, name] of text.matchAll(
				/npm run -s corkboard -- ((?:(?:topology|schema|documents|usage|queue) )?[a-z]+)/g,
			)) {
				assert.match(out, new RegExp(`^  ${name}\\b`, "m"), `${page}: ${name}`);
			}
		});
	}
});

describe("README.md", () => {
	it("gives its picture's query the cost that the planner computes", () => {
		const readme = read("README.md");
		const query = /^\{ user.*$/m.exec(readme)?.[0];
		const cost = /before anything is read: (\d+) of 60,000/.exec(readme)?.[1];
		assert.ok(query && cost);
		const { model, schema, domain } = theModel();
		const planner = createPlanner({
			schema: applyScalars(schema),
			model,
			resolvers,
			maxCost: 60_000,
			maxPlans: 1,
			visibility: domain.visibility,
		});
		const result = planner.cost({ document: parse(query) });
		assert.ok("total" in result);
		assert.equal(result.total, Number(cost));
	});
});

describe("docs/reference/configuration.md", () => {
	it("is what the settings declare", () => {
		const page = read("docs/reference/configuration.md");
		assert.equal(page, configurationPage(page), "run npm run update");
	});

	it("has the settings that serve --help lists, with the same defaults", async () => {
		const { out } = await command(["serve", "--help"]);
		for (const name of Object.keys(SETTINGS)) {
			assert.match(out, new RegExp(`^ {2}${name} `, "m"));
		}
		assert.match(out, /CORKBOARD_ANSWER_CACHE_MB +an integer .*; 64$/m);
		assert.match(
			read("docs/reference/configuration.md"),
			/ANSWER_CACHE_MB.* 64 \|$/m,
		);
	});
});

describe("docs/reference/commands.md", () => {
	it("is what the commands declare", async () => {
		assert.equal(
			read("docs/reference/commands.md"),
			await commandsPage(),
			"run npm run update",
		);
	});
});

describe("docs/architecture.md", () => {
	it("says how many lines the files have that another database needs", () => {
		const page = read("docs/architecture.md");
		const rows = [...page.matchAll(/^\| `([\w/]+\.ts)` \| (\d+) \|/gm)];
		assert.ok(rows.length > 5);
		let sum = 0;
		for (const [, file, lines] of rows) {
			const text = read(`src/storage/sqlite/${file}`);
			const counted = text.split("\n").length - 1;
			const isRight = Math.abs(Number(lines) - counted) <= 10 + counted / 20;
			assert.ok(isRight, `${file} has ${counted} lines, not ${lines}`);
			sum += counted;
		}
		const said = Number(/^That is some (\d+) lines/m.exec(page)?.[1]);
		assert.ok(Math.abs(said - sum) <= 30, `${sum} lines in all, not ${said}`);
	});
});

describe("docs/how-to/shard-map.md", () => {
	const page = read("docs/how-to/shard-map.md");

	it("shows a topology that the check accepts", () => {
		const shown = /```json\n(\{\n {2}"version"[\s\S]*?)```/.exec(page)?.[1];
		assert.ok(shown);
		assert.equal(checkTopology(JSON.parse(shown)).shards.length, 2);
	});
});

/** Pages for frontends describe the reader's own project; the page on the schema adds files of its own. */
function isOfAnother(page: string, path: string): boolean {
	// It is about the app that create-corkboard makes.
	if (page === "docs/how-to/first-graph.md") return path === "package.json";
	if (page === "docs/how-to/schema.md")
		return /\bstickers?\.(?:ts|graphql)$/.test(path);
	return (
		(page.startsWith("docs/frontends") || page.startsWith("examples/")) &&
		/^(?:src\/|package\.json)/.test(path)
	);
}

function withoutCode(text: string): string {
	return text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
}

/** As GitHub makes ids of headings. */
function headingsOf(text: string): readonly string[] {
	return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
		(title as string)
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N} _-]/gu, "")
			.replaceAll(" ", "-"),
	);
}
