import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { SharedTexts } from "../../../src/server/documents/documents.ts";
import type { Toy } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";
import {
	ADA,
	codeOf,
	get,
	HELLO,
	NOT_FOUND,
	RELAY_ID,
	SET,
	type Serving,
	serving,
	sha256,
	variables,
} from "./serving.ts";

for (const mode of ["report", "strict"] as const) {
	suite(`in ${mode}, a document of a file`, () => {
		let served: Serving;
		let toy: Toy;
		before(async () => {
			served = await serving(mode);
			toy = served.toy;
		});
		after(() => served[Symbol.asyncDispose]());

		const names: Record<string, Record<string, unknown>> = {
			"documentId with its hash": { documentId: `sha256:${sha256(HELLO)}` },
			"documentId with a bare hash": { documentId: sha256(HELLO) },
			"documentId with the file's own id": { documentId: RELAY_ID },
			id: { id: RELAY_ID },
			doc_id: { doc_id: RELAY_ID },
			"Apollo's extension": {
				extensions: {
					persistedQuery: { version: 1, sha256Hash: sha256(HELLO) },
				},
			},
			"Apollo's extension with the file's own id": {
				extensions: { persistedQuery: { version: 1, sha256Hash: RELAY_ID } },
			},
		};
		for (const [which, name] of Object.entries(names)) {
			test(`runs when named by ${which}, by POST and by GET`, async () => {
				const posted = await toy.post({ ...name, variables });
				assert.deepEqual(await posted.json(), ADA);
				const parameters = Object.fromEntries(
					Object.entries({ ...name, variables }).map(([key, value]) => [
						key,
						typeof value === "string" ? value : JSON.stringify(value),
					]),
				);
				const got = await get(toy, parameters);
				assert.equal(got.status, 200);
				assert.deepEqual(await got.json(), ADA);
			});
		}

		test("runs when its exact text is sent", async () => {
			const response = await toy.post({ query: HELLO, variables });
			assert.deepEqual(await response.json(), ADA);
		});

		test("is rejected where its id comes with another text", async () => {
			for (const name of [
				{ documentId: RELAY_ID },
				{ documentId: `sha256:${sha256(HELLO)}` },
				names["Apollo's extension"],
			]) {
				const response = await toy.post({ ...name, query: "{ hello }" });
				assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
			}
		});

		test("is 405 by GET if it is a mutation, and runs by POST", async () => {
			const got = await get(toy, { id: "set-it", variables: '{"to":1}' });
			assert.equal(got.status, 405);
			assert.equal(got.headers.get("allow"), "POST");
			const posted = await toy.post({ id: "set-it", variables: { to: 1 } });
			assert.deepEqual(await posted.json(), { data: { setNumber: 1 } });
		});

		test("is rejected with another version of the protocol", async () => {
			const response = await toy.post({
				extensions: {
					persistedQuery: { version: 2, sha256Hash: sha256(HELLO) },
				},
			});
			assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
		});

		test("needs no header by GET, as cookies are ignored; a text needs one", async () => {
			const plain = await get(toy, { documentId: RELAY_ID });
			const withCookie = await get(
				toy,
				{ documentId: RELAY_ID },
				{ cookie: "session=Ada" },
			);
			assert.equal(withCookie.status, 200);
			assert.equal(await withCookie.text(), await plain.text());
			assert.equal(withCookie.headers.get("set-cookie"), null);
			const refused = await get(toy, { query: "{ hello }" });
			assert.deepEqual(await codeOf(refused), [400, "BAD_REQUEST"]);
		});

		test("is PERSISTED_QUERY_NOT_FOUND if unknown, with the status that its client expects", async () => {
			for (const id of ["nothing", `sha256:${"0".repeat(64)}`]) {
				const posted = await toy.post({ documentId: id });
				assert.deepEqual(await codeOf(posted), NOT_FOUND);
				const got = await get(toy, { documentId: id });
				assert.deepEqual(await codeOf(got), NOT_FOUND);
				assert.equal(got.headers.get("cache-control"), "no-store");
			}
			for (const sha256Hash of ["0".repeat(64), "own-id"]) {
				const apq = await toy.post({
					extensions: { persistedQuery: { version: 1, sha256Hash } },
				});
				assert.deepEqual(await codeOf(apq), [200, "PERSISTED_QUERY_NOT_FOUND"]);
			}
		});

		const malformed: Record<string, Record<string, unknown>> = {
			"a documentId that is no string": { documentId: 7 },
			"a documentId with a hash that is none": { documentId: "sha256:abc" },
			"a hash that is no string": {
				extensions: { persistedQuery: { version: 1, sha256Hash: 7 } },
			},
			"no hash": { extensions: { persistedQuery: { version: 1 } } },
			"extensions that are a list": {
				documentId: RELAY_ID,
				extensions: [1],
			},
		};
		for (const [which, body] of Object.entries(malformed)) {
			test(`is a client error with ${which}`, async () => {
				assert.deepEqual(await codeOf(await toy.post(body)), [
					400,
					"BAD_REQUEST",
				]);
			});
		}

		test("runs with an empty operationName if it has one operation, by POST and by GET", async () => {
			for (const body of [{ documentId: RELAY_ID }, { query: HELLO }]) {
				const posted = await toy.post({
					...body,
					operationName: "",
					variables,
				});
				assert.deepEqual(await posted.json(), ADA);
				const got = await get(
					toy,
					{ ...body, operationName: "", variables: JSON.stringify(variables) },
					{ "apollo-require-preflight": "1" },
				);
				assert.deepEqual(await got.json(), ADA);
			}
		});

		test("is rejected by GET with empty variables or extensions, which are not JSON", async () => {
			for (const name of ["variables", "extensions"]) {
				const response = await get(toy, { documentId: RELAY_ID, [name]: "" });
				assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
			}
		});

		test("is rejected where a GET names it twice", async () => {
			const response = await fetch(
				`${toy.server.url}/graphql?documentId=a&documentId=b`,
			);
			assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
		});
	});
}

suite("in strict mode", () => {
	let served: Serving;
	before(async () => {
		served = await serving("strict");
	});
	after(() => served[Symbol.asyncDispose]());

	test("a document of no file does not run, by whatever name", async () => {
		const query = "{ hello }";
		const persistedQuery = { version: 1, sha256Hash: sha256(query) };
		for (const body of [
			{ query },
			{ query: `${HELLO}\n` },
			{ query, documentId: sha256(query) },
			{ query, documentId: "own" },
			{ query, extensions: { persistedQuery } },
			{ query, id: RELAY_ID },
			{ query: "{ __schema { queryType { name } } }" },
			{ query: "{" },
		]) {
			assert.deepEqual(await codeOf(await served.toy.post(body)), [
				400,
				"BAD_REQUEST",
			]);
		}
		// Nor was it registered by the way.
		const again = await served.toy.post({ extensions: { persistedQuery } });
		assert.deepEqual(await codeOf(again), [200, "PERSISTED_QUERY_NOT_FOUND"]);
	});
});

test("in report mode any document runs, and one of no file is counted, and logged once", async () => {
	await using served = await serving("report");
	const { toy, documents, warnings } = served;
	const query = "query Unlisted { hello }";
	for (let n = 0; n < 3; n++) {
		const response = await toy.post({ query });
		assert.deepEqual(await response.json(), { data: { hello: "Hello you" } });
	}
	await toy.post({ query: HELLO, variables });
	await toy.post({ query: "{ nothing }" });
	assert.equal(documents.unknownCount, 3);
	assert.deepEqual(warnings, [
		{ sha256: sha256(query), operation: "Unlisted", count: 1 },
	]);
});

suite("in off mode", () => {
	test("an empty operationName counts as absent, with a text", async () => {
		await using served = await serving("off");
		const { toy } = served;
		const one = { query: "{ hello }", operationName: "" };
		const hello = { data: { hello: "Hello you" } };
		assert.deepEqual(await (await toy.post(one)).json(), hello);
		const preflight = { "apollo-require-preflight": "1" };
		assert.deepEqual(await (await get(toy, one, preflight)).json(), hello);
		const two = { query: "query A { hello } query B { hello }" };
		assert.deepEqual(
			await codeOf(await toy.post({ ...two, operationName: "" })),
			[400, "OPERATION_RESOLUTION_FAILURE"],
		);
		const twice = await fetch(
			`${toy.server.url}/graphql?query={hello}&operationName=&operationName=`,
			{ headers: preflight },
		);
		assert.deepEqual(await codeOf(twice), [400, "BAD_REQUEST"]);
	});

	test("a registered document runs by hash, by documentId and by GET without a header", async () => {
		await using served = await serving("off");
		const { toy } = served;
		const persistedQuery = { version: 1, sha256Hash: sha256(HELLO) };
		await toy.post({ query: HELLO, extensions: { persistedQuery } });
		for (const body of [
			{ extensions: { persistedQuery } },
			{ documentId: `sha256:${sha256(HELLO)}` },
		]) {
			const response = await toy.post({ ...body, variables });
			assert.deepEqual(await response.json(), ADA);
		}
		// As urql's exchange sends it.
		const got = await get(toy, {
			operationName: "Hello",
			variables: JSON.stringify(variables),
			extensions: JSON.stringify({ persistedQuery }),
		});
		assert.deepEqual(await got.json(), ADA);
	});

	test("an invalid document, or one with another hash, is not registered", async () => {
		await using served = await serving("off");
		const { toy, documents } = served;
		const nothing = "{ nothing }";
		await toy.post({
			query: nothing,
			extensions: {
				persistedQuery: { version: 1, sha256Hash: sha256(nothing) },
			},
		});
		assert.equal(await documents.has(sha256(nothing)), false);
		const response = await toy.post({
			query: "{ hello }",
			extensions: { persistedQuery: { version: 1, sha256Hash: sha256(HELLO) } },
		});
		assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
		assert.equal(await documents.has(sha256(HELLO)), false);
	});

	test("a document that one process registers runs on another, which verifies its hash", async () => {
		const texts = new Map<string, string>();
		const shared: SharedTexts = {
			get: async (key) => texts.get(key) ?? null,
			set: async (key, text) => void texts.set(key, text),
		};
		await using one = await serving("off", shared);
		await using other = await serving("off", shared);
		const persistedQuery = { version: 1, sha256Hash: sha256(HELLO) };
		await one.toy.post({ query: HELLO, extensions: { persistedQuery } });
		await until("the text to be shared", () => texts.size === 1);
		const found = await other.toy.post({
			variables,
			extensions: { persistedQuery },
		});
		assert.deepEqual(await found.json(), ADA);

		await using third = await serving("off", shared);
		for (const key of texts.keys()) texts.set(key, SET);
		const forged = await third.toy.post({ extensions: { persistedQuery } });
		assert.deepEqual(await codeOf(forged), [200, "PERSISTED_QUERY_NOT_FOUND"]);
	});
});
