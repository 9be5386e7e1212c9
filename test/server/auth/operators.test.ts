import assert from "node:assert/strict";
import { createHash, createSecretKey } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { SignJWT } from "jose";
import type { Id } from "../../../src/id/ids.ts";
import { createAccessTokens } from "../../../src/server/auth/accessTokens.ts";
import { createDocuments } from "../../../src/server/documents/documents.ts";
import { ADA, startToy, type Toy, tokens } from "../../helpers/toyServer.ts";

const SECRET = new Uint8Array(32).fill(7);
/** Active, and no operator. */
const BOB = "241294492511762326" as Id;
/** An operator by what the token says. */
const EVE = "241294492511762327" as Id;

const INTROSPECTION = { query: "{ __schema { queryType { name } } }" };

function claiming(claims: Readonly<Record<string, unknown>>, secret = SECRET) {
	return new SignJWT({ sub: EVE, ...claims })
		.setProtectedHeader({ alg: "HS256" })
		.setExpirationTime("1 minute")
		.sign(createSecretKey(secret));
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("an operator, in production", () => {
	const explained: boolean[] = [];
	let toy: Toy;
	let operator: { readonly authorization: string };
	let member: { readonly authorization: string };
	before(async () => {
		const claims = [{ name: "roles", value: "operator" }];
		toy = await startToy({
			mode: "production",
			graphiql: "operators",
			isUser: async (id) => [ADA, BOB, EVE].includes(id),
			accessTokens: createAccessTokens([SECRET], 60, undefined, claims),
			operators: { ids: new Set([ADA]), claims },
			execute: async ({ explain }) => {
				explained.push(explain);
				return { data: { hello: "you" } };
			},
		});
		operator = bearer(await tokens.sign(ADA));
		member = bearer(await tokens.sign(BOB));
	});
	after(() => toy.server.close());

	const code = async (
		body: unknown,
		headers: Readonly<Record<string, string>> = {},
	): Promise<string | null> => {
		const { errors } = (await (await toy.post(body, headers)).json()) as {
			errors?: [{ extensions: { code: string } }];
		};
		return errors?.[0].extensions.code ?? null;
	};

	it("is one by id or by a claim: a text, a list or space-separated words", async () => {
		assert.equal(await code(INTROSPECTION, operator), null);
		for (const roles of ["operator", ["x", "operator"], "x operator y"]) {
			const token = await claiming({ roles });
			assert.equal(await code(INTROSPECTION, bearer(token)), null);
		}
		for (const claims of [
			{},
			{ roles: "operators" },
			{ roles: ["x operator"] },
			{ roles: { operator: true } },
			{ scope: "operator" },
			{ __proto__: { roles: "operator" } },
		]) {
			const token = await claiming(claims);
			assert.equal(
				await code(INTROSPECTION, bearer(token)),
				"GRAPHQL_VALIDATION_FAILED",
				JSON.stringify(claims),
			);
		}
	});

	it("is none by a claim that another key signed", async () => {
		const forged = await claiming(
			{ roles: "operator" },
			new Uint8Array(32).fill(8),
		);
		assert.equal(await code(INTROSPECTION, bearer(forged)), "UNAUTHENTICATED");
	});

	it("may use introspection, before and after it is rejected for others", async () => {
		for (let round = 0; round < 2; round++) {
			for (const headers of [{}, member]) {
				assert.equal(
					await code(INTROSPECTION, headers),
					"GRAPHQL_VALIDATION_FAILED",
				);
			}
			assert.equal(await code(INTROSPECTION, operator), null);
		}
	});

	it("gets suggestions for a misspelled name, and nobody else does", async () => {
		const message = async (
			headers: Readonly<Record<string, string>>,
		): Promise<string> => {
			const response = await toy.post({ query: "{ helo }" }, headers);
			const { errors } = (await response.json()) as {
				errors: [{ message: string }];
			};
			return errors[0].message;
		};
		assert.match(await message(operator), /Did you mean "hello"\?/);
		assert.doesNotMatch(await message(member), /Did you mean/);
		assert.doesNotMatch(await message({}), /Did you mean/);
	});

	it("may use explain, and nobody else may", async () => {
		explained.length = 0;
		for (const who of [operator, member, {}]) {
			const response = await toy.post(
				{ query: "{ hello }" },
				{ ...who, "corkboard-explain": "1" },
			);
			assert.deepEqual(await response.json(), { data: { hello: "you" } });
		}
		assert.deepEqual(explained, [true, false, false]);
	});
});

describe("in strict mode", () => {
	const text = "{ hello }";
	const sha256 = createHash("sha256").update(text).digest("hex");
	const log = { warn: () => {} };

	it("an operator may run any document, and that registers it for nobody else", async () => {
		await using toy = await startToy({
			mode: "production",
			operators: { ids: new Set([ADA]), claims: [] },
			documents: createDocuments({
				mode: "strict",
				files: null,
				shared: null,
				log,
			}),
			operatorDocuments: createDocuments({
				mode: "off",
				files: null,
				shared: null,
				log,
			}),
		});
		const operator = bearer(await tokens.sign(ADA));
		const apq = {
			extensions: { persistedQuery: { version: 1, sha256Hash: sha256 } },
		};
		const data = { data: { hello: "Hello you" } };
		const answer = async (
			body: unknown,
			headers: Readonly<Record<string, string>> = {},
		) => (await toy.post(body, headers)).json();

		assert.match(
			JSON.stringify(await answer({ query: text })),
			/runs only registered documents/,
		);
		assert.deepEqual(await answer({ query: text }, operator), data);
		assert.deepEqual(await answer({ query: text, ...apq }, operator), data);
		assert.deepEqual(await answer(apq, operator), data);
		for (const body of [apq, { documentId: `sha256:${sha256}` }]) {
			assert.match(
				JSON.stringify(await answer(body)),
				/PERSISTED_QUERY_NOT_FOUND/,
			);
		}
	});
});

describe("GraphiQL for operators", () => {
	let toy: Toy;
	before(async () => {
		toy = await startToy({
			mode: "production",
			graphiql: "operators",
			isUser: async (id) => [ADA, BOB].includes(id),
			operators: { ids: new Set([ADA]), claims: [] },
		});
	});
	after(() => toy.server.close());

	const visit = (headers: Readonly<Record<string, string>> = {}) =>
		fetch(`${toy.server.url}/graphql`, {
			headers: { accept: "text/html", ...headers },
		});
	const signIn = (token: string, headers = {}) =>
		fetch(`${toy.server.url}/graphiql/sign-in`, {
			method: "POST",
			redirect: "manual",
			headers,
			body: new URLSearchParams({ token }),
		});

	it("keeps a link to an operation through the sign-in, and nothing else of an address", async () => {
		const search = "?query=%7Bviewer%7D&variables=%7B%7D";
		const form = await fetch(`${toy.server.url}/graphql${search}`, {
			headers: { accept: "text/html" },
		});
		assert.match(
			await form.text(),
			/<input name="search" type="hidden" value="\?query=%7Bviewer%7D&#38;variables=%7B%7D">/,
		);
		const token = await tokens.sign(ADA);
		for (const [sent, kept] of [
			[search, search],
			["//elsewhere.example", ""],
			["?a\r\nset-cookie: b=c", ""],
		]) {
			const signedIn = await fetch(`${toy.server.url}/graphiql/sign-in`, {
				method: "POST",
				redirect: "manual",
				body: new URLSearchParams({ token, search: sent ?? "" }),
			});
			assert.equal(signedIn.headers.get("location"), `/graphql${kept}`);
		}
		const hostile = await fetch(`${toy.server.url}/graphql?"><script>`, {
			headers: { accept: "text/html" },
		});
		assert.doesNotMatch(await hostile.text(), /<script/);
	});

	it("asks visitors for a token, on a page without scripts and resources", async () => {
		const response = await visit();
		assert.equal(response.status, 401);
		assert.equal(response.headers.get("www-authenticate"), "Bearer");
		assert.equal(response.headers.get("cache-control"), "no-store");
		assert.equal(
			response.headers.get("content-security-policy"),
			"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
		);
		const html = await response.text();
		assert.match(html, /<form method="post" action="\/graphiql\/sign-in">/);
		assert.doesNotMatch(html, /<script|src=|href=/);
	});

	it("admits an operator by an HttpOnly, SameSite=Strict cookie", async () => {
		const token = await tokens.sign(ADA);
		const response = await signIn(token);
		assert.equal(response.status, 303);
		assert.equal(response.headers.get("location"), "/graphql");
		const cookie = response.headers.get("set-cookie") ?? "";
		assert.equal(
			cookie,
			`corkboard_operator=${token}; Path=/graphql; HttpOnly; SameSite=Strict`,
		);
		const page = await visit({ cookie: `a=b; corkboard_operator=${token}` });
		assert.equal(page.status, 200);
		assert.equal(page.headers.get("cache-control"), "no-store");
		const html = await page.text();
		assert.ok(html.includes(`"operator":{"token":"${token}"}`));
		assert.match(html, /"explain":true/);
	});

	it("marks the cookie Secure over TLS", async () => {
		await using proxied = await startToy({
			graphiql: "operators",
			trustProxy: true,
			operators: { ids: new Set([ADA]), claims: [] },
		});
		const response = await fetch(`${proxied.server.url}/graphiql/sign-in`, {
			method: "POST",
			redirect: "manual",
			headers: { "x-forwarded-proto": "https" },
			body: new URLSearchParams({ token: await tokens.sign(ADA) }),
		});
		assert.match(response.headers.get("set-cookie") ?? "", /; Secure$/);
	});

	it("says why it rejects another token, and sets no cookie", async () => {
		const wrong: Readonly<Record<string, string>> = {
			[await tokens.sign(BOB)]: "This token is not an operator&#39;s.",
			[await createAccessTokens([SECRET], -60).sign(ADA)]:
				"The token has expired.",
			[await createAccessTokens([new Uint8Array(32).fill(8)], 60).sign(ADA)]:
				"The token is not valid.",
			"": "A token has three parts, with dots between them.",
			"a.b.c; Path=/\r\nset-cookie: x=y":
				"A token has three parts, with dots between them.",
			'<img src="x">': "A token has three parts, with dots between them.",
		};
		for (const [token, words] of Object.entries(wrong)) {
			const response = await signIn(token);
			assert.equal(response.status, 401);
			assert.equal(response.headers.get("set-cookie"), null);
			const html = await response.text();
			assert.ok(html.includes(`<p role="alert">${words}</p>`), html);
			assert.doesNotMatch(html, /<img/);
			const page = await visit({
				cookie: `corkboard_operator=${token.split("\r")[0]}`,
			});
			assert.equal(page.status, 401);
		}
	});

	it("ends when the operator signs out", async () => {
		const response = await fetch(`${toy.server.url}/graphiql/sign-out`, {
			method: "POST",
			redirect: "manual",
		});
		assert.equal(response.status, 303);
		assert.equal(
			response.headers.get("set-cookie"),
			"corkboard_operator=; Path=/graphql; HttpOnly; SameSite=Strict; Max-Age=0",
		);
	});

	it("does not open the API: its cookie authenticates nobody there", async () => {
		const cookie = `corkboard_operator=${await tokens.sign(ADA)}`;
		const response = await toy.post({ query: "{ viewer }" }, { cookie });
		assert.deepEqual(await response.json(), { data: { viewer: null } });
		const other = await toy.post(INTROSPECTION, { cookie });
		assert.match(await other.text(), /GRAPHQL_VALIDATION_FAILED/);
	});

	it("accepts forms only for signing in, and only small ones", async () => {
		const api = await fetch(`${toy.server.url}/graphql`, {
			method: "POST",
			body: new URLSearchParams({ query: "{ hello }" }),
		});
		assert.equal(api.status, 415);
		assert.equal((await signIn("a".repeat(20_000))).status, 413);
		const get = await fetch(`${toy.server.url}/graphiql/sign-in`);
		assert.equal(get.status, 405);
		await using open = await startToy({ graphiql: "everyone" });
		const none = await fetch(`${open.server.url}/graphiql/sign-in`, {
			method: "POST",
			body: new URLSearchParams({ token: "x" }),
		});
		assert.equal(none.status, 404);
	});
});
