import assert from "node:assert/strict";
import {
	cpSync,
	mkdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const ROOT = join(import.meta.dirname, "../..");

describe("a program whose SDL was edited", () => {
	const folder = temporaryFolder();
	const { path } = folder;
	const added = join(path, "schema/added.graphql");
	before(() => {
		for (const name of [
			"src",
			"pins",
			"examples/events",
			"examples/recipes",
			"create-corkboard/template",
			"schema",
			"deploy/grafana",
			"docs",
			"test/golden",
		]) {
			cpSync(join(ROOT, name), join(path, name), { recursive: true });
		}
		for (const name of [
			"package.json",
			"test/update.ts",
			"test/commandsPage.ts",
			"test/configurationPage.ts",
			"test/moveStatesPage.ts",
			"test/helpers/apps.ts",
		]) {
			cpSync(join(ROOT, name), join(path, name));
		}
		mkdirSync(join(path, "data"));
		symlinkSync(join(ROOT, "node_modules"), join(path, "node_modules"));
	});
	after(() => folder[Symbol.dispose]());

	async function node(...args: readonly [string, ...string[]]) {
		const [script, ...rest] = args;
		await using program = startProgram(rest, {
			command: [process.execPath, join(path, script)],
			env: {
				CORKBOARD_DATA: join(path, "data"),
				CORKBOARD_DEMO: "off",
			},
		});
		return await program.ended;
	}

	test("says file and line of each problem, and no stack, in update as in other commands", async () => {
		writeFileSync(
			added,
			"extend type Pin { color: Color @stored }\nextend type Query { hue: Int }\n",
		);
		const updated = await node("test/update.ts");
		const checked = await node("src/cli/launch.mjs", "init");
		for (const { code, err } of [updated, checked]) {
			assert.equal(code, 1);
			assert.match(err, /schema\/added\.graphql:1: Unknown type "Color"/);
			assert.match(err, /schema\/added\.graphql:2: Query\.hue has no source/);
			assert.doesNotMatch(err, /^ +at /m);
		}
	});

	test("is not given tables for what its lock file lacks, until update has added it", async () => {
		writeFileSync(
			added,
			'type Sticker implements Node @object(type: 900, table: "stickers") { id: ID! }\n',
		);
		const lock = join(path, "schema/model.lock.json");
		const before = readFileSync(lock, "utf8");
		const refused = await node("src/cli/launch.mjs", "init");
		assert.equal(refused.code, 1);
		assert.match(
			refused.err,
			/Sticker.*not in the lock file\. Add it with corkboard schema lock\./,
		);
		const updated = await node("test/update.ts");
		assert.equal(updated.code, 0, updated.err);
		assert.notEqual(readFileSync(lock, "utf8"), before);
		const made = await node("src/cli/launch.mjs", "init");
		assert.equal(made.code, 0, made.err);
	});
});
