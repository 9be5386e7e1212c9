import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { ExecutionResult } from "graphql";
import { openDocumentFiles } from "../../../src/server/documents/files.ts";
import {
	createDocuments,
	type DocumentMode,
	type Documents,
	type SharedTexts,
} from "../../../src/server/documents/store.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startToy, type Toy, toySchema } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";

const sha256 = (text: string) =>
	createHash("sha256").update(text).digest("hex");

const HELLO = "query Hello($name: String) {\n  hello(name: $name)\n}";
const SET = "mutation Set($to: Int!) {\n  setNumber(to: $to)\n}";
const WHO = "query Who {\n  viewer\n}";

const RELAY_ID = "0123456789abcdef0123456789abcdef";
const relayFile = { [RELAY_ID]: HELLO, "set-it": SET };
const manifest = {
	format: "apollo-persisted-query-manifest",
	version: 1,
	operations: [{ id: sha256(WHO), body: WHO, name: "Who", type: "query" }],
};

interface Serving extends AsyncDisposable {
	readonly toy: Toy;
	readonly documents: Documents;
	readonly warnings: Record<string, unknown>[];
	/** Another content for Relay's file, put in its place at once. */
	edit(content: string): void;
	readonly news: { fields: Record<string, unknown>; message: string }[];
}

async function serving(
	mode: DocumentMode,
	shared: SharedTexts | null = null,
): Promise<Serving> {
	await using opened = new AsyncDisposableStack();
	const folder = opened.use(temporaryFolder());
	const paths = ["relay.json", "apollo.json"].map((name) =>
		join(folder.path, name),
	);
	const [relay = "", apollo = ""] = paths;
	writeFileSync(relay, JSON.stringify(relayFile));
	writeFileSync(apollo, JSON.stringify(manifest));
	const warnings: Record<string, unknown>[] = [];
	const news: Serving["news"] = [];
	const note = (fields: object, message: string) =>
		news.push({ fields: { ...fields }, message });
	const files =
		mode === "off"
			? null
			: opened.use(
					await openDocumentFiles({
						paths,
						rules: {
							schema: toySchema,
							planner: { survey: () => [FREE] },
							maxPrice: 10,
						},
						prepare: () => {},
						log: { info: note, error: note },
						pollMs: 100,
					}),
				);
	const documents = createDocuments({
		mode,
		files,
		shared,
		log: { warn: (fields) => warnings.push({ ...fields }) },
	});
	const toy = await startToy({ documents, dependsOnViewer: () => false });
	opened.use(toy);
	const resources = opened.move();
	return {
		toy,
		documents,
		warnings,
		news,
		edit(content) {
			writeFileSync(`${relay}.new`, content);
			renameSync(`${relay}.new`, relay);
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

const FREE = {
	kind: "query",
	name: null,
	price: { total: 0, steps: new Map(), fields: [] },
	plan: null,
	faults: [],
} as const;

function get(
	{ server }: Toy,
	parameters: Readonly<Record<string, string>>,
	headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
	const url = `${server.url}/graphql?${new URLSearchParams(parameters)}`;
	return fetch(url, { headers });
}

async function codeOf(response: Response): Promise<readonly unknown[]> {
	const { errors, data } = (await response.json()) as ExecutionResult;
	assert.equal(data, undefined);
	return [response.status, errors?.[0]?.extensions?.code];
}

const ADA = { data: { hello: "Hello Ada" } };
const variables = { name: "Ada" };
const NOT_FOUND = [400, "PERSISTED_QUERY_NOT_FOUND"];

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
			test(`runs when it is called by ${which}, by POST and by GET`, async () => {
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

		test("runs when its text is sent, to the letter", async () => {
			const response = await toy.post({ query: HELLO, variables });
			assert.deepEqual(await response.json(), ADA);
		});

		test("with another text beside its id is refused", async () => {
			for (const name of [
				{ documentId: RELAY_ID },
				{ documentId: `sha256:${sha256(HELLO)}` },
				names["Apollo's extension"],
			]) {
				const response = await toy.post({ ...name, query: "{ hello }" });
				assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
			}
		});

		test("that is a mutation is 405 by GET, and runs by POST", async () => {
			const got = await get(toy, { id: "set-it", variables: '{"to":1}' });
			assert.equal(got.status, 405);
			assert.equal(got.headers.get("allow"), "POST");
			const posted = await toy.post({ id: "set-it", variables: { to: 1 } });
			assert.deepEqual(await posted.json(), { data: { setNumber: 1 } });
		});

		test("of another version of the protocol is refused", async () => {
			const response = await toy.post({
				extensions: {
					persistedQuery: { version: 2, sha256Hash: sha256(HELLO) },
				},
			});
			assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
		});

		test("by GET ignores cookies, and needs no header; a text needs one", async () => {
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

		test("that is unknown is said to be, as its client expects", async () => {
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
			test(`with ${which} is the client's fault`, async () => {
				assert.deepEqual(await codeOf(await toy.post(body)), [
					400,
					"BAD_REQUEST",
				]);
			});
		}

		test("named twice in a GET is refused", async () => {
			const response = await fetch(
				`${toy.server.url}/graphql?documentId=a&documentId=b`,
			);
			assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST"]);
		});
	});
}

suite("in strict", () => {
	let served: Serving;
	before(async () => {
		served = await serving("strict");
	});
	after(() => served[Symbol.asyncDispose]());

	test("a text that is in no file does not run, whatever is said about it", async () => {
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

test("in report every document runs, and one in no file is counted, and logged once", async () => {
	await using served = await serving("report");
	const { toy, documents, warnings } = served;
	const query = "query Unlisted { hello }";
	for (let n = 0; n < 3; n++) {
		const response = await toy.post({ query });
		assert.deepEqual(await response.json(), { data: { hello: "Hello you" } });
	}
	await toy.post({ query: HELLO, variables });
	await toy.post({ query: "{ nothing }" });
	assert.equal(documents.unknown, 3);
	assert.deepEqual(warnings, [
		{ sha256: sha256(query), operation: "Unlisted", unknown: 1 },
	]);
});

suite("in off", () => {
	test("a registered document can be asked for by hash, by documentId and by GET without a header", async () => {
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

	test("what is not valid, or has another hash, is not registered", async () => {
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

	test("what one process registered another finds, and nobody's word is taken for a hash", async () => {
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

suite("when a file changes,", () => {
	test("what is new runs, and what is gone does not", async () => {
		await using served = await serving("strict");
		const { toy, edit } = served;
		edit(JSON.stringify({ new: "{ hello }" }));
		await until(
			"the new document to run",
			async () => (await toy.post({ id: "new" })).status === 200,
		);
		assert.deepEqual(await codeOf(await toy.post({ id: RELAY_ID })), NOT_FOUND);
		// The other file's are untouched.
		const who = await toy.post({ documentId: sha256(WHO) });
		assert.deepEqual(await who.json(), { data: { viewer: null } });
	});

	test("one with faults is refused whole, with each of them told once, and the old one stays", async () => {
		await using served = await serving("strict");
		const { toy, edit, news } = served;
		edit(JSON.stringify({ ...relayFile, a: "{", b: "{ nothing }", c: 1 }));
		await until("a refusal", () => news.length > 0);
		await new Promise((resolve) => setTimeout(resolve, 400));
		assert.equal(news.length, 1);
		const faults = news[0]?.fields.faults as string[];
		assert.deepEqual(
			faults.map((fault) => fault.replace(/^\S+\.json: /, "")),
			[
				"document c: expected its text but got: a number",
				"document a:1:2: Syntax Error: Expected Name, found <EOF>.",
				'document b:1:3: Cannot query field "nothing" on type "Query".',
			],
		);
		const response = await toy.post({ id: RELAY_ID, variables });
		assert.deepEqual(await response.json(), ADA);
		edit(JSON.stringify({ better: "{ hello }" }));
		await until(
			"the mended file to be in use",
			async () => (await toy.post({ id: "better" })).status === 200,
		);
	});

	test("one that gives an id of another file another text is refused", async () => {
		await using served = await serving("strict");
		served.edit(JSON.stringify({ [sha256(WHO)]: HELLO }));
		await until("a refusal", () => served.news.length > 0);
		assert.match(
			String(served.news[0]?.fields.faults),
			/another file has another text under this id/,
		);
	});
});
