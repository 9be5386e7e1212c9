import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { gql } from "@apollo/client";
import { patientFetch } from "../../examples/pinboard/src/patientFetch.ts";
import { createRateLimit } from "../../src/server/limits/rateLimit.ts";
import { startToy, type Toy } from "../helpers/toyServer.ts";
import type {
	ApolloModule,
	GraphqlRequestModule,
	RelayModule,
	UrqlModule,
} from "./modules.ts";
import { CLIENTS, type ClientName, type Pasted, paste } from "./pasted.ts";

const TEXT = "query Hello { hello }";

/** The answer's data, or the code of its error; as each client is set up in the docs. */
type Ask = (project: Pasted, url: string) => Promise<unknown>;

const token = () => null;

const ASKS: Readonly<Record<ClientName, Ask>> = {
	async apollo(project, url) {
		const { createClient, codeOf } =
			await project.load<ApolloModule>("src/client.ts");
		return createClient({ url, token })
			.query({ query: gql(TEXT) })
			.then(
				({ data }) => data,
				(error: unknown) => codeOf(error),
			);
	},
	async relay(project, url) {
		const { createEnvironment, codeOf } =
			await project.load<RelayModule>("src/environment.ts");
		const asked = createEnvironment({ url, token: null }).getNetwork().execute(
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
			(error: unknown) => error instanceof Error && codeOf(error),
		);
	},
	async urql(project, url) {
		const { createClient, codeOf } =
			await project.load<UrqlModule>("src/client.ts");
		const { data, error } = await createClient({ url, token }).query(TEXT, {});
		return error ? codeOf(error) : data;
	},
	async "graphql-request"(project, url) {
		const { createClient, codeOf } =
			await project.load<GraphqlRequestModule>("src/client.ts");
		return createClient({ url, token }).request(TEXT).catch(codeOf);
	},
};

const ATTEMPTS = 5;

/** How often each status was answered. */
function answered({ lines }: Toy): Readonly<Record<string, number>> {
	const counts: Record<string, number> = {};
	for (const { msg, status } of lines) {
		if (msg !== "request completed") continue;
		counts[String(status)] = (counts[String(status)] ?? 0) + 1;
	}
	return counts;
}

describe("a client over a limit", () => {
	for (const name of CLIENTS) {
		const ask = ASKS[name];
		it(`waits for the time in Retry-After, and succeeds: ${name}`, async () => {
			using project = paste(name);
			// A machine that is paused for a second answers the client at once: then again.
			for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
				await using toy = await startToy({
					rateLimit: createRateLimit({ requests: 1, perMs: 1_000 }, null),
				});
				await (await toy.post({ query: TEXT })).text();
				const began = performance.now();
				const data = (await ask(
					project,
					`${toy.server.url}/graphql`,
				)) as object;
				const ms = performance.now() - began;
				assert.equal(
					"hello" in data && data.hello,
					"Hello you",
					JSON.stringify(data),
				);
				const counts = answered(toy);
				if (counts["429"] === undefined) continue;
				assert.ok(ms >= 1_000, `${ms} ms`);
				assert.deepEqual(counts, { 200: 2, 429: 1 });
				return;
			}
			assert.fail(`expected a client to be refused in ${ATTEMPTS} attempts`);
		});

		it(`reports the code at once where the wait is long: ${name}`, async () => {
			using project = paste(name);
			await using toy = await startToy({
				rateLimit: createRateLimit({ requests: 1, perMs: 60_000 }, null),
			});
			await (await toy.post({ query: TEXT })).text();
			assert.equal(
				await ask(project, `${toy.server.url}/graphql`),
				"UNAVAILABLE",
			);
			assert.deepEqual(answered(toy), { 200: 1, 429: 1 });
		});
	}

	it("sends at most three requests, and one where the error is another", async () => {
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
