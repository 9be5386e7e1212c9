import assert from "node:assert/strict";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { createRateLimit } from "../../../src/server/limits/rateLimit.ts";
import { startToy, type Toy } from "../../helpers/toyServer.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const GRAPHQL_TYPE = "application/graphql-response+json; charset=utf-8";
const GRAPHQL = "application/graphql-response+json";

/** What clients send, and what could be read in several ways. */
const ACCEPTED: readonly (readonly [accept: string | null, type: string])[] = [
	[null, JSON_TYPE],
	["", JSON_TYPE],
	["*/*", JSON_TYPE],
	["application/*", JSON_TYPE],
	["application/json", JSON_TYPE],
	[GRAPHQL, GRAPHQL_TYPE],
	["Application/GraphQL-Response+JSON", GRAPHQL_TYPE],
	[GRAPHQL_TYPE, GRAPHQL_TYPE],
	// Apollo Client, then urql, then graphql-request.
	["application/graphql-response+json,application/json;q=0.9", GRAPHQL_TYPE],
	[
		"application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed",
		GRAPHQL_TYPE,
	],
	// The more exact of two that are equally good.
	[`application/json, ${GRAPHQL_TYPE}`, GRAPHQL_TYPE],
	["application/graphql-response+json;q=0.5, application/json", JSON_TYPE],
	["application/graphql-response+json;q=0, */*", JSON_TYPE],
	["application/graphql-response+json, */*;q=0.1", GRAPHQL_TYPE],
	// It still gets the reason, as JSON.
	["text/html", JSON_TYPE],
	["image/png, ;;=,", JSON_TYPE],
];

/** `fetch` would add an Accept of its own. */
function post(
	toy: Toy,
	{
		path = "/graphql",
		method = "POST",
		type = "application/json",
		accept,
		body,
	}: {
		readonly path?: string;
		readonly method?: string;
		readonly type?: string;
		readonly accept: string | null;
		readonly body: string;
	},
) {
	return new Promise<{
		readonly status: number;
		readonly type: string | undefined;
		readonly vary: string | undefined;
		readonly body: string;
	}>((resolve, reject) => {
		request(
			toy.server.url + path,
			{
				method,
				agent: false,
				headers: {
					"content-type": type,
					"content-length": Buffer.byteLength(body),
					...(accept === null ? {} : { accept }),
				},
			},
			(response) => {
				const { statusCode = 0, headers } = response;
				text(response).then(
					(body) =>
						resolve({
							status: statusCode,
							type: headers["content-type"],
							vary: headers.vary,
							body,
						}),
					reject,
				);
			},
		)
			.on("error", reject)
			.end(body);
	});
}

suite("the media type of an error response", () => {
	let toy: Toy;
	before(async () => {
		toy = await startToy();
	});
	after(() => toy.server.close());

	test("is the one that Apollo chooses for its own errors", async () => {
		for (const [accept, type] of ACCEPTED) {
			const byApollo = await post(toy, { accept, body: '{"query": "{"}' });
			// If it accepts neither, Apollo refuses that as well, in the same type.
			assert.equal(byApollo.type, type, `Apollo: ${accept}`);
			const ours = await post(toy, { accept, body: "{" });
			assert.equal(ours.status, 400);
			assert.equal(ours.type, type, `ours: ${accept}`);
		}
	});

	const REFUSED = {
		"400 of a body that is no JSON": { body: "{" },
		"400 of a document that is not known": { body: '{"documentId": "none"}' },
		"405": { method: "PUT", body: "{}" },
		"413": { body: " ".repeat(1_000_001) },
		"415": { type: "text/plain", body: "{ hello }" },
		"415 of a charset": {
			type: "application/json; charset=latin1",
			body: "{}",
		},
	} as const;
	for (const [which, asked] of Object.entries(REFUSED)) {
		test(`is the one that the client prefers, with the same body and status: ${which}`, async () => {
			const plain = await post(toy, { accept: null, ...asked });
			assert.equal(plain.status, Number.parseInt(which, 10));
			assert.equal(plain.type, JSON_TYPE);
			assert.equal(plain.vary, "Accept, Origin");
			assert.match(plain.body, /^\{"errors":\[\{"message":".+"code":/);
			const negotiated = await post(toy, { accept: GRAPHQL, ...asked });
			assert.deepEqual(negotiated, { ...plain, type: GRAPHQL_TYPE });
		});
	}

	test("is the one that the client prefers: 429", async () => {
		await using limited = await startToy({
			rateLimit: createRateLimit({ requests: 1, perMs: 60_000 }, null),
		});
		const asked = { accept: GRAPHQL, body: '{"query": "{ hello }"}' };
		assert.equal((await post(limited, asked)).status, 200);
		const { status, type } = await post(limited, asked);
		assert.deepEqual({ status, type }, { status: 429, type: GRAPHQL_TYPE });
	});

	test("is application/json at other URLs, whatever the client accepts", async () => {
		for (const path of ["/", "/graphql/", "/graphqlx", "/health/ready"]) {
			const { type, vary } = await post(toy, {
				path,
				accept: GRAPHQL,
				body: "{}",
			});
			assert.equal(type, JSON_TYPE, path);
			assert.equal(vary, "Origin", path);
		}
	});
});
