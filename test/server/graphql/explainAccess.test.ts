import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServerOptions } from "../../../src/server/server.ts";
import { startToy } from "../../helpers/toyServer.ts";

const QUERY = { query: "{ hello }" };
const HEADER = { "corkboard-explain": "1" };

/** A server that answers with whether it was asked to explain. */
async function startEcho(mode: ServerOptions["mode"]) {
	const asked: boolean[] = [];
	const toy = await startToy({
		mode,
		execute: async ({ explain }) => {
			asked.push(explain);
			return { data: { hello: "you" } };
		},
	});
	return { toy, asked };
}

describe("the header corkboard-explain", () => {
	test("returns an explanation in development, and only with the value 1", async () => {
		const { toy, asked } = await startEcho("development");
		await using _toy = toy;
		await toy.post(QUERY, HEADER);
		await toy.post(QUERY);
		await toy.post(QUERY, { "corkboard-explain": "0" });
		assert.deepEqual(asked, [true, false, false]);
	});

	test("has no effect by GET, whose responses caches may share", async () => {
		const { toy, asked } = await startEcho("development");
		await using _toy = toy;
		const answer = await fetch(
			`${toy.server.url}/graphql?query=${encodeURIComponent(QUERY.query)}`,
			{ headers: { ...HEADER, "apollo-require-preflight": "1" } },
		);
		assert.equal(answer.status, 200);
		assert.deepEqual(asked, [false]);
	});

	test("has no effect in production", async () => {
		const { toy, asked } = await startEcho("production");
		await using _toy = toy;
		const answer = await toy.post(QUERY, HEADER);
		assert.deepEqual(await answer.json(), { data: { hello: "you" } });
		assert.deepEqual(asked, [false]);
	});

	test("is accepted from pages of other origins", async () => {
		const { toy } = await startEcho("development");
		await using _toy = toy;
		const answer = await fetch(`${toy.server.url}/graphql`, {
			method: "OPTIONS",
			headers: {
				origin: "http://localhost:5173",
				"access-control-request-method": "POST",
				"access-control-request-headers": "corkboard-explain",
			},
		});
		assert.match(
			answer.headers.get("access-control-allow-headers") ?? "",
			/corkboard-explain/,
		);
	});
});
