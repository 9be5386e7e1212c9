import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { retiredUses } from "./words.ts";

const ROOT = join(import.meta.dirname, "..");
/** Everything a person reads. The list itself is the one file that names the retired terms. */
const READ = [
	"src/**/*.{ts,tsx,css,mjs,sh}",
	"test/**/*.ts",
	"bench/**/*.ts",
	"tools/**/*.ts",
	"examples/**/*.{ts,tsx,md}",
	"schema/*.{graphql,json}",
	"docs/**/*.md",
	"deploy/**/*",
	"*.{md,json,yml}",
	"Dockerfile",
];
const NOT_READ =
	/node_modules|__generated__|package-lock\.json|^test\/words(?:\.test)?\.ts$/;

const COMMENT = /^\s*(?:\/?\*|\/\/)|\/\*\*/;
const FILE =
	/(?<![\w/.@-])(?:src|pins|test|tools|bench)\/[\w./-]+\.(?:tsx?|mjs)\b/g;
const TEST_FILE = /(?<![\w/.@-])test\/[\w./-]+\.ts\b/g;
const NEIGHBOR = /(?<![\w"])\.\.?\/[\w./-]+\.tsx?\b/g;

describe("the vocabulary", () => {
	it("uses no retired term in source, tests, docs and SDL", () => {
		const files = READ.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
			.filter((file) => !NOT_READ.test(file))
			.filter((file) => /\.\w+$|Dockerfile$/.test(file));
		assert.ok(files.length > 400, `found only ${files.length} files`);
		const uses = files.flatMap((file) =>
			retiredUses(readFileSync(join(ROOT, file), "utf8")).map(
				({ line, word, instead }) =>
					`${file}:${line}: "${word}"; say: ${instead}`,
			),
		);
		assert.deepEqual(uses, []);
	});

	it("cites no document that is not in the repository", () => {
		const cited = READ.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
			.filter((file) => /^(?:src|test|tools|schema|bench|docs)\//.test(file))
			.filter((file) => /\.\w+$/.test(file) && !NOT_READ.test(file))
			.filter((file) =>
				/\b(?:PROTOCOLS|CONTRACT|DESIGN|FIELD\.md|STYLE\.md)\b/.test(
					readFileSync(join(ROOT, file), "utf8"),
				),
			);
		assert.deepEqual(cited, []);
	});

	it("names no file in a comment, and no test in a document, that is not there", () => {
		const sources = globSync("{src,pins,test,tools,bench}/**/*.ts", {
			cwd: ROOT,
		}).filter((file) => !NOT_READ.test(file));
		const documents = globSync("{docs,test,bench}/**/*.md", { cwd: ROOT });
		const missing = [...sources, ...documents].flatMap((file) => {
			const isSource = file.endsWith(".ts");
			const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
			const text = isSource
				? lines.filter((line) => COMMENT.test(line)).join("\n")
				: lines.join("\n");
			const named = [
				...(text.match(isSource ? FILE : TEST_FILE) ?? []),
				...(isSource ? (text.match(NEIGHBOR) ?? []) : []).map((name) =>
					join(dirname(file), name),
				),
			];
			return named
				.filter((name) => !existsSync(join(ROOT, name)))
				.map((name) => `${file}: ${name}`);
		});
		assert.ok(sources.length > 400, `found only ${sources.length} files`);
		assert.deepEqual(missing, []);
	});

	it("finds a retired term in prose, camelCase, snake_case and capitals", () => {
		const found = (text: string) => retiredUses(text).map(({ word }) => word);
		assert.deepEqual(found("What is owed is paid."), ["owed", "paid"]);
		assert.deepEqual(found("payNow(store)"), ["pay"]);
		assert.deepEqual(found("toDebt, DebtRow"), ["debt", "debt"]);
		assert.deepEqual(found("max_price MAX_PRICE"), ["price", "price"]);
		assert.deepEqual(retiredUses("ok\nsweeper"), [
			{ line: 2, word: "sweeper", instead: "outbox worker, delivery pass" },
		]);
	});

	it("accepts longer words", () => {
		assert.deepEqual(retiredUses("payload repayment recommend"), []);
	});
});
