import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ClientError, gql } from "graphql-request";
import { type DemoServer, serveDemo } from "./demo.ts";
import { codeOf, createClient } from "./graphqlRequest/client.ts";
import { longBoard } from "./lists.ts";

const BOARD_PINS = gql`
	query BoardPins($id: ID!, $after: String) {
		board(id: $id) {
			pins(first: 7, after: $after) {
				nodes { id }
				pageInfo { endCursor hasNextPage }
			}
		}
	}
`;

interface BoardPins {
	readonly board: {
		readonly pins: {
			readonly nodes: readonly { readonly id: string }[];
			readonly pageInfo: {
				readonly endCursor: string;
				readonly hasNextPage: boolean;
			};
		};
	};
}

describe("graphql-request", () => {
	let demo: DemoServer;
	before(async () => {
		demo = await serveDemo();
	});
	after(() => demo?.[Symbol.asyncDispose]());

	it("pages through a list by its cursors", async () => {
		const client = createClient(demo.url, () => null);
		const board = await longBoard(demo.url);
		const pins: string[] = [];
		let cursor: string | null = null;
		do {
			const page: BoardPins = await client.request<BoardPins>(BOARD_PINS, {
				id: board.id,
				after: cursor,
			});
			const { nodes, pageInfo } = page.board.pins;
			pins.push(...nodes.map(({ id }) => id));
			cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
		} while (cursor !== null);
		assert.deepEqual(pins, board.pins);
	});

	it("is the viewer its token names, and nobody without one", async () => {
		let token: string | null = demo.token;
		const client = createClient(demo.url, () => token);
		const query = gql`{ viewer { username } }`;
		assert.deepEqual(await client.request(query), {
			viewer: { username: "marigold_01" },
		});
		token = null;
		assert.deepEqual(await client.request(query), { viewer: null });
	});

	it("rejects with the code of the first error, whatever refused the request", async () => {
		const code = async (query: string, token: string | null = null) => {
			try {
				await createClient(demo.url, () => token).request(query);
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
		assert.deepEqual(await code(`{ user(id: "x") { id } }`), [
			200,
			"BAD_USER_INPUT",
		]);
		assert.deepEqual(await code("{ nothing }"), [
			400,
			"GRAPHQL_VALIDATION_FAILED",
		]);
	});
});
