import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { client } from "../helpers/client.ts";
import { serve } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const KNOWN = "query Known { viewer { username } }";
const UNKNOWN = "{ viewer { boards { totalCount } } }";

describe("an operator of a server in production and strict mode", () => {
	it("runs and explains any document, and sees no more of the graph than others", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "web.json");
		writeFileSync(file, JSON.stringify({ known: KNOWN }));
		const env = { CORKBOARD_DATA: join(folder.path, "data") };
		const { operator, member, secretBoard } = await populate(env);
		await using server = await serve({
			...env,
			CORKBOARD_MODE: "production",
			CORKBOARD_DOCUMENTS: "strict",
			CORKBOARD_DOCUMENT_FILES: file,
			CORKBOARD_OPERATORS: operator.id,
			// As if it were not set, which it is for other tests.
			CORKBOARD_GRAPHIQL: "",
		});
		const post = async (
			query: string,
			token: string,
		): Promise<{
			data?: unknown;
			errors?: [{ extensions: { code: string } }];
			extensions?: { explain?: { steps: unknown[] } };
		}> => {
			const response = await fetch(`${server.url}/graphql`, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					authorization: `Bearer ${token}`,
					"corkboard-explain": "1",
				},
				body: JSON.stringify({ query }),
			});
			return response.json();
		};
		assert.deepEqual(await post(KNOWN, member.token), {
			data: { viewer: { username: "member" } },
		});
		const refused = await post(UNKNOWN, member.token);
		assert.equal(refused.errors?.[0].extensions.code, "BAD_REQUEST");

		const ran = await post(UNKNOWN, operator.token);
		assert.deepEqual(ran.data, { viewer: { boards: { totalCount: 0 } } });
		assert.ok(ran.extensions?.explain);
		const schema = await post(
			"{ __schema { queryType { name } } }",
			operator.token,
		);
		assert.deepEqual(schema.data, {
			__schema: { queryType: { name: "Query" } },
		});
		const hidden = await post(
			`{ board(id: "${secretBoard}") { name } }`,
			operator.token,
		);
		assert.deepEqual(hidden.data, { board: null });

		for (const [token, status] of [
			[member.token, 401],
			[operator.token, 303],
		] as const) {
			const response = await fetch(`${server.url}/graphiql/sign-in`, {
				method: "POST",
				redirect: "manual",
				body: new URLSearchParams({ token }),
			});
			assert.equal(response.status, status);
		}
		assert.equal((await server.stop()).code, 0);
	});

	it("must be an id or a claim, or the server does not start", async () => {
		const { code, err } = await runHere(["serve"], {
			env: { CORKBOARD_OPERATORS: "admin" },
		});
		assert.equal(code, 1);
		assert.equal(
			err,
			'corkboard: CORKBOARD_OPERATORS must be user ids, or claims of tokens such as roles=operator, separated by commas, got "admin".\n',
		);
	});
});

/** Two users, and a board that the second keeps to itself. */
async function populate(env: Readonly<Record<string, string>>) {
	await using server = await serve({ ...env, CORKBOARD_DEMO: "off" });
	const visitor = client(server.url);
	const make = async (username: string) => {
		const { createUser } = await visitor.data<{
			createUser: { user: { id: string }; token: string };
		}>(
			`mutation { createUser(input: {username: "${username}"}) { user { id } token } }`,
		);
		return { id: createUser.user.id, token: createUser.token };
	};
	const operator = await make("operator");
	const member = await make("member");
	const { createBoard } = await client(server.url, member.token).data<{
		createBoard: { board: { id: string } };
	}>(
		'mutation { createBoard(input: {name: "Mine", secret: true}) { board { id } } }',
	);
	assert.equal((await server.stop()).code, 0);
	return { operator, member, secretBoard: createBoard.board.id };
}
