import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SignJWT } from "jose";
import { client } from "../helpers/client.ts";
import { serveHere } from "../helpers/demoServer.ts";
import { join } from "../helpers/member.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SECRET = "of the account tests 32 bytes or more";

describe("the commands about accounts", () => {
	it("links a user to an external account, as an import can; tokens of the account then sign the user in", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: folder.path, CORKBOARD_SECRET: SECRET };
		const claims = { ...env, CORKBOARD_SUBJECT_CLAIM: "facebook_id" };
		const lines = ["ada", "ben"].map((username) =>
			JSON.stringify({
				type: "User",
				key: username,
				fields: {
					username: `${username}_made_up`,
					name: username,
					...(username === "ben" && { account: "10150000000000002" }),
				},
			}),
		);
		const imported = await runHere(["import", "-"], {
			env,
			input: lines.join("\n"),
		});
		assert.equal(imported.code, 0, imported.err);
		const account = (...args: string[]) =>
			runHere(["accounts", ...args], { env });
		const linked = await account("link", "ada_made_up", "10150000000000001");
		assert.equal(linked.code, 0, linked.err);
		const taken = await account("link", "ada_made_up", "10150000000000002");
		assert.deepEqual(
			[taken.code, taken.err],
			[
				1,
				'corkboard: Account "10150000000000002" is linked to another user.\n',
			],
		);

		const signed = (facebookId: string) =>
			new SignJWT({ facebook_id: facebookId })
				.setProtectedHeader({ alg: "HS256" })
				.setExpirationTime("1m")
				.sign(Buffer.from(SECRET));
		const viewerOf = async (url: string, facebookId: string) => {
			const answer = await client(url, await signed(facebookId)).post(
				"{ viewer { username } }",
			);
			return answer.data ?? answer.status;
		};
		{
			await using server = await serveHere(claims);
			for (const [id, username] of [
				["10150000000000001", "ada_made_up"],
				["10150000000000002", "ben_made_up"],
			] as const) {
				assert.deepEqual(await viewerOf(server.url, id), {
					viewer: { username },
				});
			}
			assert.equal(await viewerOf(server.url, "10150000000000003"), 401);
			assert.equal((await server.stop()).code, 0);
		}
		const shown = await account("show", "ada_made_up", "--json");
		assert.deepEqual(
			[
				shown.code,
				JSON.parse(shown.out).account,
				JSON.parse(shown.out).closedAt,
			],
			[0, "10150000000000001", null],
		);
		assert.equal((await account("unlink", "ada_made_up")).code, 0);
		assert.match(
			(await account("show", "ada_made_up")).out,
			/: linked to no account, open\n$/,
		);
		await using server = await serveHere(claims);
		assert.equal(await viewerOf(server.url, "10150000000000001"), 401);
	});

	it("reopens an account that its user closed", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: folder.path };
		let id: string;
		const find = '{ user(by: {username: "eve_made_up"}) { name } }';
		{
			await using server = await serveHere(env);
			const eve = await join(server.url, "eve_made_up");
			id = eve.id;
			await eve.data(
				`mutation { deactivateUser(input: {userId: "${id}"}) { deactivatedUserId } }`,
			);
			assert.deepEqual(await client(server.url).data(find), { user: null });
			assert.equal((await server.stop()).code, 0);
		}
		const token = await runHere(["tokens", "create", "eve_made_up"], { env });
		assert.equal(token.code, 1);
		const opened = await runHere(["accounts", "reopen", "eve_made_up"], {
			env,
		});
		assert.deepEqual([opened.code, opened.out], [0, `${id}\n`]);
		await using server = await serveHere(env);
		assert.deepEqual(await client(server.url).data(find), {
			user: { name: "eve_made_up" },
		});
		assert.equal((await runHere(["accounts"], { env })).code, 2);
	});
});
