import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startToy } from "../../helpers/toyServer.ts";

const GRAPHQL = "application/graphql-response+json";
const JSON_TYPE = "application/json";

/** What is sent, and the status by reading and media type: [audit, draft] of GraphQL's, [audit, draft] of JSON. */
const CASES: Record<
	string,
	[unknown, readonly [number, number], readonly [number, number]]
> = {
	"a full answer": [{ query: "{ hello }" }, [200, 200], [200, 200]],
	"an answer in part": [
		{ query: '{ hello fail(how: "forbidden") }' },
		[200, 294],
		[200, 200],
	],
	"no data after an error": [{ query: "{ must }" }, [200, 294], [200, 200]],
	"a document that does not parse": [{ query: "{" }, [400, 400], [200, 400]],
	"one that is not valid": [{ query: "{ no }" }, [400, 422], [200, 422]],
	"variables that do not fit": [
		{ query: "query($n: String) { hello(name: $n) }", variables: { n: 1 } },
		[400, 422],
		[200, 422],
	],
	"an operation that is not there": [
		{ query: "query A { hello }", operationName: "B" },
		[400, 422],
		[400, 422],
	],
	"no query": [{ qeury: "{ hello }" }, [400, 422], [400, 422]],
	"variables that are no object": [
		{ query: "{ hello }", variables: [7] },
		[400, 422],
		[400, 422],
	],
	"no JSON": ["NONSENSE", [400, 400], [400, 400]],
};

for (const [at, httpStatus] of (["audit", "draft"] as const).entries()) {
	suite(`with CORKBOARD_HTTP_STATUS=${httpStatus}`, () => {
		for (const [which, [body, graphql, json]] of Object.entries(CASES)) {
			test(`${which} is ${graphql[at]} as GraphQL and ${json[at]} as JSON`, async () => {
				await using toy = await startToy({ httpStatus });
				for (const [accept, statuses] of [
					[GRAPHQL, graphql],
					[JSON_TYPE, json],
				] as const) {
					const response = await toy.post(body, { accept });
					assert.equal(response.status, statuses[at], accept);
					assert.ok(Object.keys(Object(await response.json())).length > 0);
				}
			});
		}

		test("a forged GET is 400, another method 405, another media type 406", async () => {
			await using toy = await startToy({ httpStatus });
			const url = `${toy.server.url}/graphql?query={hello}`;
			assert.equal((await fetch(url)).status, 400);
			assert.equal((await fetch(url, { method: "PUT" })).status, 405);
			const html = await toy.post(
				{ query: "{ hello }" },
				{ accept: "text/html" },
			);
			assert.equal(html.status, 406);
		});

		test("an invalid token is 401 in both media types", async () => {
			await using toy = await startToy({ httpStatus });
			for (const accept of [GRAPHQL, JSON_TYPE]) {
				const response = await toy.post(
					{ query: "{ hello }" },
					{ accept, authorization: "Bearer none" },
				);
				assert.equal(response.status, 401);
			}
		});
	});
}
