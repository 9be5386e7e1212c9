import assert from "node:assert/strict";
import { test } from "node:test";
import { queryObjects } from "node:v8";
import { Source } from "graphql";
import { until } from "../helpers/until.ts";
import { startWhole } from "../helpers/wholeServer.ts";

/** The names of this test's documents that are parsed on the heap: each keeps its source. Others of the program come and go. */
function parsedDocuments(): readonly string[] {
	const sources = queryObjects(Source, { format: "summary" });
	return sources.flatMap(
		(source) => /\bquery (Once\w+)/.exec(source)?.[1] ?? [],
	);
}

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
	for (let n = 0; n < 10; n++) await post(`OnceA${n}`);
	for (let n = 0; n < 10; n++) await get(`OnceB${n}`);
	const numbers = Array.from({ length: 20 }, (_, n) => n);
	await Promise.all(
		numbers.map((n) => (n % 2 === 0 ? post(`OnceC${n}`) : get(`OnceC${n}`))),
	);
	// A connection may hold its last request for a moment.
	await until("no document to be kept", () => parsedDocuments().length === 0);
	const again = numbers.slice(0, 10).map((n) => `OnceA${n}`);
	for (const [n, name] of again.entries()) {
		await (n % 2 === 0 ? post : get)(name);
	}
	assert.deepEqual(parsedDocuments().toSorted(), again);
});
