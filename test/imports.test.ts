import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
	circlesOf,
	importsOf,
	unusedPackages,
	violationsBeside,
	violationsOf,
} from "./layers.ts";

const ROOT = join(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

const sources = new Map(
	globSync("**/*.{ts,tsx,mts,js,mjs}", { cwd: SRC })
		.toSorted()
		.map((file) => [file, readFileSync(join(SRC, file), "utf8")]),
);

test("imports in src/ go down the layers only", () => {
	assert.ok(sources.size > 50, `found only ${sources.size} files`);
	const violations = [...sources].flatMap(([file, source]) =>
		violationsOf(file, source),
	);
	assert.deepEqual(violations, []);
});

/** What is not installed in a folder of its own, by its path. */
const all = new Map(
	globSync(
		"{src,pins,test,tools,bench,deploy,examples}/**/*.{ts,tsx,mts,js,mjs}",
		{
			cwd: ROOT,
		},
	)
		// This file shows imports that are refused.
		.filter(
			(file) =>
				!/node_modules|__generated__|^test\/imports\.test\.ts$/.test(file),
		)
		.toSorted()
		.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]),
);

test("imports beside src/ stay in the folder, or go to tools, helpers, services and src/", () => {
	const beside = [...all].filter(([file]) => !file.startsWith("src/"));
	assert.ok(beside.length > 500, `found only ${beside.length} files`);
	assert.deepEqual(
		beside.flatMap(([file, source]) => violationsBeside(file, source)),
		[],
	);
});

test("no files import each other in a circle", () => {
	assert.deepEqual(circlesOf(all), []);
});

test("src/ imports what it is built with, and all that the list of packages has", () => {
	assert.deepEqual(unusedPackages(sources), []);
});

describe("the import check", () => {
	const refused: readonly (readonly [string, string, string])[] = [
		[
			"graph/a.ts",
			'import { run } from "../plan/run.ts";',
			"imports ../plan/run.ts: up from graph to plan in src/",
		],
		[
			"plan/a.ts",
			'import {\n\ttype Import,\n\timportLines,\n} from "../ops/import.ts";',
			"imports ../ops/import.ts: plan and ops are in one layer of src/",
		],
		[
			"model/a.ts",
			'import type { Topology } from "../topology/types.ts";',
			"imports ../topology/types.ts: model and topology are in one layer of src/",
		],
		[
			"storage/a.ts",
			'export type A = import("../graph/types.ts").Graph;',
			"imports ../graph/types.ts: up from storage to graph in src/",
		],
		[
			"id/a.ts",
			'const a = await import("../config/config.ts");',
			"imports ../config/config.ts: up from id to config in src/",
		],
		[
			"server/a.ts",
			'import "../cli/main.ts";',
			"imports ../cli/main.ts: up from server to cli in src/",
		],
		[
			"id/a.ts",
			'import { a } from "./b";',
			"imports ./b, which has to end with .ts",
		],
		[
			"id/a.ts",
			'import { a } from "../../test/b.ts";',
			"imports ../../test/b.ts, which is outside src/",
		],
		[
			"graph/a.ts",
			'import { parse } from "graphql";',
			"imports graphql, which only model, plan, graphql, server, testing, dump may",
		],
		[
			"cli/a.ts",
			'import type { DocumentNode } from "graphql/language/ast.js";',
			"imports graphql, which only model, plan, graphql, server, testing, dump may",
		],
		[
			"plan/a.ts",
			'import DataLoader from "dataloader";',
			"imports dataloader, which only graph may",
		],
		[
			"graphql/a.ts",
			'import { a } from "@apollo/server/plugin/disabled";',
			"imports @apollo/server, which only server may",
		],
		[
			"storage/a.ts",
			'import { DatabaseSync } from "node:sqlite";',
			"imports node:sqlite, which only storage/sqlite/driver, topology may",
		],
		[
			"util/a.ts",
			'import _ from "lodash";',
			"imports lodash, which test/layers.ts does not list",
		],
		[
			"graph/read/a.ts",
			'import { write } from "../write/b.ts";',
			"imports ../write/b.ts: up from read to write in src/graph",
		],
		[
			"ops/verify/a.ts",
			'import { b } from "../import/b.ts";',
			"imports ../import/b.ts: verify and import are in one layer of src/ops",
		],
		[
			"storage/storage.ts",
			'import { a } from "./mysql/a.ts";',
			"imports ./mysql/a.ts: up from . to mysql in src/storage",
		],
		[
			"storage/mysql/driver/a.ts",
			'import { a } from "../b.ts";',
			"imports ../b.ts: up from driver to . in src/storage/mysql",
		],
		[
			"cli/io.ts",
			'import { main } from "./main.ts";',
			"imports ./main.ts: up from . to main.ts in src/cli",
		],
		[
			"graph/other/a.ts",
			"",
			"src/graph/other is in no layer of test/layers.ts",
		],
		["id/a.ts", "export default 1;", "has a default export: name it"],
		["id/a.ts", "export { a as default };", "has a default export: name it"],
		[
			"id/a.ts",
			'export * from "./b.ts";',
			"exports what another file exports: import it from there",
		],
		[
			"id/a.ts",
			'export { a } from "./b.ts";',
			"exports what another file exports: import it from there",
		],
		["id/index.ts", "", "is an index file: import the file that is meant"],
		["common/a.ts", "", "src/common is in no layer of test/layers.ts"],
	];
	for (const [path, source, fault] of refused) {
		test(`refuses ${source || "nothing"} in ${path}`, () => {
			assert.deepEqual(violationsOf(path, source), [`src/${path}: ${fault}`]);
		});
	}

	test("refuses imports beside src/ of what stands above, and of tests", () => {
		for (const [path, source, fault] of [
			[
				"bench/a.ts",
				'import { b } from "../test/suites/b.ts";',
				"imports ../test/suites/b.ts: bench/ imports bench, tools, test/services, test/helpers, pins and src/",
			],
			[
				"test/helpers/a.ts",
				'import { b } from "../../bench/b.ts";',
				"imports ../../bench/b.ts: test/helpers/ imports test/services, test/helpers, pins and src/",
			],
			[
				"test/e2e/a.test.ts",
				'import "./b.test.ts";',
				"imports ./b.test.ts: nobody imports a test",
			],
		] as const) {
			assert.deepEqual(violationsBeside(path, source), [`${path}: ${fault}`]);
		}
	});

	test("lets a slow file import the one that it is named after", () => {
		assert.deepEqual(
			violationsBeside("test/e2e/a.slow.test.ts", 'import "./a.test.ts";'),
			[],
		);
	});

	test("takes imports that go down, stay in the folder, or are Node's own", () => {
		const source = [
			'import { join } from "node:path";',
			'import { GraphQLError } from "graphql";',
			'import { CorkboardError } from "../errors.ts";',
			'import type { Graph } from "../graph/types.ts";',
			'import { compile } from "./compile.ts";',
			'// import { a } from "../server/a.ts";',
			'/* import { a } from "../cli/a.ts"; */',
			"const url = \"https://example.com\"; const text = 'export default';",
			"export { compile };",
		].join("\n");
		assert.deepEqual(violationsOf("plan/a.ts", source), []);
	});

	test("sees every way of importing", () => {
		const source = `import a, { b } from "1";
import type { C } from '2';
import "3";
export { d } from "4";
const e = await import("5");
const f = require("6");
type G = typeof import("7");`;
		assert.deepEqual(importsOf(source).toSorted(), [
			"1",
			"2",
			"3",
			"4",
			"5",
			"6",
			"7",
		]);
	});

	test("finds files that import each other, types included", () => {
		const circles = circlesOf(
			new Map([
				["a/one.ts", 'import type { Two } from "./two.ts";'],
				["a/two.ts", 'import { three } from "../b/three.ts";'],
				["b/three.ts", 'import { one } from "../a/one.ts";'],
				["b/four.ts", 'import { one } from "../a/one.ts";'],
			]),
		);
		assert.deepEqual(circles, [["a/one.ts", "a/two.ts", "b/three.ts"]]);
	});
});
