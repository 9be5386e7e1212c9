import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pinsApp from "../../pins/app.ts";
import { banner } from "../../src/cli/banner.ts";
import { type Served, serve } from "../helpers/program.ts";
import { command, runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const sha256 = (text: string) =>
	createHash("sha256").update(text).digest("hex");

const USER =
	"query User($name: String!) { user(by: {username: $name}) { id name bio } }";
const MINE =
	"query Mine { viewer { id name } interests(first: 2) { totalCount } }";
const MAKE =
	"mutation Make($input: CreateUserInput!) { createUser(input: $input) { user { id } token } }";
const DEEP =
	"query Deep($n: Int) { interests(first: $n) { nodes { pins(first: $n) { nodes { comments(first: $n) { nodes { text } } } } } } }";
const FILE = { user: USER, mine: MINE, make: MAKE };

const FIRST_QUERY = pinsApp.firstQuery ?? "";

describe("documents check", () => {
	it("prints the worst-case cost of each operation, highest first, and exits with 0", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "relay.json");
		writeFileSync(
			file,
			JSON.stringify({
				...FILE,
				page: "query Page($n: Int) { interests(first: $n) { nodes { name } } }",
			}),
		);
		const { code, out, err } = await command(["documents", "check", file]);
		assert.equal(err, "");
		assert.equal(code, 0);
		assert.deepEqual(out.split("\n"), [
			`${file}: 4 operations`,
			"  query Page     cost 200 of 60000; 0 calls 1 scan 1 fetch; most at interests (200)",
			"  mutation Make  cost 2 of 60000; 1 call 0 scans 1 fetch; most at createUser (1)",
			"  query User     cost 1 of 60000; 1 call 0 scans 1 fetch; most at user (1)",
			"  query Mine     cost 1 of 60000; 1 call 1 scan 1 fetch; most at viewer (1)",
			"",
		]);
	});

	it("prints every problem of every file, and exits with 1", async () => {
		using folder = temporaryFolder();
		const [relay = "", apollo = "", none = ""] = [
			"relay.json",
			"apollo.json",
			"none.json",
		].map((name) => join(folder.path, name));
		writeFileSync(
			relay,
			JSON.stringify({ a: "query A { nothing }", b: "{", c: DEEP }),
		);
		writeFileSync(
			apollo,
			JSON.stringify({
				format: "apollo-persisted-query-manifest",
				version: 2,
				operations: [],
			}),
		);
		const { code, err } = await command(["documents", "check", relay, apollo]);
		assert.equal(code, 1);
		assert.deepEqual(err.trimEnd().split("\n"), [
			`corkboard: ${relay}: document a:1:11: Cannot query field "nothing" on type "Query".`,
			`corkboard: ${relay}: document b:1:2: Syntax Error: Expected Name, found <EOF>.`,
			`corkboard: ${relay}: document c (Deep): The operation costs 3050200, over the limit of 60000. Most of the cost: interests.nodes.pins.nodes.comments (3000000), interests.nodes.pins (50000), interests (200).`,
			`corkboard: ${apollo}: format must be "apollo-persisted-query-manifest", version 1, got "apollo-persisted-query-manifest", version 2`,
		]);
		writeFileSync(apollo, "{}");
		const missing = await command(["documents", "check", none, apollo]);
		assert.equal(missing.code, 1);
		assert.equal(missing.err, `corkboard: ${none}: cannot be read: ENOENT\n`);
		assert.match(missing.out, /apollo\.json: 0 operations/);
		assert.equal((await command(["documents", "check"])).code, 2);
	});

	it("checks the files against each other, as a server does", async () => {
		using folder = temporaryFolder();
		const [web = "", ios = ""] = ["web.json", "ios.json"].map((name) =>
			join(folder.path, name),
		);
		writeFileSync(web, JSON.stringify({ user: USER, mine: MINE }));
		writeFileSync(ios, JSON.stringify({ user: MAKE, mine: MINE }));
		const fault = `corkboard: ${ios}: document user: ${web} has another text for this id\n`;
		const checked = await command(["documents", "check", web, ios]);
		assert.equal(checked.err, fault);
		assert.equal(checked.code, 1);
		for (const args of [["serve"], ["serve", "--check"]]) {
			const { code, err } = await runHere(args, {
				env: {
					PORT: "0",
					CORKBOARD_DEMO: "off",
					CORKBOARD_DATA: join(folder.path, "data"),
					CORKBOARD_DOCUMENTS: "strict",
					CORKBOARD_DOCUMENT_FILES: `${web},${ios}`,
				},
			});
			assert.equal(code, 1);
			assert.ok(err.endsWith(fault), err);
		}
		assert.equal((await command(["documents", "check", web, web])).code, 0);
	});

	it("obeys the configured cost limit", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "relay.json");
		writeFileSync(file, JSON.stringify({ c: DEEP }));
		const { code } = await command(["documents", "check", file], {
			env: { CORKBOARD_MAX_COST: "4000000" },
		});
		assert.equal(code, 0);
	});
});

describe("a server with CORKBOARD_DOCUMENTS=strict", () => {
	const folder = temporaryFolder();
	const file = join(folder.path, "relay.json");
	const env = {
		CORKBOARD_DATA: join(folder.path, "data"),
		CORKBOARD_DOCUMENTS: "strict",
		CORKBOARD_DOCUMENT_FILES: file,
		CORKBOARD_LOG: "json",
	};
	let server: Served;
	let token: string;

	before(async () => {
		writeFileSync(file, JSON.stringify(FILE));
		server = await serve(env);
		const { data } = await post({
			id: "make",
			variables: { input: { username: "ada", name: "Ada" } },
		});
		({ token } = data.createUser);
	});
	after(async () => {
		await server?.[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	it("prints a request that it answers when it starts", async () => {
		const text = banner({
			url: server.url,
			graphiql: false,
			folder: null,
			strict: true,
			firstQuery: FIRST_QUERY,
			showsToken: false,
		});
		const [, url = ""] = /^ {2}curl -s (\S+)$/m.exec(text) ?? [];
		assert.equal((await fetch(url)).status, 200);
		assert.doesNotMatch(text, /graphql' |-d /);
		const open = {
			url: server.url,
			graphiql: false,
			folder: null,
			firstQuery: FIRST_QUERY,
		};
		const [, body = ""] =
			/-d '(.*)'$/m.exec(
				banner({ ...open, strict: false, showsToken: false }),
			) ?? [];
		// What it printed before.
		assert.notEqual((await post(JSON.parse(body))).errors, undefined);
	});

	async function post(body: unknown) {
		const response = await fetch(`${server.url}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify(body),
		});
		return await response.json();
	}

	function get(
		parameters: Record<string, string>,
		headers: Record<string, string> = {},
	) {
		return fetch(`${server.url}/graphql?${new URLSearchParams(parameters)}`, {
			headers,
		});
	}

	it("runs only documents of the file", async () => {
		const { data } = await post({ id: "user", variables: { name: "ada" } });
		assert.equal(data.user.name, "Ada");
		const { errors } = await post({ query: "{ viewer { id } }" });
		assert.equal(errors[0].extensions.code, "BAD_REQUEST");
	});

	it("allows shared caches for public responses, and the browser's for private ones", async () => {
		const asked = {
			documentId: `sha256:${sha256(USER)}`,
			variables: '{"name":"ada"}',
		};
		const open = await get(asked);
		assert.equal(open.headers.get("cache-control"), "public, max-age=10");
		const tag = open.headers.get("etag") as string;
		const again = await get(asked, { "if-none-match": tag });
		assert.equal(again.status, 304);

		const mine = await get({ id: "mine" });
		assert.equal(mine.headers.get("cache-control"), "private, no-cache");
		const authorization = `Bearer ${token}`;
		const own = await get(asked, { authorization });
		assert.equal(own.headers.get("cache-control"), "private, no-cache");
		// The visitor's answer is not the viewer's.
		const viewers = await get(
			{ id: "mine" },
			{ authorization, "if-none-match": mine.headers.get("etag") as string },
		);
		assert.equal(viewers.status, 200);
		const { data } = (await viewers.json()) as {
			data: { viewer: { name: string } };
		};
		assert.equal(data.viewer.name, "Ada");
	});

	it("loads a changed file while it serves, and keeps the old documents and logs why if the new file is bad", async () => {
		const edit = (documents: object) => {
			writeFileSync(`${file}.new`, JSON.stringify(documents));
			renameSync(`${file}.new`, file);
		};
		edit({ ...FILE, deep: DEEP, bad: "{ nothing }" });
		await until("the refusal to be logged", () =>
			/"msg":"document file rejected"/.test(server.out()),
		);
		assert.match(server.out(), /document deep \(Deep\): The operation costs/);
		assert.match(server.out(), /document bad:1:3: Cannot query field/);
		assert.equal((await get({ id: "mine" })).status, 200);
		edit({ ...FILE, more: "{ interests(first: 1) { totalCount } }" });
		await until(
			"the new document to run",
			async () => (await get({ id: "more" })).status === 200,
		);
	});

	it("does not start with a bad file, and prints every problem; neither does --check", async () => {
		using other = temporaryFolder();
		const bad = join(other.path, "bad.json");
		writeFileSync(bad, JSON.stringify({ a: "{ nothing }", c: DEEP }));
		for (const args of [["serve"], ["serve", "--check"]]) {
			const { code, err } = await runHere(args, {
				env: {
					...env,
					PORT: "0",
					CORKBOARD_DEMO: "off",
					CORKBOARD_DATA: join(other.path, "data"),
					CORKBOARD_DOCUMENT_FILES: bad,
				},
			});
			assert.equal(code, 1);
			assert.match(err, /document a:1:3: Cannot query field/);
			assert.match(err, /document c \(Deep\): The operation costs/);
		}
	});
});
