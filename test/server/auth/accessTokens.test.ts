import assert from "node:assert/strict";
import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import {
	base64url,
	type CryptoKey,
	exportJWK,
	exportSPKI,
	generateKeyPair,
	type JWK,
	SignJWT,
} from "jose";
import { listen } from "../../../src/diagnostics.ts";
import { CorkboardError } from "../../../src/errors.ts";
import type { Id } from "../../../src/id/ids.ts";
import {
	type AccessTokens,
	createAccessTokens,
	createJwksAccessTokens,
} from "../../../src/server/auth/accessTokens.ts";
import { identify } from "../../../src/server/auth/identity.ts";
import {
	SERVER_CHANNELS,
	type TokenProblem,
} from "../../../src/server/diagnostics.ts";
import { BoundedMap } from "../../../src/util/boundedMap.ts";
import { ADA, GONE } from "../../helpers/toyServer.ts";

const CLAIMS = {
	issuer: "https://id.example.com",
	audience: "corkboard",
	subject: "sub",
};
const now = () => Math.floor(Date.now() / 1_000);

interface Pair {
	readonly kid: string;
	readonly alg: string;
	readonly privateKey: CryptoKey;
	readonly publicKey: CryptoKey;
}

async function pairOf(alg: string, kid: string): Promise<Pair> {
	return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

/** Somebody else who signs tokens. */
const DAY_MS = 86_400_000;

async function problemsDuring(
	body: () => Promise<void>,
): Promise<readonly TokenProblem[]> {
	const problems: TokenProblem[] = [];
	using _ = listen(SERVER_CHANNELS.token, (problem) => {
		problems.push(problem);
	});
	await body();
	return problems;
}

async function startIssuer(pairs: readonly Pair[]) {
	const jwkOf = async ({ publicKey, kid, alg }: Pair): Promise<JWK> => ({
		...(await exportJWK(publicKey)),
		kid,
		alg,
		use: "sig",
	});
	let keys = await Promise.all(pairs.map(jwkOf));
	const state = { asked: 0, status: 200 };
	const server = createServer((_request, response) => {
		state.asked++;
		response.writeHead(state.status, { "content-type": "application/json" });
		response.end(JSON.stringify({ keys }));
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/keys`,
		state,
		async rotate(next: readonly Pair[]) {
			keys = await Promise.all(next.map(jwkOf));
		},
		publish(next: readonly JWK[]) {
			keys = [...next];
		},
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
}

function signed(
	{
		alg,
		kid,
		privateKey,
	}: Omit<Pair, "kid"> & { readonly kid?: string | undefined },
	claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
	return new SignJWT({
		sub: ADA,
		iss: CLAIMS.issuer,
		aud: CLAIMS.audience,
		exp: now() + 60,
		...claims,
	})
		.setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
		.sign(privateKey);
}

function isCode(code: string, message?: RegExp) {
	return (error: unknown) => {
		assert.ok(error instanceof CorkboardError, String(error));
		assert.equal(error.code, code);
		if (message) assert.match(error.message, message);
		return true;
	};
}

describe("tokens of another service", () => {
	let pairs: Record<"rsa" | "ec" | "ed", Pair>;
	let issuer: Awaited<ReturnType<typeof startIssuer>>;
	let tokens: AccessTokens;

	before(async () => {
		pairs = {
			rsa: await pairOf("RS256", "rsa"),
			ec: await pairOf("ES256", "ec"),
			ed: await pairOf("EdDSA", "ed"),
		};
		issuer = await startIssuer(Object.values(pairs));
		tokens = createJwksAccessTokens(
			{ url: issuer.url, maxAgeMs: DAY_MS },
			CLAIMS,
		);
	});
	after(() => issuer[Symbol.asyncDispose]());

	it("may be RS256, ES256 and EdDSA, and the keys are fetched once", async () => {
		for (const pair of Object.values(pairs)) {
			assert.equal((await tokens.verify(await signed(pair))).subject, ADA);
		}
		assert.equal(issuer.state.asked, 1);
	});

	it("are rejected if expired, forged, unsigned, for another audience or issuer", async () => {
		const { rsa } = pairs;
		const stranger = await pairOf("RS256", "rsa");
		const pem = new TextEncoder().encode(await exportSPKI(rsa.publicKey));
		const jwk = new TextEncoder().encode(
			JSON.stringify(await exportJWK(rsa.publicKey)),
		);
		const withPublicKey = (secret: Uint8Array) =>
			new SignJWT({ sub: ADA, iss: CLAIMS.issuer, aud: CLAIMS.audience })
				.setProtectedHeader({ alg: "HS256", kid: "rsa" })
				.setExpirationTime(now() + 60)
				.sign(secret);
		const good = await signed(rsa);
		const [, payload = "", signature = ""] = good.split(".");
		const none = base64url.encode(JSON.stringify({ alg: "none" }));
		const other = base64url.encode(
			JSON.stringify({ sub: GONE, exp: now() + 60 }),
		);
		const wrong: Record<string, string> = {
			expired: await signed(rsa, { exp: now() - 31 }),
			"without an end": await signed(rsa, { exp: undefined }),
			"not yet valid": await signed(rsa, { nbf: now() + 60 }),
			"for somebody else": await signed(rsa, { aud: "another" }),
			"for nobody in particular": await signed(rsa, { aud: undefined }),
			"of another issuer": await signed(rsa, { iss: "https://example.net" }),
			"signed by a stranger under a known name": await signed({
				...stranger,
				kid: "rsa",
			}),
			"signed with the public key as a secret, PEM": await withPublicKey(pem),
			"signed with the public key as a secret, JWK": await withPublicKey(jwk),
			"alg none": `${none}.${payload}.`,
			"alg none with a signature": `${none}.${payload}.${signature}`,
			forged: `${good.split(".")[0]}.${other}.${signature}`,
			"without a subject": await signed(rsa, { sub: undefined }),
			nonsense: "x.y.z",
		};
		for (const [what, token] of Object.entries(wrong)) {
			await assert.rejects(
				async () => tokens.verify(token),
				isCode("UNAUTHENTICATED"),
				what,
			);
		}
	});

	it("are accepted within the allowed clock difference", async () => {
		const late = await signed(pairs.ec, { exp: now() - 20 });
		assert.equal((await tokens.verify(late)).subject, ADA);
	});

	it("may be for several audiences, and issued a while ahead", async () => {
		const several = await signed(pairs.rsa, {
			aud: ["another", CLAIMS.audience],
			iat: now() + 300,
		});
		assert.equal((await tokens.verify(several)).subject, ADA);
	});

	it("fetch the keys again for an unknown key, but not repeatedly", async () => {
		await using rotating = await startIssuer([pairs.rsa]);
		const verifier = createJwksAccessTokens(
			{ url: rotating.url, maxAgeMs: DAY_MS },
			CLAIMS,
		);
		await verifier.verify(await signed(pairs.rsa));
		assert.equal(rotating.state.asked, 1);
		await rotating.rotate([pairs.ec]);
		// Too soon after the first: or anybody could make us ask by naming keys.
		await assert.rejects(
			async () => verifier.verify(await signed(pairs.ec)),
			isCode("UNAUTHENTICATED"),
		);
		assert.equal(rotating.state.asked, 1);
		const later = createJwksAccessTokens(
			{ url: rotating.url, maxAgeMs: DAY_MS },
			CLAIMS,
		);
		assert.equal((await later.verify(await signed(pairs.ec))).subject, ADA);
	});

	it("are checked against keys of the last ten minutes", async (t) => {
		t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
		await using issuer = await startIssuer([pairs.rsa]);
		const verifier = createJwksAccessTokens(
			{ url: issuer.url, maxAgeMs: DAY_MS },
			CLAIMS,
		);
		const another = async (jti: string) =>
			verifier.verify(await signed(pairs.rsa, { jti }));
		await another("first");
		t.mock.timers.tick(600_000 - 1);
		await another("second");
		assert.equal(issuer.state.asked, 1);
		t.mock.timers.tick(1);
		await another("third");
		assert.equal(issuer.state.asked, 2);
		// A key that was withdrawn is gone then.
		await issuer.rotate([pairs.ec]);
		t.mock.timers.tick(600_000);
		await assert.rejects(another("fourth"), isCode("UNAUTHENTICATED"));
	});

	it("are checked against known keys while their issuer is away, for as long as the setting says", async (t) => {
		t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
		await using issuer = await startIssuer([pairs.rsa]);
		const verifier = createJwksAccessTokens(
			{ url: issuer.url, maxAgeMs: 3_600_000 },
			CLAIMS,
		);
		const another = async (jti: string) =>
			verifier.verify(await signed(pairs.rsa, { jti }));
		await another("first");
		issuer.state.status = 500;
		t.mock.timers.tick(600_000);
		const problems = await problemsDuring(async () => {
			assert.equal((await another("second")).subject, ADA);
			// It is not asked for each token.
			assert.equal((await another("third")).subject, ADA);
		});
		assert.equal(issuer.state.asked, 2);
		assert.deepEqual(
			problems.map(({ kind }) => kind),
			["keysKept"],
		);
		// Whether a token of a key that is not known is good, nobody can say.
		await assert.rejects(
			async () => verifier.verify(await signed(pairs.ec)),
			isCode("UNAVAILABLE"),
		);
		t.mock.timers.tick(3_000_000);
		await assert.rejects(another("fourth"), isCode("UNAVAILABLE"));
		issuer.state.status = 200;
		assert.equal((await another("fifth")).subject, ADA);
	});

	it("are refused with a reason for the log, which has nothing of the token", async () => {
		const away = await startIssuer([]);
		await away[Symbol.asyncDispose]();
		const nowhere = createJwksAccessTokens(
			{ url: away.url, maxAgeMs: DAY_MS },
			CLAIMS,
		);
		const wrong = await signed(pairs.rsa, { aud: "another" });
		const problems = await problemsDuring(async () => {
			for (const verifier of [tokens, nowhere]) {
				await assert.rejects(async () => verifier.verify(wrong));
			}
		});
		assert.deepEqual(
			problems.map(({ kind, code }) => `${kind} ${code}`),
			["refused ERR_JWT_CLAIM_VALIDATION_FAILED", "keysUnknown ECONNREFUSED"],
		);
		const text = JSON.stringify(problems);
		assert.match(text, /\\"aud\\"/);
		for (const part of [...wrong.split("."), "another"]) {
			assert.equal(text.includes(part), false);
		}
	});

	it("are rejected where several keys fit: keys without a kid, or under one kid", async () => {
		await using issuer = await startIssuer([]);
		const [one, two] = [
			await pairOf("ES256", "one"),
			await pairOf("ES256", "two"),
		];
		const verify = (keys: readonly JWK[], token: string) => {
			issuer.publish(keys);
			return createJwksAccessTokens(
				{ url: issuer.url, maxAgeMs: DAY_MS },
				CLAIMS,
			).verify(token);
		};
		const [first, second] = [
			await exportJWK(one.publicKey),
			await exportJWK(two.publicKey),
		];
		const named = await signed(one);
		const unnamed = await signed({ ...one, kid: undefined });
		const sets: readonly (readonly [readonly JWK[], string])[] = [
			[[first, second], named],
			[[first, second], unnamed],
			[
				[
					{ ...first, kid: "one" },
					{ ...second, kid: "one" },
				],
				named,
			],
		];
		for (const [keys, token] of sets) {
			await assert.rejects(
				async () => verify(keys, token),
				isCode("UNAUTHENTICATED"),
			);
		}
		// One alone fits, and needs no name.
		assert.equal((await verify([first], unnamed)).subject, ADA);
		const encrypts = { ...second, use: "enc" };
		assert.equal((await verify([first, encrypts], unnamed)).subject, ADA);
	});

	it("are rejected for good where their key is unusable", async () => {
		await using issuer = await startIssuer([]);
		const short = generateKeyPairSync("rsa", { modulusLength: 1_024 });
		const ec = await exportJWK(pairs.ec.publicKey);
		issuer.publish([
			{
				...short.publicKey.export({ format: "jwk" }),
				kid: "short",
				alg: "RS256",
			},
			{ ...ec, x: ec.y ?? "", kid: "nowhere", alg: "ES256" },
		]);
		const verifier = createJwksAccessTokens(
			{ url: issuer.url, maxAgeMs: DAY_MS },
			CLAIMS,
		);
		const [, payload = ""] = (await signed(pairs.rsa)).split(".");
		const header = base64url.encode('{"alg":"RS256","kid":"short"}');
		const text = `${header}.${payload}`;
		const signature = sign("RSA-SHA256", Buffer.from(text), short.privateKey);
		for (const token of [
			`${text}.${base64url.encode(signature)}`,
			await signed({ ...pairs.ec, kid: "nowhere" }),
		]) {
			await assert.rejects(
				async () => verifier.verify(token),
				isCode("UNAUTHENTICATED", /is not valid/),
			);
		}
	});

	it("are UNAVAILABLE, not invalid, where the keys cannot be fetched", async () => {
		await using broken = await startIssuer([pairs.rsa]);
		broken.state.status = 500;
		const verifier = createJwksAccessTokens(
			{ url: broken.url, maxAgeMs: DAY_MS },
			CLAIMS,
		);
		const token = await signed(pairs.rsa);
		await assert.rejects(
			async () => verifier.verify(token),
			isCode("UNAVAILABLE"),
		);
		broken.state.status = 200;
		assert.equal((await verifier.verify(token)).subject, ADA);
		const nowhere = createJwksAccessTokens(
			{ url: "http://127.0.0.1:1/keys", maxAgeMs: DAY_MS },
			CLAIMS,
		);
		await assert.rejects(
			async () => nowhere.verify(token),
			isCode("UNAVAILABLE"),
		);
	});

	it("cannot be signed by this server", async () => {
		assert.equal(tokens.signs, false);
		await assert.rejects(tokens.sign(ADA), isCode("BAD_CONFIG"));
	});
});

describe("tokens that this server signs", () => {
	const secret = new Uint8Array(32).fill(9);

	it("carry issuer and audience where these are set, and require them", async () => {
		const ours = createAccessTokens([secret], 60, {
			...CLAIMS,
			subject: "user",
		});
		assert.equal((await ours.verify(await ours.sign(ADA))).subject, ADA);
		for (const claims of [
			{ ...CLAIMS, audience: "another" },
			{ ...CLAIMS, issuer: "another" },
			CLAIMS,
		]) {
			const token = await createAccessTokens([secret], 60, claims).sign(ADA);
			await assert.rejects(
				async () => ours.verify(token),
				isCode("UNAUTHENTICATED"),
			);
		}
	});

	it("are signed with the first of several secrets, and accepted with any", async () => {
		const next = new Uint8Array(32).fill(10);
		const former = createAccessTokens([secret], 60);
		const both = createAccessTokens([next, secret], 60);
		const current = createAccessTokens([next], 60);
		const old = await former.sign(ADA);
		assert.equal((await both.verify(old)).subject, ADA);
		assert.equal((await current.verify(await both.sign(ADA))).subject, ADA);
		for (const token of [old, `${old}A`]) {
			await assert.rejects(
				async () => current.verify(token),
				isCode("UNAUTHENTICATED"),
			);
		}
		const stranger = createAccessTokens([new Uint8Array(32).fill(11)], 60);
		await assert.rejects(
			async () => both.verify(await stranger.sign(ADA)),
			isCode("UNAUTHENTICATED", /^The token is not valid\.$/),
		);
		const expired = createAccessTokens([secret], -60);
		await assert.rejects(
			async () => both.verify(await expired.sign(ADA)),
			isCode("UNAUTHENTICATED", /expired/),
		);
	});

	it("are verified at once, without another thread", async () => {
		const ours = createAccessTokens([secret], 60);
		const verified = ours.verify(await ours.sign(ADA));
		assert.ok(!(verified instanceof Promise));
		assert.equal(verified.subject, ADA);
	});

	it("are rejected unless every part is as it was signed, by HS256", async () => {
		const ours = createAccessTokens([secret], 60);
		const good = await ours.sign(ADA);
		const [header = "", payload = "", signature = ""] = good.split(".");
		const partOf = (value: unknown) =>
			Buffer.from(JSON.stringify(value)).toString("base64url");
		const signed = (head: string, body: string, hash = "sha256") => {
			const mac = createHmac(hash, secret).update(`${head}.${body}`);
			return `${head}.${body}.${mac.digest("base64url")}`;
		};
		assert.equal(signed(header, payload), good);
		const exp = now() + 60;
		const bad = {
			empty: "",
			dots: "..",
			"no signature": `${header}.${payload}.`,
			"a part more": `${good}.${signature}`,
			"another letter": `${header}.${payload}.${signature.slice(1)}${signature[0]}`,
			"a padded signature": `${good}=`,
			"a signature as text": `${good}\n`,
			"another payload": `${header}.${partOf({ sub: "2", exp })}.${signature}`,
			unsecured: `${partOf({ alg: "none" })}.${payload}.`,
			"signed as unsecured": signed(partOf({ alg: "none" }), payload),
			"another algorithm": signed(partOf({ alg: "HS512" }), payload, "sha512"),
			"another name of it": signed(partOf({ alg: "hs256" }), payload),
			"a header that is no JSON": signed("e", payload),
			"a header that is a list": signed(partOf(["HS256"]), payload),
			"a critical header": signed(
				partOf({ alg: "HS256", crit: ["exp"], exp }),
				payload,
			),
			"a payload as it is": signed(
				partOf({ alg: "HS256", b64: false, crit: ["b64"] }),
				payload,
			),
			"a payload that is no JSON": signed(header, "e30x"),
			"a payload that is a list": signed(header, partOf([ADA])),
			"no end": signed(header, partOf({ sub: ADA })),
			"an end that is text": signed(
				header,
				partOf({ sub: ADA, exp: String(exp) }),
			),
			"not begun": signed(header, partOf({ sub: ADA, exp, nbf: exp })),
			"no subject": signed(header, partOf({ exp })),
			"a subject that is a number": signed(header, partOf({ sub: 1, exp })),
		};
		for (const [what, token] of Object.entries(bad)) {
			await assert.rejects(
				async () => ours.verify(token),
				isCode("UNAUTHENTICATED"),
				what,
			);
		}
		const plain = signed(header, partOf({ sub: ADA, exp }));
		assert.equal((await ours.verify(plain)).subject, ADA);
	});

	it("are verified once, and still expire", async (t) => {
		t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
		const ours = createAccessTokens([secret], 60);
		const token = await ours.sign(ADA);
		const first = await ours.verify(token);
		assert.equal(await ours.verify(token), first);
		t.mock.timers.tick(89_000);
		await ours.verify(token);
		t.mock.timers.tick(2_000);
		await assert.rejects(
			async () => ours.verify(token),
			isCode("UNAUTHENTICATED", /expired/),
		);
	});
});

describe("the cache of valid tokens", () => {
	const secret = new Uint8Array(32).fill(9);

	it("holds hashes, not tokens", async (t) => {
		const ours = createAccessTokens([secret], 60);
		const token = await ours.sign(ADA);
		const setting = t.mock.method(BoundedMap.prototype, "set");
		await ours.verify(token);
		assert.equal(setting.mock.callCount(), 1);
		const [key, ...kept] = setting.mock.calls[0]?.arguments ?? [];
		assert.equal(key, createHash("sha256").update(token).digest("base64"));
		assert.doesNotMatch(JSON.stringify(kept), new RegExp(token.slice(-20)));
	});

	it("holds at most 10,000 tokens", () => {
		const ours = createAccessTokens([secret], 60);
		const tokens = Array.from({ length: 10_001 }, (_, n) =>
			signedBy(secret, { sub: ADA, exp: now() + 600, jti: String(n) }),
		);
		const [first = "", second = ""] = tokens;
		const verified = tokens.map((token) => ours.verify(token));
		assert.equal(ours.verify(second), verified[1]);
		assert.notEqual(ours.verify(first), verified[0]);
	});
});

/** HS256, at a tenth of what jose takes. */
function signedBy(secret: Uint8Array, claims: object): string {
	const header = base64url.encode('{"alg":"HS256"}');
	const text = `${header}.${base64url.encode(JSON.stringify(claims))}`;
	return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

describe("the subject of a token", () => {
	const tokensOf = (subject: string) => ({
		verify: async () => ({ subject, isOperator: false }),
	});
	const users = {
		isUser: async (id: Id) => id === ADA,
		userOfAccount: async (account: string) =>
			account === "auth0|ada" || account === "10150000000000001"
				? ADA
				: account === "auth0|gone"
					? GONE
					: null,
	};

	it("is a user id, or the account of a user", async () => {
		for (const subject of [ADA, "auth0|ada", "10150000000000001"]) {
			assert.deepEqual(await identify("Bearer x", tokensOf(subject), users), {
				viewer: ADA,
				isOperator: false,
			});
		}
	});

	it("is rejected where it names no active user", async () => {
		for (const subject of [GONE, "auth0|gone", "auth0|eve", "007", ""]) {
			await assert.rejects(
				async () => identify("Bearer x", tokensOf(subject), users),
				isCode("UNAUTHENTICATED", /no active user/),
			);
		}
	});
});
