import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse, print } from "graphql";
import { PLAN_CHANNELS } from "../../../src/plan/diagnostics.ts";
import { sha256Of } from "../../../src/server/documents/checkDocumentFile.ts";
import { createDocuments } from "../../../src/server/documents/documents.ts";
import {
	documentLimitError,
	MAX_TOKENS,
} from "../../../src/server/limits/documentLimits.ts";
import {
	REQUEST_LIMITS,
	requestLimitError,
} from "../../../src/server/limits/requestLimits.ts";
import { publishedDuring } from "../../helpers/publishedDuring.ts";
import { startToy } from "../../helpers/toyServer.ts";

describe("the limits of requests", () => {
	it("admit a document of the maximum number of tokens, printed as Relay prints it", () => {
		const fragment = (n: number) =>
			`fragment BoardPage_recommendedPins${n} on Board { pins(first: 10, after: $cursor) { edges { node { details link image { url width height alt } owner { username name avatar { url } id } id __typename } cursor } pageInfo { endCursor hasNextPage } } }`;
		const printed = (count: number) => {
			const all = Array.from({ length: count }, (_, n) => n);
			return print(
				parse(
					`query BoardPageQuery($id: ID!, $cursor: String) { ${all.map((n) => `board${n}: board(id: $id) { ...BoardPage_recommendedPins${n} id }`).join(" ")} } ${all.map(fragment).join(" ")}`,
				),
			);
		};
		const fits = (count: number) => {
			try {
				parse(printed(count), { maxTokens: MAX_TOKENS });
				return true;
			} catch {
				return false;
			}
		};
		let count = 1;
		while (fits(count + 1)) count++;
		const text = printed(count);
		const document = parse(text);
		assert.ok(text.length > 12_000, String(text.length));
		assert.equal(documentLimitError(document), null);
		const variables = {
			ids: Array.from({ length: 100 }, (_, n) => String(n)),
			input: { text: "a".repeat(2_000), interests: Array(10).fill("cats") },
		};
		assert.equal(requestLimitError({ query: text, variables }), null);
	});

	it("count values at every depth", () => {
		const nested = (count: number) => ({
			variables: { a: { b: [Array(count).fill(null), [{}]] } },
		});
		// a, b, the two lists, an object.
		assert.equal(requestLimitError(nested(REQUEST_LIMITS.values - 5)), null);
		assert.notEqual(requestLimitError(nested(REQUEST_LIMITS.values - 4)), null);
	});

	it("measure the names of fields at every depth", () => {
		const named = (length: number) => ({
			variables: { a: [{ ["k".repeat(length)]: 1 }] },
		});
		const { nameCharacters } = REQUEST_LIMITS;
		assert.equal(requestLimitError(named(nameCharacters)), null);
		assert.match(
			String(requestLimitError(named(nameCharacters + 1))?.message),
			/^A name in the variables has 1001 characters; the limit is 1000\.$/,
		);
	});

	it("ignore a body that is no request", () => {
		for (const body of [null, "text", 7, [], { query: 7, variables: "x" }]) {
			assert.equal(requestLimitError(body), null);
		}
	});

	it("reject with the status of other document errors", async () => {
		await using toy = await startToy();
		const { characters, values } = REQUEST_LIMITS;
		for (const [accept, status] of [
			["application/json", 200],
			["application/graphql-response+json", 400],
		] as const) {
			for (const body of [
				{ query: "{ nope }" },
				{ query: `{ hello }${" ".repeat(characters)}` },
				{ query: "{ hello }", variables: { a: Array(values).fill(1) } },
			]) {
				const response = await toy.post(body, { accept });
				await response.text();
				assert.equal(response.status, status);
			}
		}
	});

	it("count a refused request once, also of a known document", async () => {
		await using toy = await startToy();
		const ask = async (variables: object) => {
			await (await toy.post({ query: "{ hello }", variables })).text();
		};
		for (let n = 0; n < 3; n++) await ask({});
		const tooMany = { a: Array(REQUEST_LIMITS.values).fill(1) };
		const refused = await publishedDuring(PLAN_CHANNELS.refused, () =>
			ask(tooMany),
		);
		assert.deepEqual(refused, [{ limit: "request" }]);
	});

	it("do not apply to a document of a file", async () => {
		const text = `{ hello(name: "Ada") }${"\n".repeat(REQUEST_LIMITS.characters)}`;
		const known = {
			id: "hello",
			text,
			sha256: sha256Of(text),
			document: parse(text, { noLocation: true }),
		};
		const index = {
			byId: new Map([[known.id, known]]),
			bySha256: new Map([[known.sha256, known]]),
		};
		await using toy = await startToy({
			documents: createDocuments({
				mode: "report",
				files: { index },
				shared: null,
				log: { warn() {} },
			}),
		});
		for (const query of [text, `${text} `]) {
			const { data, errors } = JSON.parse(
				await (await toy.post({ query })).text(),
			);
			assert.equal(data?.hello, query === text ? "Hello Ada" : undefined);
			assert.equal(errors?.length, query === text ? undefined : 1);
		}
	});
});
