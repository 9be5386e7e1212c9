import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import Fastify from "fastify";
import {
	buildGraphiql,
	type GraphiqlAssets,
} from "../../src/server/graphiql/assets.ts";
import { registerGraphiql } from "../../src/server/graphiql/registerGraphiql.ts";
import { ADA, startToy, tokens } from "../helpers/toyServer.ts";

suite("GraphiQL's files", () => {
	test("are made once, whole, by two processes at the same time", async () => {
		const cache = await mkdtemp(join(tmpdir(), "corkboard-graphiql-"));
		try {
			const [one, two] = await Promise.all([
				buildGraphiql(cache),
				buildGraphiql(cache),
			]);
			assert.deepEqual(one, two);
			assert.deepEqual(await readdir(cache), [`graphiql-${one.hash}`]);
			const files = await readdir(one.folder);
			for (const file of [
				"page.js",
				"style.css",
				"editor.worker.js",
				"json.worker.js",
				"graphql.worker.js",
			]) {
				assert.ok(files.includes(file), file);
			}
		} finally {
			await rm(cache, { recursive: true });
		}
	});
});

suite("the page at /graphql", () => {
	test("is for browsers only, and loads nothing but our own files", async () => {
		await using toy = await startToy({ graphiql: "everyone" });
		const response = await fetch(`${toy.server.url}/graphql`, {
			headers: {
				accept:
					"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
			},
		});
		assert.equal(response.status, 200);
		assert.equal(
			response.headers.get("content-type"),
			"text/html; charset=utf-8",
		);
		assert.equal(response.headers.get("cache-control"), "no-store");
		assert.match(response.headers.get("vary") ?? "", /\bAccept\b/);
		assert.equal(
			response.headers.get("content-security-policy"),
			"default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
		);
		const html = await response.text();
		const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(
			(match) => match[1] ?? "",
		);
		assert.equal(addresses.length, 3);
		for (const address of addresses) {
			assert.match(address, /^(?:\/graphiql\/[0-9a-f]{16}\/|data:image)/);
		}

		for (const accept of [
			"*/*",
			"application/json",
			"application/json,text/html",
		]) {
			const other = await fetch(`${toy.server.url}/graphql`, {
				headers: { accept },
			});
			assert.equal(other.status, 400, accept);
		}
	});

	test("has files that may be kept for ever, and no others", async () => {
		await using toy = await startToy({ graphiql: "everyone" });
		const page = await fetch(`${toy.server.url}/graphql`, {
			headers: { accept: "text/html" },
		});
		const script = /src="([^"]+)"/.exec(await page.text())?.[1] ?? "";
		const file = await fetch(toy.server.url + script);
		assert.equal(file.status, 200);
		assert.equal(
			file.headers.get("cache-control"),
			"public, max-age=31536000, immutable",
		);
		assert.match(file.headers.get("content-type") ?? "", /javascript/);
		assert.match(
			file.headers.get("content-security-policy") ?? "",
			/^default-src 'none'/,
		);
		await file.arrayBuffer();
		const folder = script.slice(0, script.lastIndexOf("/"));
		for (const path of [
			`${folder}/nothing.js`,
			`${folder}/..%2f..%2fpackage.json`,
			"/graphiql/0000000000000000/page.js",
		]) {
			const missing = await fetch(toy.server.url + path);
			assert.equal(missing.status, 404, path);
			assert.deepEqual(await missing.json(), {
				errors: [
					{
						message: "There is nothing here.",
						extensions: { code: "NOT_FOUND" },
					},
				],
			});
		}
	});

	test("cannot be broken out of by what it shows", async () => {
		await using toy = await startToy({
			graphiql: "everyone",
			demo: {
				token: await tokens.sign(ADA),
				username: "ada",
				examples: [{ query: "# </script><script>alert(1)</script>" }],
			},
		});
		const page = await fetch(`${toy.server.url}/graphql`, {
			headers: { accept: "text/html" },
		});
		const html = await page.text();
		assert.doesNotMatch(html, /<script>alert/);
		assert.match(html, /\\u003cscript>alert/);
	});

	test("is missing for now when its files cannot be made, and tried again", async () => {
		await using app = Fastify();
		let fails = true;
		const made: GraphiqlAssets = { hash: "0123456789abcdef", folder: tmpdir() };
		const page = await registerGraphiql(
			app,
			{
				to: "everyone",
				explain: true,
				identify: async () => assert.fail("nobody was named"),
			},
			async () => {
				if (fails) throw new Error("no space left");
				return made;
			},
		);
		app.get("/graphql", page);
		const before = await app.inject("/graphql");
		assert.equal(before.statusCode, 503);
		assert.deepEqual(before.json(), {
			errors: [
				{
					message: "GraphiQL is not available at the moment.",
					extensions: { code: "UNAVAILABLE" },
				},
			],
		});
		fails = false;
		const later = await app.inject("/graphql");
		assert.equal(later.statusCode, 200);
		assert.match(later.body, /\/graphiql\/0123456789abcdef\/page\.js/);
	});
});
