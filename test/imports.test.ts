import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { faultsOf, importsOf } from "./floors.ts";

const SRC = join(import.meta.dirname, "../src");

test("imports of src/ go down the floors only", () => {
	const files = globSync("**/*.{ts,tsx,mts,js,mjs}", { cwd: SRC });
	assert.ok(files.length > 50, `found only ${files.length} files`);
	const faults = files
		.toSorted()
		.flatMap((file) => faultsOf(file, readFileSync(join(SRC, file), "utf8")));
	assert.deepEqual(faults, []);
});

describe("the check of imports", () => {
	const refused: readonly (readonly [string, string, string])[] = [
		[
			"graph/a.ts",
			'import { run } from "../plan/run.ts";',
			"imports ../plan/run.ts: up from graph (floor 4) to plan (floor 5)",
		],
		[
			"plan/a.ts",
			'import {\n\ttype Import,\n\timportLines,\n} from "../ops/import.ts";',
			"imports ../ops/import.ts: plan and ops are on one floor, 5",
		],
		[
			"model/a.ts",
			'import type { Topology } from "../topology/types.ts";',
			"imports ../topology/types.ts: model and topology are on one floor, 2",
		],
		[
			"storage/a.ts",
			'export type A = import("../graph/types.ts").Graph;',
			"imports ../graph/types.ts: up from storage (floor 3) to graph (floor 4)",
		],
		[
			"id/a.ts",
			'const a = await import("../config.ts");',
			"imports ../config.ts: up from id (floor 1) to config.ts (floor 8)",
		],
		[
			"server/a.ts",
			'import "../cli/main.ts";',
			"imports ../cli/main.ts: up from server (floor 8) to cli (floor 10)",
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
			"imports graphql, which only model, plan, graphql, server may",
		],
		[
			"cli/a.ts",
			'import type { DocumentNode } from "graphql/language/ast.js";',
			"imports graphql, which only model, plan, graphql, server may",
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
			"imports node:sqlite, which only storage/sqlite/driver may",
		],
		[
			"util/a.ts",
			'import _ from "lodash";',
			"imports lodash, which test/floors.ts does not list",
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
		["common/a.ts", "", 'src/common is on no floor of DESIGN "Layout"'],
	];
	for (const [path, source, fault] of refused) {
		test(`refuses ${source || "nothing"} in ${path}`, () => {
			assert.deepEqual(faultsOf(path, source), [`src/${path}: ${fault}`]);
		});
	}

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
		assert.deepEqual(faultsOf("plan/a.ts", source), []);
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
});
