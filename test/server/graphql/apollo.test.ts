import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { type ExecutionResult, GraphQLError } from "graphql";
import { CorkboardError } from "../../../src/errors.ts";
import { startToy, type Toy } from "../../helpers/toyServer.ts";

async function codeOf(response: Response): Promise<[number, unknown, unknown]> {
	const { errors, data } = (await response.json()) as ExecutionResult;
	assert.equal(errors?.length, 1);
	return [response.status, errors[0]?.extensions?.code, data];
}

suite("an operation", () => {
	let toy: Toy;
	before(async () => {
		toy = await startToy();
	});
	after(() => toy.server.close());

	test("runs with its variables, name and text", async () => {
		const response = await toy.post({
			query: "query A($n: String) { hello(name: $n) } query B { viewer }",
			operationName: "A",
			variables: { n: "world" },
		});
		assert.equal(response.status, 200);
		assert.deepEqual(await response.json(), { data: { hello: "Hello world" } });
	});

	test("may be a GET if it is a query and has a header that forms cannot send", async () => {
		const url = `${toy.server.url}/graphql?query=%7Bhello%7D`;
		const plain = await fetch(url);
		assert.deepEqual((await codeOf(plain)).slice(0, 2), [400, "BAD_REQUEST"]);
		const marked = await fetch(url, {
			headers: { "apollo-require-preflight": "1" },
		});
		assert.deepEqual(await marked.json(), { data: { hello: "Hello you" } });
	});

	test("is rejected by GET if it is a mutation", async () => {
		const query = encodeURIComponent("mutation { setNumber(to: 1) }");
		const response = await fetch(`${toy.server.url}/graphql?query=${query}`, {
			headers: { "apollo-require-preflight": "1" },
		});
		assert.equal(response.headers.get("allow"), "POST");
		assert.deepEqual((await codeOf(response)).slice(0, 2), [
			405,
			"BAD_REQUEST",
		]);
	});

	const faults: Record<string, [unknown, number, string]> = {
		"that does not parse": [{ query: "{" }, 400, "GRAPHQL_PARSE_FAILED"],
		"that is not valid": [
			{ query: "{ nothing }" },
			400,
			"GRAPHQL_VALIDATION_FAILED",
		],
		"of more than 2,000 tokens": [
			{ query: `{ ${"hello ".repeat(2_000)} }` },
			400,
			"GRAPHQL_PARSE_FAILED",
		],
		"whose variable has another type": [
			{ query: "query($n: String) { hello(name: $n) }", variables: { n: 1 } },
			400,
			"BAD_USER_INPUT",
		],
		"whose variable is missing": [
			{ query: "query($is: Color!) { color(is: $is) }" },
			400,
			"BAD_USER_INPUT",
		],
		"that is not the document's": [
			{ query: "query A { hello }", operationName: "B" },
			400,
			"OPERATION_RESOLUTION_FAILURE",
		],
		"that is one of two, without a name": [
			{ query: "query A { hello } query B { hello }" },
			400,
			"OPERATION_RESOLUTION_FAILURE",
		],
		"that is a subscription": [
			{ query: "subscription { hello }" },
			400,
			"GRAPHQL_VALIDATION_FAILED",
		],
		"in a batch": [[{ query: "{ hello }" }], 400, "BAD_REQUEST"],
		"without a query": [{ operationName: "A" }, 400, "BAD_REQUEST"],
		"with variables that are no object": [
			{ query: "{ hello }", variables: [1] },
			400,
			"BAD_REQUEST",
		],
	};
	for (const [which, [body, status, code]] of Object.entries(faults)) {
		test(`${which} is ${status}, ${code}`, async () => {
			const response = await toy.post(body, {
				accept: "application/graphql-response+json",
			});
			assert.deepEqual(await codeOf(response), [status, code, undefined]);
		});
	}

	test("can be repeated by its hash after it was sent with it", async () => {
		const query = '{ hello(name: "again") }';
		const persistedQuery = {
			version: 1,
			sha256Hash: createHash("sha256").update(query).digest("hex"),
		};
		const unknown = await toy.post({ extensions: { persistedQuery } });
		assert.deepEqual(await codeOf(unknown), [
			200,
			"PERSISTED_QUERY_NOT_FOUND",
			undefined,
		]);
		await toy.post({ query, extensions: { persistedQuery } });
		const known = await toy.post({ extensions: { persistedQuery } });
		assert.deepEqual(await known.json(), { data: { hello: "Hello again" } });
	});

	test("is a client error with a wrong hash or another protocol version", async () => {
		for (const persistedQuery of [
			{ version: 1, sha256Hash: "0".repeat(64) },
			{ version: 2, sha256Hash: "0".repeat(64) },
		]) {
			const response = await toy.post({
				query: "{ hello }",
				extensions: { persistedQuery },
			});
			assert.deepEqual(await codeOf(response), [400, "BAD_REQUEST", undefined]);
		}
	});

	test("shows an error's message to a client only where its code is for clients", async () => {
		const response = await toy.post({
			query: `{
				forbidden: fail(how: "forbidden")
				config: fail(how: "config")
				graphql: fail(how: "graphql")
				other: fail(how: "other")
				hello
			}`,
		});
		assert.equal(response.status, 200);
		const text = await response.text();
		assert.doesNotMatch(text, /secret|hunter2|stack|ECONNREFUSED|\.ts/);
		const { data, errors = [] } = JSON.parse(text) as ExecutionResult;
		assert.deepEqual(data, {
			forbidden: null,
			config: null,
			graphql: null,
			other: null,
			hello: "Hello you",
		});
		assert.deepEqual(errors[0], {
			message: "Only its owner may do this.",
			locations: [{ line: 2, column: 5 }],
			path: ["forbidden"],
			extensions: { code: "FORBIDDEN" },
		});
		for (const error of errors.slice(1)) {
			assert.equal(error.message, "Something went wrong on our side.");
			assert.equal(error.extensions?.code, "INTERNAL");
			assert.deepEqual(Object.keys(error).sort(), [
				"extensions",
				"locations",
				"message",
				"path",
			]);
			const logged = toy.lines.find(
				(line) => line.errorId === error.extensions?.errorId,
			);
			assert.match(JSON.stringify(logged), /secret/);
		}
	});

	test("returns null and INTERNAL where a non-null field is missing", async () => {
		const response = await toy.post({ query: "{ must }" });
		assert.deepEqual(await codeOf(response), [200, "INTERNAL", null]);
	});
});

suite("the executor", () => {
	const outcomes: Record<string, [() => never, number, string]> = {
		TOO_EXPENSIVE: [
			() => {
				throw new CorkboardError("TOO_EXPENSIVE", "This may read too much.");
			},
			400,
			"This may read too much.",
		],
		UNAVAILABLE: [
			() => {
				throw new CorkboardError("UNAVAILABLE", "A host does not answer.");
			},
			503,
			"A host does not answer.",
		],
		INTERNAL: [
			() => {
				throw new TypeError("secret is undefined");
			},
			500,
			"Something went wrong on our side.",
		],
	};
	for (const [code, [execute, status, message]] of Object.entries(outcomes)) {
		test(`fails a request with ${status} when it throws ${code}`, async () => {
			await using toy = await startToy({ execute: async () => execute() });
			const response = await toy.post({ query: "{ hello }" });
			assert.equal(response.status, status);
			const { errors, data } = (await response.json()) as ExecutionResult;
			assert.equal(data, undefined);
			assert.equal(errors?.[0]?.message, message);
			assert.equal(errors?.[0]?.extensions?.code, code);
		});
	}

	test("returns the status of the first error for a result without data", async () => {
		await using toy = await startToy({
			execute: async () => ({
				errors: [
					new GraphQLError("Too much.", {
						extensions: { code: "TOO_EXPENSIVE" },
					}),
				],
			}),
		});
		assert.deepEqual(await codeOf(await toy.post({ query: "{ hello }" })), [
			400,
			"TOO_EXPENSIVE",
			undefined,
		]);
	});

	test("stops at the deadline if it obeys the signal, and is abandoned if not", async () => {
		await using toy = await startToy({
			limits: { executionMs: 100 },
		});
		const stopped = await toy.post({ query: "{ slow(ms: 20000) }" });
		assert.deepEqual(await stopped.json(), { data: { slow: "stopped" } });
		const stuck = await toy.post({ query: "{ stuck }" });
		assert.equal(stuck.status, 503);
		assert.deepEqual(await stuck.json(), {
			errors: [
				{
					message: "The request took longer than 0.1 s.",
					extensions: { code: "UNAVAILABLE" },
				},
			],
		});
	});

	test("is aborted when the client disconnects", async () => {
		const { promise: aborted, resolve } = Promise.withResolvers<unknown>();
		const { promise: began, resolve: begin } = Promise.withResolvers<void>();
		await using toy = await startToy({
			execute: ({ deadline: { signal } }) => {
				signal.addEventListener("abort", () => resolve(signal.reason));
				begin();
				return aborted.then(() => ({ data: null }));
			},
		});
		const client = new AbortController();
		const request = fetch(`${toy.server.url}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: '{"query":"{ hello }"}',
			signal: client.signal,
		});
		await began;
		client.abort();
		await assert.rejects(request);
		assert.equal(
			((await aborted) as Error).message,
			"The client disconnected.",
		);
	});
});

suite("in production", () => {
	let toy: Toy;
	before(async () => {
		toy = await startToy({ mode: "production" });
	});
	after(() => toy.server.close());

	test("introspection is rejected, in words that name no setting of Apollo", async () => {
		const response = await toy.post(
			{
				query: '{ __schema { types { name } } __type(name: "Query") { name } }',
			},
			{ accept: "application/graphql-response+json" },
		);
		assert.equal(response.status, 400);
		const { errors } = (await response.json()) as {
			errors: { message: string; extensions: { code: string } }[];
		};
		assert.deepEqual(
			errors.map(({ message, extensions: { code } }) => [code, message]),
			["__schema", "__type"].map((name) => [
				"GRAPHQL_VALIDATION_FAILED",
				`This server does not show its schema: ${name} is for its operators only.`,
			]),
		);
	});

	test("errors suggest no names, for fields or for values of variables", async () => {
		const bodies = [
			{ query: "{ helo }" },
			{
				query: "query($is: Color!) { color(is: $is) }",
				variables: { is: "REDD" },
			},
		];
		for (const body of bodies) {
			const text = await (await toy.post(body)).text();
			assert.match(text, /"errors"/);
			assert.doesNotMatch(text, /Did you mean/);
		}
	});

	test("a browser at /graphql gets a page without scripts and resources that says what this is", async () => {
		const response = await fetch(`${toy.server.url}/graphql`, {
			headers: { accept: "text/html,*/*;q=0.8" },
		});
		assert.equal(response.status, 200);
		assert.equal(response.headers.get("cache-control"), "no-store");
		assert.equal(
			response.headers.get("content-security-policy"),
			"default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
		);
		const html = await response.text();
		assert.match(html, /This address is a GraphQL API\./);
		assert.doesNotMatch(html, /<script|src=|href="(?!data:,")/);
		const program = await fetch(`${toy.server.url}/graphql`);
		assert.deepEqual((await codeOf(program)).slice(0, 2), [400, "BAD_REQUEST"]);
	});
});

test("in development introspection works and errors suggest names", async () => {
	await using toy = await startToy();
	const introspection = await toy.post({
		query: "{ __schema { queryType { name } } }",
	});
	assert.deepEqual(await introspection.json(), {
		data: { __schema: { queryType: { name: "Query" } } },
	});
	const misspelt = await toy.post({ query: "{ helo }" });
	assert.match(await misspelt.text(), /Did you mean \\"hello\\"/);
});
