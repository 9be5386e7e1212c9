import assert from "node:assert/strict";
import { test } from "node:test";
import { queryObjects } from "node:v8";
import { Source } from "graphql";
import { startWhole } from "../helpers/wholeServer.ts";

/** Parsed documents on the heap, as each keeps its source. */
const parsedDocuments = () => queryObjects(Source, { format: "count" });

test("a server keeps no document whose text came once, by POST or by GET, and those that came again", async () => {
	await using server = await startWhole();
	const textOf = (name: string) =>
		`query ${name}($yes: Boolean!) { interests(first: 1) @include(if: $yes) { nodes { slug } } }`;
	const variables = { yes: true };
	async function post(name: string): Promise<void> {
		const { text } = await server.ask({ query: textOf(name), variables });
		assert.match(text, /^\{"data":/);
	}
	async function get(name: string): Promise<void> {
		const search = new URLSearchParams({
			query: textOf(name),
			variables: JSON.stringify(variables),
		});
		const response = await fetch(`${server.url}/graphql?${search}`, {
			headers: { "apollo-require-preflight": "1" },
		});
		assert.match(await response.text(), /^\{"data":/);
	}
	await post("First");
	const before = parsedDocuments();
	for (let n = 0; n < 10; n++) await post(`A${n}`);
	for (let n = 0; n < 10; n++) await get(`B${n}`);
	const numbers = Array.from({ length: 20 }, (_, n) => n);
	await Promise.all(
		numbers.map((n) => (n % 2 === 0 ? post(`C${n}`) : get(`C${n}`))),
	);
	// A document of the start may have been let go of meanwhile.
	const kept = parsedDocuments();
	assert.ok(kept <= before, "a document is kept");
	for (let n = 0; n < 10; n++) await (n % 2 === 0 ? post : get)(`A${n}`);
	assert.equal(parsedDocuments(), kept + 10);
});
