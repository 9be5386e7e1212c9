import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { ADA, startToy, type Toy, tokens } from "../../helpers/toyServer.ts";

suite("the answer to a query by GET", () => {
	let toy: Toy;
	before(async () => {
		toy = await startToy({
			httpMaxAge: 30,
			dependsOnViewer: ({ document }) =>
				document.loc?.source.body.includes("viewer") === true,
		});
	});
	after(() => toy.server.close());

	function get(query: string, headers: Record<string, string> = {}) {
		return fetch(
			`${toy.server.url}/graphql?query=${encodeURIComponent(query)}`,
			{ headers: { "apollo-require-preflight": "1", ...headers } },
		);
	}
	const control = (response: Response) => response.headers.get("cache-control");

	test("may be kept by anyone where nothing of it is a viewer's", async () => {
		const response = await get("{ hello }");
		assert.equal(control(response), "public, max-age=30");
		assert.match(response.headers.get("etag") ?? "", /^W\/"[\w-]{24}"$/);
	});

	test("is told apart by who asks and what is accepted, for caches on the way", async () => {
		const response = await get("{ hello }", { origin: "http://localhost:1" });
		assert.equal(response.headers.get("vary"), "Accept, Authorization, Origin");
	});

	test("is the viewer's own where a field depends on who asks, or a token is sent", async () => {
		const anonymous = await get("{ viewer }");
		assert.equal(control(anonymous), "private, no-cache");
		const token = await tokens.sign(ADA);
		const asked = await get("{ hello }", { authorization: `Bearer ${token}` });
		assert.equal(control(asked), "private, no-cache");
		assert.ok(asked.headers.get("etag"));
	});

	test("is kept by nobody where it has errors, or refuses", async () => {
		const bad = { authorization: "Bearer none" };
		for (const response of [
			await get('{ hello fail(how: "forbidden") }'),
			await get("{ nothing }"),
			await get("{"),
			await get("{ hello }", bad),
			await get("mutation { setNumber(to: 1) }"),
		]) {
			assert.equal(control(response), "no-store");
			assert.equal(response.headers.get("etag"), null);
		}
	});

	test("is 304 without a body for one who has it, and whole for one who has another", async () => {
		const first = await get("{ hello }");
		const tag = first.headers.get("etag") as string;
		for (const header of [tag, tag.slice(2), `"other", ${tag}`, "*"]) {
			const again = await get("{ hello }", { "if-none-match": header });
			assert.equal(again.status, 304, header);
			assert.equal(await again.text(), "");
			assert.equal(again.headers.get("etag"), tag);
			assert.equal(control(again), "public, max-age=30");
		}
		const other = await get('{ hello(name: "Bob") }', { "if-none-match": tag });
		assert.equal(other.status, 200);
		assert.deepEqual(await other.json(), { data: { hello: "Hello Bob" } });
	});

	test("to a POST is kept by nobody", async () => {
		const response = await toy.post({ query: "{ hello }" });
		assert.equal(control(response), "no-store");
		assert.equal(response.headers.get("etag"), null);
	});
});

test("with no time to keep it, an answer has to be asked about each time", async () => {
	await using toy = await startToy({
		httpMaxAge: 0,
		dependsOnViewer: () => false,
	});
	const response = await fetch(`${toy.server.url}/graphql?query={hello}`, {
		headers: { "apollo-require-preflight": "1" },
	});
	assert.equal(response.headers.get("cache-control"), "public, no-cache");
});
