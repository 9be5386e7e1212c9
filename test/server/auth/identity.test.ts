import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import { suite, test } from "node:test";
import { SignJWT, UnsecuredJWT } from "jose";
import { CorkboardError } from "../../../src/errors.ts";
import { createAccessTokens } from "../../../src/server/auth/accessTokens.ts";
import { identify } from "../../../src/server/auth/identity.ts";
import { ADA, GONE, startToy, tokens } from "../../helpers/toyServer.ts";

const key = createSecretKey(new Uint8Array(32).fill(7));
const soon = Math.floor(Date.now() / 1_000) + 60;

suite("an access token", () => {
	test("names the user it was signed for", async () => {
		assert.deepEqual(await tokens.verify(await tokens.sign(ADA)), {
			subject: ADA,
			isOperator: false,
		});
	});

	test("needs a secret of 32 bytes", () => {
		assert.throws(
			() => createAccessTokens([new Uint8Array(31)], 60),
			(error: CorkboardError) =>
				error.code === "BAD_CONFIG" &&
				error.message === "The secret must have at least 32 bytes, got 31.",
		);
	});

	const refused: Record<string, () => Promise<string> | string> = {
		"of another secret": () =>
			createAccessTokens([new Uint8Array(32).fill(8)], 60).sign(ADA),
		"that have expired": () =>
			createAccessTokens([new Uint8Array(32).fill(7)], -60).sign(ADA),
		"without an end": () =>
			new SignJWT({ sub: ADA }).setProtectedHeader({ alg: "HS256" }).sign(key),
		"without a subject": () =>
			new SignJWT({ exp: soon }).setProtectedHeader({ alg: "HS256" }).sign(key),
		"whose subject is no text": () =>
			new SignJWT({ sub: 7 as unknown as string, exp: soon })
				.setProtectedHeader({ alg: "HS256" })
				.sign(key),
		"whose subject is longer than any": () =>
			new SignJWT({ sub: "x".repeat(256), exp: soon })
				.setProtectedHeader({ alg: "HS256" })
				.sign(key),
		"that are not signed": () =>
			new UnsecuredJWT({ sub: ADA, exp: soon }).encode(),
		"of another algorithm": () =>
			new SignJWT({ sub: ADA, exp: soon })
				.setProtectedHeader({ alg: "HS512" })
				.sign(createSecretKey(new Uint8Array(64).fill(7))),
		"that are no tokens": () => "x.y.z",
	};
	for (const [which, make] of Object.entries(refused)) {
		test(`is rejected: ${which}`, async () => {
			const token = await make();
			await assert.rejects(
				async () => tokens.verify(token),
				(error: CorkboardError) => error.code === "UNAUTHENTICATED",
			);
		});
	}
});

suite("a request", () => {
	test("without the header is anonymous, and reads no user", async () => {
		const nobody = () => assert.fail("nobody was named");
		assert.deepEqual(
			await identify(undefined, tokens, {
				isUser: nobody,
				userOfAccount: nobody,
			}),
			{ viewer: null, isOperator: false },
		);
	});

	test("with an empty Authorization is anonymous, as Apollo Client's auth link sends it while signed out", async () => {
		await using toy = await startToy();
		for (const authorization of ["", " ", " \t"]) {
			const response = await toy.post(
				{ query: "{ viewer hello }" },
				{ authorization },
			);
			assert.equal(response.status, 200);
			const { data } = (await response.json()) as { data: object };
			assert.deepEqual({ ...data, hello: "" }, { viewer: null, hello: "" });
		}
	});

	test("with a valid token has its user as viewer, in any spelling of Bearer", async () => {
		await using toy = await startToy();
		for (const scheme of ["Bearer", "bearer", "BEARER"]) {
			const response = await toy.post(
				{ query: "{ viewer }" },
				{ authorization: `${scheme} ${await tokens.sign(ADA)}` },
			);
			assert.deepEqual(await response.json(), { data: { viewer: ADA } });
		}
	});

	test("with an invalid header is rejected whole, with 401", async () => {
		await using toy = await startToy();
		const headers = {
			"Basic YTpi": "The Authorization header must be: Bearer TOKEN.",
			Bearer: "The Authorization header must be: Bearer TOKEN.",
			"Bearer nonsense": "The token is not valid.",
			[`Bearer ${await createAccessTokens([new Uint8Array(32).fill(7)], -60).sign(ADA)}`]:
				"The token has expired.",
			[`Bearer ${await tokens.sign(GONE)}`]: "The token names no active user.",
		};
		for (const [authorization, message] of Object.entries(headers)) {
			const response = await toy.post(
				{ query: "{ hello }" },
				{ authorization },
			);
			assert.equal(response.status, 401, authorization);
			assert.equal(response.headers.get("www-authenticate"), "Bearer");
			assert.deepEqual(await response.json(), {
				errors: [{ message, extensions: { code: "UNAUTHENTICATED" } }],
			});
		}
	});

	test("is 503, not 401, where its user cannot be read", async () => {
		await using toy = await startToy({
			isUser: async () => {
				throw new CorkboardError("UNAVAILABLE", "A host does not answer.");
			},
		});
		const response = await toy.post(
			{ query: "{ hello }" },
			{ authorization: `Bearer ${await tokens.sign(ADA)}` },
		);
		assert.equal(response.status, 503);
		assert.deepEqual(await response.json(), {
			errors: [
				{
					message: "A host does not answer.",
					extensions: { code: "UNAVAILABLE" },
				},
			],
		});
	});
});
