import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { ADA, startToy, type Toy, tokens } from "../../helpers/toyServer.ts";

suite("the response to a query by GET", () => {
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

	test("is public where no field depends on the viewer", async () => {
		const response = await get("{ hello }");
		assert.equal(control(response), "public, max-age=30");
		assert.match(response.headers.get("etag") ?? "", /^W\/"[\w-]{24}"$/);
	});

	test("varies by what decides on it, compressed or not, and as a 304", async () => {
		const vary = "Accept, Authorization, Origin, Accept-Encoding";
		const long = `{ hello(name: "${"a".repeat(2_000)}") }`;
		for (const query of ["{ hello }", long]) {
			for (const encoding of ["identity", "gzip"]) {
				const asked = { "accept-encoding": encoding };
				const response = await get(query, asked);
				const isCompressed = query === long && encoding === "gzip";
				assert.equal(
					response.headers.get("content-encoding"),
					isCompressed ? "gzip" : null,
				);
				assert.equal(response.headers.get("vary"), vary);
				const etag = response.headers.get("etag") as string;
				const known = await get(query, { ...asked, "if-none-match": etag });
				assert.equal(known.status, 304);
				assert.equal(known.headers.get("vary"), vary, `304 for ${encoding}`);
			}
		}
	});

	test("is private where a field depends on the viewer, or the request has a token", async () => {
		const anonymous = await get("{ viewer }");
		assert.equal(control(anonymous), "private, no-cache");
		const token = await tokens.sign(ADA);
		const asked = await get("{ hello }", { authorization: `Bearer ${token}` });
		assert.equal(control(asked), "private, no-cache");
		assert.ok(asked.headers.get("etag"));
	});

	test("is not cached where it has errors", async () => {
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

	test("is 304 without a body for a matching ETag, and complete for another", async () => {
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

	test("is not cached by POST", async () => {
		const response = await toy.post({ query: "{ hello }" });
		assert.equal(control(response), "no-store");
		assert.equal(response.headers.get("etag"), null);
	});
});

test("a public response with max-age 0 is revalidated each time", async () => {
	await using toy = await startToy({
		httpMaxAge: 0,
		dependsOnViewer: () => false,
	});
	const response = await fetch(`${toy.server.url}/graphql?query={hello}`, {
		headers: { "apollo-require-preflight": "1" },
	});
	assert.equal(response.headers.get("cache-control"), "public, no-cache");
});
