import assert from "node:assert/strict";
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import * as inspector from "@graphql-inspector/core";
import { ESLint } from "eslint";
import { buildSchema, parse, Source, validate } from "graphql";
import { ERRORS } from "../../src/errors.ts";
import { run } from "../examples/pinboard.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { COPIES } from "../update.ts";
import {
	CLIENTS,
	FIRST_PAGE,
	filesOf,
	installed,
	pageOf,
	paste,
	readPage,
	TEMPLATE_PACKAGES,
} from "./pasted.ts";

const ROOT = join(import.meta.dirname, "../..");

/** As the page for Apollo Client advises for two lists of one object. */
const PREVIEW =
	'query Preview { viewer { id boards(first: 2) @connection(key: "preview") { nodes { id } } } }';
const WRONG = PREVIEW.replace("Preview", "Wrong").replace(
	"@connection",
	"@conection",
);

const EMPTY_PROGRAM = {
	type: "Program",
	sourceType: "module",
	body: [],
	tokens: [],
	comments: [],
	range: [0, 0],
	loc: { start: { line: 1, column: 0 }, end: { line: 1, column: 0 } },
};

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("docs for frontends", () => {
	const pages = [FIRST_PAGE, ...CLIENTS.map(pageOf)];
	const first = readPage(FIRST_PAGE);
	const all = pages.map(readPage).join("\n");

	it("have each folder of files copied", () => {
		for (const folder of readdirSync(join(ROOT, "examples/clients"))) {
			assert.match(
				all,
				new RegExp(`examples/clients/(?:\\{[^}]*)?${folder}\\b`),
			);
			assert.ok(filesOf(folder).length > 0, folder);
		}
	});

	for (const client of CLIENTS) {
		it(`type-check as a new project, strictly, with the packages that are installed: ${client}`, async () => {
			using project = paste(client);
			if (client === "relay") await project.compile();
			await run("tsc", ["-p", "."], { cwd: project.folder });
		});
	}

	it("query only what the public schema has", () => {
		const schema = buildSchema(readFileSync(COPIES.publicSchema, "utf8"));
		let count = 0;
		// Relay's own are its compiler's to check.
		for (const client of CLIENTS.filter((name) => name !== "relay")) {
			const files = filesOf(client);
			for (const { path, text } of files) {
				for (const [, document = ""] of text.matchAll(
					/= gql(?:<[^`]*>)?`([^`]*)`/g,
				)) {
					assert.deepEqual(validate(schema, parse(document)), [], path);
					count++;
				}
			}
		}
		assert.equal(count, 5);
	});

	it("have rules copied for graphql-eslint, and options for graphql-inspector, that accept @connection", async () => {
		using folder = temporaryFolder();
		const at = (path: string) => join(folder.path, path);
		mkdirSync(at("src"));
		copyFileSync(COPIES.publicSchema, at("schema.graphql"));
		for (const { path, text } of [
			...filesOf("shared"),
			...filesOf("apollo"),
			{ path: "src/preview.ts", text: `gql\`${PREVIEW}\`` },
			{ path: "src/wrong.ts", text: `gql\`${WRONG}\`` },
		]) {
			writeFileSync(at(path), text);
		}
		const { default: graphql } = await import(
			pathToFileURL(join(ROOT, "examples/clients/lint/graphql.eslint.js")).href
		);
		// What reads TypeScript is in each new app; here its code does not matter.
		const nothing = { parse: () => EMPTY_PROGRAM };
		const typescript = {
			files: ["**/*.{ts,tsx}"],
			languageOptions: { parser: nothing },
		};
		const cwd = process.cwd();
		process.chdir(folder.path);
		try {
			const eslint = new ESLint({
				cwd: folder.path,
				overrideConfigFile: true,
				overrideConfig: [typescript, ...graphql],
			});
			const results = await eslint.lintFiles(["src"]);
			assert.ok(results.length > 5, String(results.length));
			assert.deepEqual(
				results.flatMap(({ filePath, messages }) =>
					messages.map(({ ruleId }) => [basename(filePath), ruleId]),
				),
				[["wrong.ts", "@graphql-eslint/known-directives"]],
			);
		} finally {
			process.chdir(cwd);
		}
		const schema = buildSchema(readFileSync(COPIES.publicSchema, "utf8"));
		const validated = (text: string) =>
			inspector.validate(schema, [new Source(text)], { apollo: true });
		assert.deepEqual(validated(PREVIEW), []);
		assert.equal(validated(WRONG).length, 1);
	});

	it("install the versions that the tests run", () => {
		const { dependencies, devDependencies } = JSON.parse(read("package.json"));
		const ours = { ...dependencies, ...devDependencies };
		for (const [name, version] of installed(all)) {
			// Not among ours: tried by hand.
			if (name.startsWith("@graphql-codegen/")) continue;
			assert.equal(version, ours[name], name);
		}
		const [, vite] = /npm create vite@(\d+) /.exec(first) ?? [];
		assert.equal(vite, ours.vite.split(".")[0]);
		const [, ...named] =
			/Apollo Client (\d+), Relay (\d+), urql (\d+) or graphql-request (\d+)/.exec(
				first,
			) ?? [];
		assert.deepEqual(
			named,
			["@apollo/client", "react-relay", "urql", "graphql-request"].map(
				(name) => ours[name].split(".")[0],
			),
		);
	});

	it("install the peer dependencies of the installed packages", () => {
		for (const client of CLIENTS) {
			const packages = installed(readPage(pageOf(client)));
			for (const name of packages.keys()) {
				const { peerDependencies = {}, peerDependenciesMeta = {} } = JSON.parse(
					read(`node_modules/${name}/package.json`),
				);
				for (const peer of Object.keys(peerDependencies)) {
					if (peerDependenciesMeta[peer]?.optional) continue;
					assert.ok(
						packages.has(peer) || TEMPLATE_PACKAGES.includes(peer),
						`${name} needs ${peer}`,
					);
				}
			}
		}
	});

	it("wait for a limit as the example does", () => {
		assert.equal(
			read("examples/clients/shared/src/patientFetch.ts"),
			read("examples/pinboard/src/patientFetch.ts"),
		);
	});

	it("explain every code that a client can get", () => {
		const explained = [...first.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
			([, code]) => code,
		);
		const codes = Object.entries(ERRORS).flatMap(([code, { client }]) =>
			client ? [code] : [],
		);
		assert.deepEqual(explained.toSorted(), codes.toSorted());
	});

	it("name only files and commands that exist", () => {
		const example = read("examples/pinboard/README.md");
		for (const path of [
			...all.matchAll(/`((?:docs|examples|test)\/[^`]*)`/g),
			...example.matchAll(/`((?:docs|test)\/[^`]*)`/g),
		].map(([, path = ""]) => path)) {
			assert.ok(existsSync(join(ROOT, path)), path);
		}
		const { scripts } = JSON.parse(read("package.json"));
		// The reader's own app has these.
		const theirs = ["dev"];
		for (const [, name = ""] of `${all}${example}`.matchAll(
			/npm run (?:-s )?([a-z:]+)/g,
		)) {
			assert.ok(name in scripts || theirs.includes(name), name);
		}
	});
});
