import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { after, suite, test } from "node:test";
import { ROOT } from "../../../src/server/graphiql/assetFolder.ts";
import { buildGraphiql } from "../../../src/server/graphiql/buildGraphiql.ts";
import { openGraphiqlAssets } from "../../../src/server/graphiql/openGraphiqlAssets.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

/** A file of ours and those it imports, types left out, with paths from the root. */
function withImports(path: string, seen = new Set<string>()): Set<string> {
	const file = relative(ROOT, path);
	if (seen.has(file)) return seen;
	seen.add(file);
	const imports = readFileSync(path, "utf8").matchAll(
		/^(?:import|@import|export)\b(?! type)[^;]*?"(\.[^"]+)"/gm,
	);
	for (const [, specifier = ""] of imports) {
		withImports(join(dirname(path), specifier), seen);
	}
	return seen;
}

const built = temporaryFolder();
after(() => built[Symbol.dispose]());
const [one, two] = await Promise.all([
	buildGraphiql(built.path),
	buildGraphiql(built.path),
]);
assert.ok(one);
const { hash } = one;
const OLDER = "0123456789abcdef";

/** A folder with the assets that were built, under that hash. */
function copyAs(name: string) {
	const folder = temporaryFolder();
	cpSync(join(built.path, hash), join(folder.path, name), { recursive: true });
	return folder;
}

suite("GraphiQL's assets", () => {
	test("are built once, whole, by two processes at the same time", () => {
		assert.deepEqual(one, two);
		assert.deepEqual(readdirSync(built.path), [hash]);
		const files = readdirSync(one.folder);
		for (const file of [
			"page.js",
			"style.css",
			"editor.worker.js",
			"json.worker.js",
			"graphql.worker.js",
		]) {
			assert.ok(files.includes(file), file);
		}
	});

	test("list every file of ours that the page imports as an input", () => {
		const inputs: readonly string[] = JSON.parse(
			readFileSync(join(one.folder, "inputs.json"), "utf8"),
		);
		const expected = [
			...withImports(join(ROOT, "src/server/graphiql/page.tsx")),
			...withImports(join(ROOT, "src/server/graphiql/style.css")),
		];
		assert.ok(expected.some((path) => path.startsWith("src/plan/")));
		for (const path of [...expected, "package-lock.json"]) {
			assert.ok(inputs.includes(path), path);
		}
	});

	test("are used as they are while no input changes", async () => {
		using folder = copyAs(hash);
		assert.deepEqual(
			await openGraphiqlAssets(folder.path, () => assert.fail("no change")),
			{ hash, folder: join(folder.path, hash) },
		);
	});

	test("are rebuilt after an input changes", async () => {
		using folder = copyAs(OLDER);
		assert.deepEqual(
			await openGraphiqlAssets(folder.path, async () => one),
			one,
		);
	});

	test("are those of an older source where no bundler is installed", async () => {
		using folder = copyAs(OLDER);
		assert.deepEqual(await openGraphiqlAssets(folder.path, async () => null), {
			hash: OLDER,
			folder: join(folder.path, OLDER),
		});
	});

	test("are null where there are none and no bundler is installed", async () => {
		using folder = temporaryFolder();
		assert.equal(await openGraphiqlAssets(folder.path, async () => null), null);
	});
});
