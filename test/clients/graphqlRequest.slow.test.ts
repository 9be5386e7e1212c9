import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ClientError, gql } from "graphql-request";
import { type DemoServer, serveDemo } from "./demo.ts";
import { plainly, REFUSED } from "./lists.ts";
import type {
	GraphqlRequestModule,
	PinsModule,
	ReadNewerModule,
} from "./modules.ts";
import { type Pasted, paste } from "./pasted.ts";

describe("graphql-request", () => {
	let demo: DemoServer;
	let project: Pasted;
	let createClient: GraphqlRequestModule["createClient"];
	let codeOf: GraphqlRequestModule["codeOf"];
	let fieldsOf: GraphqlRequestModule["fieldsOf"];
	before(async () => {
		project = paste("graphql-request");
		({ createClient, codeOf, fieldsOf } =
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

	it("polls for what is new above a cursor, over more than a page and past a pin that is gone", async () => {
		const { readNewer } =
			await project.load<ReadNewerModule>("src/readNewer.ts");
		const own = plainly(demo.url, demo.token);
		const { viewer } = await own.data<{
			viewer: {
				boards: { nodes: { id: string }[] };
				pins: {
					nodes: { id: string }[];
					pageInfo: { startCursor: string };
				};
			};
		}>(
			"{ viewer { boards(first: 1) { nodes { id } } pins(first: 1) { nodes { id } pageInfo { startCursor } } } }",
		);
		const where = {
			url: demo.url,
			token: demo.token,
			username: "marigold_01",
		};
		const [board] = viewer.boards.nodes;
		let before = viewer.pins.pageInfo.startCursor;
		assert.deepEqual(await readNewer({ ...where, before }), {
			pins: [],
			before,
		});
		await own.data(
			"mutation ($id: ID!) { deletePin(input: { pinId: $id }) { deletedPinId } }",
			{
				id: viewer.pins.nodes[0]?.id,
			},
		);
		const made: string[] = [];
		for (let round = 0; round < 5; round++) {
			const created = await own.data<Record<string, { pin: { id: string } }>>(
				`mutation ($input: CreatePinInput!) { ${[0, 1, 2, 3, 4].map((n) => `p${n}: createPin(input: $input) { pin { id } }`).join(" ")} }`,
				{ input: { boardId: board?.id, title: "New" } },
			);
			made.unshift(
				...[4, 3, 2, 1, 0].map((n) => created[`p${n}`]?.pin.id ?? ""),
			);
		}
		const newer = await readNewer({ ...where, before });
		assert.deepEqual(
			newer.pins.map(({ id }) => id),
			made,
		);
		before = newer.before;
		assert.deepEqual((await readNewer({ ...where, before })).pins, []);
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

	it("has the messages for the fields of a refused input, and none for another error", async () => {
		const client = createClient({ url: demo.url, token: () => null });
		await assert.rejects(
			client.request(
				gql`mutation Join($input: CreateUserInput!) { createUser(input: $input) { token } }`,
				{ input: REFUSED.input },
			),
			(error) => {
				assert.deepEqual(fieldsOf(error), REFUSED.fields);
				return true;
			},
		);
		await assert.rejects(client.request(gql`{ nothing }`), (error) => {
			assert.deepEqual(fieldsOf(error), {});
			return true;
		});
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
