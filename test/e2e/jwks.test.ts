import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { client } from "../helpers/client.ts";
import { serveHere } from "../helpers/demoServer.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SECRET = "of the tests of other keys 32 bytes or more";

describe("a server with CORKBOARD_JWKS", () => {
	it("accepts tokens of users by id, rejects all others with 401, and signs none", async () => {
		const { privateKey, publicKey } = await generateKeyPair("ES256");
		const keys = [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" }];
		const issuer = createServer((_request, response) => {
			response.setHeader("content-type", "application/json");
			response.end(JSON.stringify({ keys }));
		}).listen(0, "127.0.0.1");
		await once(issuer, "listening");
		const { port } = issuer.address() as AddressInfo;
		try {
			using folder = temporaryFolder();
			const env = {
				CORKBOARD_DATA: folder.path,
				CORKBOARD_SECRET: SECRET,
				CORKBOARD_JWKS: `http://127.0.0.1:${port}/keys`,
				CORKBOARD_ISSUER: "https://id.example.com",
				CORKBOARD_AUDIENCE: "corkboard",
			};
			let id: string;
			{
				await using server = await serveHere(env);
				const { createUser } = await client(server.url).data<{
					createUser: { user: { id: string }; token: string | null };
				}>(
					'mutation { createUser(input: {username: "ada_elsewhere"}) { user { id } token } }',
				);
				assert.equal(createUser.token, null);
				id = createUser.user.id;
				const signed = (
					claims: Readonly<Record<string, unknown>> = {},
					key: Parameters<SignJWT["sign"]>[0] = privateKey,
					alg = "ES256",
				) =>
					new SignJWT({
						sub: id,
						iss: "https://id.example.com",
						aud: "corkboard",
						exp: Math.floor(Date.now() / 1_000) + 60,
						...claims,
					})
						.setProtectedHeader({ alg, kid: "k1" })
						.sign(key);
				assert.deepEqual(
					await client(server.url, await signed()).data(
						"{ viewer { username } }",
					),
					{ viewer: { username: "ada_elsewhere" } },
				);
				for (const token of [
					await signed({ aud: "another" }),
					await signed({ iss: "https://example.net" }),
					await signed({ exp: 1 }),
					// Ours, which was good before.
					await signed({}, Buffer.from(SECRET), "HS256"),
				]) {
					const answer = await client(server.url, token).post(
						"{ interests { totalCount } }",
					);
					assert.equal(answer.status, 401);
					assert.equal("data" in answer, false);
				}
				assert.equal((await server.stop()).code, 0);
			}
			const token = await runHere(["tokens", "create", id], { env });
			assert.equal(token.code, 1);
			assert.match(token.err, /^corkboard: This server signs no tokens/);
		} finally {
			issuer.closeAllConnections();
			issuer.close();
		}
	});
});
