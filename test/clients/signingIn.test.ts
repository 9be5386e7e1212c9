import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import OidcProvider from "oidc-provider";
import * as oidc from "openid-client";
import { client } from "../helpers/client.ts";
import { serveHere } from "../helpers/demoServer.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/frontends/signing-in.md"), "utf8");
const API = "https://api.example.com";
const CALLBACK = "http://127.0.0.1/callback";
const BYE = "http://127.0.0.1/bye";

interface Session {
	readonly accessToken: string;
	readonly expiresAt: number;
	readonly refreshToken: string;
	readonly idToken: string;
}

interface Provider {
	readonly config: oidc.Configuration;
	readonly redirectUri: string;
	readonly api: string;
}

/** What the page's file exports. */
interface SignIn {
	beginSignIn(
		provider: Provider,
	): Promise<{ url: URL; attempt: { verifier: string; state: string } }>;
	finishSignIn(
		provider: Provider,
		url: URL,
		attempt: { verifier: string; state: string },
	): Promise<Session>;
	freshSession(
		provider: Provider,
		session: Session,
		now?: number,
	): Promise<Session>;
	signOut(provider: Provider, session: Session, backTo: string): Promise<URL>;
}

/** The file of the page, as a reader has it: in a folder beside the packages. */
async function fileOfPage(folder: string): Promise<SignIn> {
	const [, code = ""] =
		/^## lib\/signIn\.ts$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(PAGE) ?? [];
	mkdirSync(join(folder, "lib"));
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
	const file = join(folder, "lib/signIn.ts");
	writeFileSync(file, code);
	return (await import(pathToFileURL(file).href)) as SignIn;
}

/** An OpenID Connect server, with its own pages to sign in. */
async function startProvider() {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const provider = new OidcProvider(issuer, {
		clients: [
			{
				client_id: "web",
				client_secret: "of the tests",
				redirect_uris: [CALLBACK],
				post_logout_redirect_uris: [BYE],
				grant_types: ["authorization_code", "refresh_token"],
			},
		],
		cookies: { keys: ["of the tests"] },
		findAccount: (_context, sub) => ({
			accountId: sub,
			claims: () => ({ sub }),
		}),
		rotateRefreshToken: true,
		features: {
			revocation: { enabled: true },
			resourceIndicators: {
				enabled: true,
				useGrantedResource: () => true,
				getResourceServerInfo: () => ({
					scope: "",
					audience: API,
					accessTokenTTL: 300,
					accessTokenFormat: "jwt",
				}),
			},
		},
	});
	server.on("request", provider.callback());
	return {
		issuer,
		[Symbol.asyncDispose]: async () => {
			server.closeAllConnections();
			server.close();
		},
	};
}

/** A browser that signs in as somebody, and consents. Returns where it is sent back to. */
async function visit(from: URL, login: string): Promise<URL> {
	const cookies = new Map<string, string>();
	let url = from;
	let form: URLSearchParams | null = null;
	for (let step = 0; step < 12; step++) {
		const response: Response = await fetch(url, {
			redirect: "manual",
			headers: {
				cookie: [...cookies].map((pair) => pair.join("=")).join("; "),
			},
			...(form && { method: "POST", body: form }),
		});
		for (const cookie of response.headers.getSetCookie()) {
			const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
			cookies.set(name, value);
		}
		form = null;
		const location = response.headers.get("location");
		if (location !== null) {
			url = new URL(location, url);
			if (url.href.startsWith(CALLBACK)) return url;
			continue;
		}
		const html = await response.text();
		const [, prompt] = /name="prompt" value="(\w+)"/.exec(html) ?? [];
		const [, action] = /action="([^"]+)"/.exec(html) ?? [];
		assert.ok(prompt && action, html);
		url = new URL(action, url);
		form = new URLSearchParams(
			prompt === "login" ? { prompt, login, password: "any" } : { prompt },
		);
	}
	throw new Error(`expected to be sent back, got ${url}`);
}

describe("docs/frontends/signing-in.md, with a real OpenID Connect server", () => {
	it("signs in, renews once for requests at the same time, signs out, and says what stays good", async () => {
		using folder = temporaryFolder();
		using data = temporaryFolder();
		const signIn = await fileOfPage(folder.path);
		await using issuer = await startProvider();
		const env = {
			CORKBOARD_DATA: data.path,
			CORKBOARD_JWKS: `${issuer.issuer}/jwks`,
			CORKBOARD_ISSUER: issuer.issuer,
			CORKBOARD_AUDIENCE: API,
		};
		const people = join(folder.path, "people.ndjson");
		writeFileSync(
			people,
			`${["ada", "ben"].map((key) => JSON.stringify({ type: "User", key, fields: { username: key } })).join("\n")}\n`,
		);
		const imported = await runHere(["import", people], { env });
		assert.equal(imported.code, 0, imported.err);
		const linked = await runHere(
			["accounts", "link", "ada", "ada of the provider"],
			{ env },
		);
		assert.equal(linked.code, 0, linked.err);
		await using server = await serveHere(env);

		const config = await oidc.discovery(
			new URL(issuer.issuer),
			"web",
			"of the tests",
			undefined,
			{ execute: [oidc.allowInsecureRequests] },
		);
		const provider = { config, redirectUri: CALLBACK, api: API };
		const signedIn = async (login: string) => {
			const { url, attempt } = await signIn.beginSignIn(provider);
			return signIn.finishSignIn(provider, await visit(url, login), attempt);
		};
		const viewerOf = async ({ accessToken }: Session) => {
			const answer = await client(server.url, accessToken).post(
				"{ viewer { id username } }",
			);
			return [
				answer.status,
				JSON.stringify(answer.data ?? answer.errors),
			] as const;
		};

		const session = await signedIn("ada of the provider");
		const [status, viewer] = await viewerOf(session);
		assert.equal(status, 200);
		assert.match(viewer, /"username":"ada"/);

		// An account that nobody is linked to, and the ID token in place of the access token.
		const stranger = await viewerOf(await signedIn("somebody new"));
		assert.equal(stranger[0], 401);
		assert.match(stranger[1], /The token names no active user\./);
		assert.equal(
			(await viewerOf({ ...session, accessToken: session.idToken }))[0],
			401,
		);
		// The answer to another attempt.
		const { url } = await signIn.beginSignIn(provider);
		const { attempt } = await signIn.beginSignIn(provider);
		await assert.rejects(
			signIn.finishSignIn(
				provider,
				await visit(url, "ada of the provider"),
				attempt,
			),
		);

		assert.equal(await signIn.freshSession(provider, session), session);
		const late = session.expiresAt - 30_000;
		const [renewed, same] = await Promise.all([
			signIn.freshSession(provider, session, late),
			signIn.freshSession(provider, session, late),
		]);
		assert.equal(renewed, same);
		assert.notEqual(renewed.accessToken, session.accessToken);
		assert.equal((await viewerOf(renewed))[0], 200);

		const bye = await signIn.signOut(provider, renewed, BYE);
		assert.equal(bye.searchParams.get("post_logout_redirect_uri"), BYE);
		assert.equal((await fetch(bye)).status, 200);
		await assert.rejects(
			signIn.freshSession(provider, renewed, renewed.expiresAt),
		);
		assert.equal((await viewerOf(renewed))[0], 200, "good until it expires");

		const { id } = (JSON.parse(viewer) as { viewer: { id: string } }).viewer;
		await client(server.url, renewed.accessToken).data(
			`mutation { deactivateUser(input: {userId: "${id}"}) { deactivatedUserId } }`,
		);
		assert.equal((await viewerOf(renewed))[0], 401, "closed at once");
	});

	it("names the packages that are tried here", () => {
		const { devDependencies } = JSON.parse(
			readFileSync(join(ROOT, "package.json"), "utf8"),
		) as { readonly devDependencies: Readonly<Record<string, string>> };
		const version = (name: string) => devDependencies[name];
		assert.ok(PAGE.includes(`openid-client@${version("openid-client")}`));
		assert.ok(PAGE.includes(`) ${version("oidc-provider")},`));
	});
});
