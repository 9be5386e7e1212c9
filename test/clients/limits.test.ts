import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { gql } from "@apollo/client";
import { createEnvironment } from "../../examples/pinboard/src/environment.ts";
import { patientFetch } from "../../examples/pinboard/src/patientFetch.ts";
import { RequestError } from "../../examples/pinboard/src/requestError.ts";
import { createRateLimit } from "../../src/server/throttle.ts";
import { startToy, type Toy } from "../helpers/toyServer.ts";
import { createClient as createApollo } from "./apollo/client.ts";
import { codeOf as codeOfApollo } from "./apollo/errors.ts";
import {
	codeOf as codeOfGraphqlRequest,
	createClient as createGraphqlRequest,
} from "./graphqlRequest/client.ts";
import { createClient as createUrql } from "./urql/client.ts";

const TEXT = "query Hello { hello }";

/** The answer's data, or the code of its error; as each client is set up in the docs. */
type Ask = (url: string) => Promise<unknown>;

const CLIENTS: Readonly<Record<string, Ask>> = {
	async "Apollo Client"(url) {
		const client = createApollo({
			url,
			token: () => null,
			fetch: patientFetch,
		});
		return client.query({ query: gql(TEXT) }).then(
			({ data }) => data,
			(error: unknown) => codeOfApollo(error),
		);
	},
	async Relay(url) {
		const network = createEnvironment({
			url,
			token: null,
			onRefused: () => assert.fail("the token is not what is wrong"),
		}).getNetwork();
		const asked = network.execute(
			{
				id: null,
				cacheID: "hello",
				name: "Hello",
				operationKind: "query",
				text: TEXT,
				metadata: {},
			},
			{},
			{},
		);
		return asked.toPromise().then(
			(answer) => answer && "data" in answer && answer.data,
			(error: unknown) => error instanceof RequestError && error.code,
		);
	},
	async urql(url) {
		const client = createUrql({ url, token: () => null, fetch: patientFetch });
		const { data, error } = await client.query(TEXT, {});
		return data ?? error?.graphQLErrors[0]?.extensions.code;
	},
	async "graphql-request"(url) {
		const client = createGraphqlRequest(url, () => null, patientFetch);
		return client.request(TEXT).catch(codeOfGraphqlRequest);
	},
};

/** How often each status was answered. */
function answered({ lines }: Toy): Readonly<Record<string, number>> {
	const counts: Record<string, number> = {};
	for (const { msg, status } of lines) {
		if (msg !== "request") continue;
		counts[String(status)] = (counts[String(status)] ?? 0) + 1;
	}
	return counts;
}

describe("a client that comes upon a limit", () => {
	for (const [name, ask] of Object.entries(CLIENTS)) {
		it(`waits as long as it is told, and is answered: ${name}`, async () => {
			await using toy = await startToy({
				rateLimit: createRateLimit({ requests: 1, perMs: 1_000 }, null),
			});
			await (await toy.post({ query: TEXT })).text();
			const began = performance.now();
			const data = (await ask(`${toy.server.url}/graphql`)) as object;
			assert.equal(
				"hello" in data && data.hello,
				"Hello you",
				JSON.stringify(data),
			);
			assert.ok(performance.now() - began >= 1_000);
			assert.deepEqual(answered(toy), { 200: 2, 429: 1 });
		});

		it(`tells its code at once where the wait would be long: ${name}`, async () => {
			await using toy = await startToy({
				rateLimit: createRateLimit({ requests: 1, perMs: 60_000 }, null),
			});
			await (await toy.post({ query: TEXT })).text();
			assert.equal(await ask(`${toy.server.url}/graphql`), "UNAVAILABLE");
			assert.deepEqual(answered(toy), { 200: 1, 429: 1 });
		});
	}

	it("asks no more than three times, and once where something else was wrong", async () => {
		for (const [status, times] of [
			[429, 3],
			[503, 1],
		] as const) {
			let asked = 0;
			const refusing = createServer((_request, response) => {
				asked++;
				response.writeHead(status, { "retry-after": "0.01" }).end();
			}).listen(0, "127.0.0.1");
			try {
				await once(refusing, "listening");
				const { port } = refusing.address() as AddressInfo;
				const answer = await patientFetch(`http://127.0.0.1:${port}`);
				assert.equal(answer.status, status);
				assert.equal(asked, times);
			} finally {
				refusing.closeAllConnections();
				refusing.close();
			}
		}
	});
});
