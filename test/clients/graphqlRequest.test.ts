import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ClientError, gql } from "graphql-request";
import { type DemoServer, serveDemo } from "./demo.ts";
import { plainly } from "./lists.ts";
import type { GraphqlRequestModule, PinsModule } from "./modules.ts";
import { type Pasted, paste } from "./pasted.ts";

describe("graphql-request", () => {
	let demo: DemoServer;
	let project: Pasted;
	let createClient: GraphqlRequestModule["createClient"];
	let codeOf: GraphqlRequestModule["codeOf"];
	before(async () => {
		project = paste("graphql-request");
		({ createClient, codeOf } =
			await project.load<GraphqlRequestModule>("src/client.ts"));
		demo = await serveDemo();
	});
	after(async () => {
		await demo?.[Symbol.asyncDispose]();
		project?.[Symbol.dispose]();
	});

	it("pages through a list by its cursors", async () => {
		const { pinsOf } = await project.load<PinsModule>("src/pins.ts");
		const client = createClient({ url: demo.url, token: () => null });
		const { interest } = await plainly(demo.url).data<{
			interest: { pins: { totalCount: number; nodes: { id: string }[] } };
		}>(
			`{ interest(by: {slug: "gardens"}) { pins(first: 100) { totalCount nodes { id } } } }`,
		);
		const pins: string[] = [];
		for await (const { id } of pinsOf(client, "gardens")) pins.push(id);
		const expected = interest.pins.nodes.map(({ id }) => id);
		assert.deepEqual(pins.slice(0, 100), expected);
		assert.ok(interest.pins.totalCount > 100 && pins.length > 100);
		assert.equal(new Set(pins).size, pins.length);
	});

	it("is the viewer that its token names, and anonymous without one", async () => {
		let token: string | null = demo.token;
		const client = createClient({ url: demo.url, token: () => token });
		const query = gql`{ viewer { username } }`;
		assert.deepEqual(await client.request(query), {
			viewer: { username: "marigold_01" },
		});
		token = null;
		assert.deepEqual(await client.request(query), { viewer: null });
	});

	it("rejects with the code of the first error of any failed request", async () => {
		const code = async (query: string, token: string | null = null) => {
			try {
				await createClient({ url: demo.url, token: () => token }).request(
					query,
				);
			} catch (error) {
				assert.ok(error instanceof ClientError);
				return [error.response.status, codeOf(error)];
			}
			return "no error";
		};
		assert.deepEqual(
			await code(
				`mutation { followUser(input: { userId: "1" }) { user { id } } }`,
			),
			[200, "UNAUTHENTICATED"],
		);
		assert.deepEqual(await code("{ viewer { id } }", `${demo.token}x`), [
			401,
			"UNAUTHENTICATED",
		]);
		assert.deepEqual(await code(`{ user(by: {id: "x"}) { id } }`), [
			200,
			"BAD_USER_INPUT",
		]);
		assert.deepEqual(await code("{ nothing }"), [
			400,
			"GRAPHQL_VALIDATION_FAILED",
		]);
	});
});
