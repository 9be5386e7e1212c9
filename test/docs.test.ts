import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "graphql";
import { readConfig } from "../src/config.ts";
import { resolvers } from "../src/domain/resolvers/resolvers.ts";
import { CorkboardError } from "../src/errors.ts";
import { applyScalars } from "../src/graphql/scalars.ts";
import { createPlanner } from "../src/plan/planner.ts";
import { checkTopology } from "../src/topology/check.ts";
import { theModel } from "./helpers/model.ts";
import { command } from "./helpers/runCommand.ts";

const ROOT = join(import.meta.dirname, "..");
const readme = readFileSync(join(ROOT, "README.md"), "utf8");
const names = (text: string) =>
	[...text.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name as string);

describe("README", () => {
	it("prices its picture's query as it says", () => {
		const { model, schema, domain } = theModel();
		const planner = createPlanner({
			schema: applyScalars(schema),
			model,
			resolvers,
			maxCost: 50_000,
			maxPlans: 1,
			visibility: domain.visibility,
		});
		const query = /^\{ user.*$/m.exec(readme)?.[0];
		const said = /before anything is read: (\d+) of 50,000/.exec(readme)?.[1];
		assert.ok(query && said);
		const price = planner.cost({ document: parse(query) });
		assert.ok("total" in price);
		assert.equal(price.total, Number(said));
	});

	it("tells every setting there is, and no other", () => {
		const section = /^## Settings$([\s\S]*?)^## /m.exec(readme)?.[1] ?? "";
		const told = names(section.replaceAll(/\|[^|\n]*\|[^|\n]*\|$/gm, ""));
		const table = [...section.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, row]) =>
			names(row as string),
		);
		assert.ok(told.length > 0 && table.length > 10);
		for (const name of table) {
			// A setting that is known is not answered "is not a setting".
			try {
				readConfig({ [name]: "?" }, { secret: "unneeded" });
			} catch (error) {
				assert.ok(error instanceof CorkboardError);
				assert.doesNotMatch(error.message, /is not a setting/, name);
			}
		}
		const contract = names(
			readFileSync(join(ROOT, "src/config.ts"), "utf8").replaceAll(
				/"(CORKBOARD_[A-Z_]+)"/g,
				"`$1`",
			),
		).filter((name) => name.startsWith("CORKBOARD_"));
		assert.deepEqual(
			[...new Set(contract)].filter((name) => !table.includes(name)),
			[],
		);
	});

	it("tells every command there is, with its options", async () => {
		const { out } = await command(["--help"]);
		const commands = [...out.matchAll(/^ {2}(\S.*?) {2,}/gm)].map(
			([, synopsis]) => synopsis as string,
		);
		assert.ok(commands.length >= 9);
		for (const synopsis of commands) {
			assert.ok(
				readme.includes(synopsis.replaceAll("|", "\\|")) ||
					readme.includes(synopsis),
				`README lacks: ${synopsis}`,
			);
		}
	});

	it("shows a topology that is one", () => {
		const shown = /```json\n(\{\n {2}"version"[\s\S]*?)```/.exec(readme)?.[1];
		assert.ok(shown);
		assert.equal(checkTopology(JSON.parse(shown)).shards.length, 2);
	});

	it("names files and scripts that exist", () => {
		const scripts = Object.keys(
			JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts,
		);
		for (const [, script] of readme.matchAll(/npm run (?:-s )?([a-z]+)/g)) {
			assert.ok(scripts.includes(script as string), `npm run ${script}`);
		}
		for (const [, path] of readme.matchAll(/`([\w./-]+(?:\.md|\/))`/g)) {
			assert.ok(existsSync(join(ROOT, path as string)), path);
		}
	});
});
