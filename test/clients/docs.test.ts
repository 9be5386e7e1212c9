import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ERRORS } from "../../src/errors.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("docs/frontends.md", () => {
	const text = read("docs/frontends.md");

	it("shows nothing but parts of files that run in the tests", () => {
		const snippets = [
			...text.matchAll(/^```(?:ts|tsx|json) ?(\S*)\n([\s\S]*?)^```$/gm),
		];
		assert.equal(
			snippets.length * 2,
			[...text.matchAll(/^```/gm)].length,
			"a snippet without a language or a file",
		);
		assert.ok(snippets.length > 15);
		for (const [, path = "", snippet = ""] of snippets) {
			assert.match(path, /^(?:test\/clients|examples\/pinboard)\//);
			assert.ok(
				lines(read(path)).includes(lines(snippet)),
				`expected ${path} to hold:\n${snippet}`,
			);
		}
	});

	it("names the versions that the tests run", () => {
		const { devDependencies } = JSON.parse(read("package.json"));
		const [, ...named] =
			/Apollo Client (\d+), Relay (\d+), urql (\d+) and graphql-request (\d+)/.exec(
				text,
			) ?? [];
		assert.deepEqual(
			named,
			["@apollo/client", "react-relay", "urql", "graphql-request"].map(
				(name) => devDependencies[name].split(".")[0],
			),
		);
	});

	it("explains every code that a client can get", () => {
		const explained = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
			([, code]) => code,
		);
		const codes = Object.entries(ERRORS).flatMap(([code, { client }]) =>
			client ? [code] : [],
		);
		assert.deepEqual(explained.toSorted(), codes.toSorted());
	});

	it("names only files and commands that there are", () => {
		const example = read("examples/pinboard/README.md");
		for (const path of [
			...text.matchAll(/`((?:docs|examples|test)\/[^`]*)`/g),
			...example.matchAll(/`((?:docs|test)\/[^`]*)`/g),
		].map(([, path = ""]) => path)) {
			assert.ok(existsSync(join(ROOT, path)), path);
		}
		const { scripts } = JSON.parse(read("package.json"));
		for (const [, name = ""] of `${text}${example}`.matchAll(
			/npm run (?:-s )?([a-z:]+)/g,
		)) {
			assert.ok(name in scripts, name);
		}
	});
});

/** Without the indentation, which depends on what stands around. */
function lines(text: string): string {
	return `\n${text
		.trim()
		.split("\n")
		.map((line) => line.trim())
		.join("\n")}`;
}
