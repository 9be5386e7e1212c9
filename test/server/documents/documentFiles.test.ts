import assert from "node:assert/strict";
import { renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { visit } from "graphql";
import { CorkboardError } from "../../../src/errors.ts";
import type { CheckedDocument } from "../../../src/server/documents/checkDocumentFile.ts";
import {
	type DocumentFiles,
	openDocumentFiles,
} from "../../../src/server/documents/documentFiles.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { toySchema } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";
import { FREE } from "./serving.ts";

function open(
	paths: readonly string[],
	prepare: (document: CheckedDocument) => void = () => {},
): Promise<DocumentFiles> {
	return openDocumentFiles({
		paths,
		rules: {
			schema: toySchema,
			planner: { analyzeWorstCaseCost: () => [FREE] },
			maxCost: 10,
		},
		prepare,
		log: { info: () => {}, error: () => {} },
		pollMs: 100,
	});
}

async function faultsOf(paths: readonly string[]): Promise<readonly string[]> {
	try {
		await using _files = await open(paths);
		return [];
	} catch (error) {
		assert.ok(error instanceof CorkboardError, String(error));
		assert.equal(error.code, "BAD_DATA");
		return error.message.split("\n");
	}
}

function edit(path: string, documents: object): void {
	writeFileSync(`${path}.new`, JSON.stringify(documents));
	renameSync(`${path}.new`, path);
}

const ids = (documents: readonly CheckedDocument[]) =>
	documents.map(({ id }) => id);

suite("documents of files", () => {
	test("are prepared once each before they are in use, at the start and after a change", async () => {
		using folder = temporaryFolder();
		const path = join(folder.path, "a.json");
		edit(path, { a: "{ hello }", b: "{ viewer }", same: "{ hello }" });
		const prepared: CheckedDocument[] = [];
		let inUse: DocumentFiles | null = null;
		await using files = await open([path], (document) => {
			assert.notEqual(inUse?.index.byId.get(document.id), document);
			prepared.push(document);
		});
		inUse = files;
		assert.deepEqual(ids(prepared), ["a", "b"]);
		for (const document of prepared) {
			assert.equal(files.index.bySha256.get(document.sha256), document);
		}
		edit(path, { b: "{ viewer }", c: "{ must }", d: "{ stuck }" });
		await until("the change to be in use", () => files.index.byId.has("d"));
		assert.deepEqual(ids(prepared), ["a", "b", "c", "d"]);
	});

	test("are in use all at once, and yield to requests while they load", async () => {
		using folder = temporaryFolder();
		const path = join(folder.path, "a.json");
		edit(path, {});
		const many = Array.from({ length: 200 }, (_, n) => [
			`d${n}`,
			`{ a${n}: hello }`,
		]);
		let turns = 0;
		let counting = true;
		const turnAtPrepare: number[] = [];
		await using files = await open([path], () => {
			turnAtPrepare.push(turns);
			assert.equal(files.index.byId.size, 0);
		});
		const count = () => {
			turns++;
			if (counting) setImmediate(count);
		};
		count();
		edit(path, Object.fromEntries(many));
		await until("the change to be in use", () => files.index.byId.size > 0);
		counting = false;
		assert.equal(files.index.byId.size, many.length);
		assert.equal(turnAtPrepare.length, many.length);
		assert.equal(new Set(turnAtPrepare).size, many.length);
	});

	test("keep locations for errors, but no tokens", async () => {
		using folder = temporaryFolder();
		const path = join(folder.path, "a.json");
		edit(path, { a: "{ hello\n  viewer }" });
		await using files = await open([path]);
		const document = files.index.byId.get("a")?.document;
		assert.ok(document);
		const places: string[] = [];
		visit(document, {
			Field({ loc }) {
				places.push(`${loc?.start}-${loc?.end}`);
				for (const token of [loc?.startToken, loc?.endToken]) {
					assert.equal(token?.next, null);
					assert.equal(token?.prev, null);
				}
			},
		});
		assert.deepEqual(places, ["2-7", "10-16"]);
		assert.equal(document.loc?.startToken.next, null);
	});

	test("are rejected at the start where two files have different texts for an id, with every other problem", async () => {
		using folder = temporaryFolder();
		const [one = "", two = ""] = ["one.json", "two.json"].map((name) =>
			join(folder.path, name),
		);
		edit(one, { a: "{ hello }", b: "{" });
		edit(two, { a: "{ viewer }", b: "{ viewer }", c: "{ hello }" });
		assert.deepEqual(await faultsOf([one, two, one]), [
			`${one}: document b:1:2: Syntax Error: Expected Name, found <EOF>.`,
			`${two}: document a: ${one} has another text for this id`,
			`${two}: document b: ${one} has another text for this id`,
		]);
		edit(one, { a: "{ hello }" });
		edit(two, { a: "{ hello }" });
		assert.deepEqual(await faultsOf([one, two]), []);
	});

	test("are rejected in a file of more than 32 MB", async () => {
		using folder = temporaryFolder();
		const path = join(folder.path, "a.json");
		const limit = 32 * 1024 * 1024;
		edit(path, {});
		truncateSync(path, limit + 1);
		assert.deepEqual(await faultsOf([path]), [
			`${path}: has ${limit + 1} bytes; the limit is ${limit}`,
		]);
		truncateSync(path, limit);
		assert.match(String(await faultsOf([path])), /not valid JSON/);
	});
});
