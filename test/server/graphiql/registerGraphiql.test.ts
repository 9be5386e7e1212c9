import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { suite, test } from "node:test";
import Fastify from "fastify";
import type { GraphiqlAssets } from "../../../src/server/graphiql/assetFolder.ts";
import { registerGraphiql } from "../../../src/server/graphiql/registerGraphiql.ts";
import { ADA, startToy, tokens } from "../../helpers/toyServer.ts";

suite("the page at /graphql", () => {
	test("goes to browsers only, and loads only our own files", async () => {
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
		assert.match(response.headers.get("vary") ?? "", /(?:^|, )Accept(?:,|$)/);
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

	test("has assets that browsers cache forever, and serves no other files", async () => {
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
			`${folder}/inputs.json`,
			`${folder}/..%2f..%2fpackage.json`,
			"/graphiql/0000000000000000/page.js",
		]) {
			const missing = await fetch(toy.server.url + path);
			assert.equal(missing.status, 404, path);
			assert.deepEqual(await missing.json(), {
				errors: [
					{
						message: "Not found.",
						extensions: { code: "NOT_FOUND" },
					},
				],
			});
		}
	});

	test("escapes the queries it contains", async () => {
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

	test("is unavailable after a failed build, and the next request builds again", async () => {
		await using app = Fastify();
		let fails = true;
		const made: GraphiqlAssets = { hash: "0123456789abcdef", folder: tmpdir() };
		const page = await registerGraphiql(
			app,
			{
				access: "everyone",
				explain: true,
				identify: async () => assert.fail("nobody signs in"),
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

	test("is a plain page without scripts where the installation has no assets", async () => {
		await using app = Fastify();
		const page = await registerGraphiql(
			app,
			{
				access: "everyone",
				explain: true,
				identify: async () => assert.fail("nobody signs in"),
			},
			async () => null,
		);
		app.get("/graphql", page);
		const response = await app.inject("/graphql");
		assert.equal(response.statusCode, 200);
		assert.match(response.body, /npm run build:graphiql/);
		assert.doesNotMatch(response.body, /<script/);
		const file = await app.inject("/graphiql/0123456789abcdef/page.js");
		assert.equal(file.statusCode, 404);
	});
});
