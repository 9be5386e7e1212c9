import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { asClientError } from "../../errors.ts";
import type { Identity } from "../auth/identity.ts";
import type { PageHandler } from "./registerPage.ts";

export const SIGN_IN_PATH = "/graphiql/sign-in";
export const SIGN_OUT_PATH = "/graphiql/sign-out";

/**
 * A browser that opens a URL sends no Authorization header, so an operator
 * enters a token once and the browser returns it as a cookie. Only the page
 * reads the cookie, and sends its token as a header. The API ignores cookies, so
 * that no other site can send requests in an operator's name.
 */
const COOKIE = "corkboard_operator";

/** Twice the size of a token with many claims. */
const FORM_BYTES = 16_384;

/** RFC 7515 §7.1. A token that matches may be put into a header. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What an address may have after its path. It is not decoded, so it can end no header. */
const SEARCH = /^\?[\x21-\x7e]*$/;

const FORM_POLICY =
	"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** Returns what sends the page to operators, and a form that asks for an operator's token to others. */
export async function registerSignIn(
	app: FastifyInstance,
	identify: (authorization: string) => Promise<Identity>,
	show: (reply: FastifyReply, token: string) => Promise<FastifyReply>,
): Promise<PageHandler> {
	/** Why a token does not open the page; null for an operator's. */
	async function problemOf(token: string): Promise<string | null> {
		try {
			const { isOperator } = await identify(`Bearer ${token}`);
			return isOperator ? null : "This token is not an operator's.";
		} catch (thrown) {
			const error = asClientError(thrown);
			if (error.code === "INTERNAL") throw thrown;
			return error.message;
		}
	}

	await app.register(async (forms) => {
		forms.addContentTypeParser(
			"application/x-www-form-urlencoded",
			{ parseAs: "string", bodyLimit: FORM_BYTES },
			(_request, body, done) => done(null, new URLSearchParams(String(body))),
		);
		forms.post(SIGN_IN_PATH, async ({ body, protocol }, reply) => {
			const fields = body instanceof URLSearchParams ? body : null;
			const token = (fields?.get("token") ?? "").trim();
			const search = searchIn(fields?.get("search") ?? "");
			const problem = TOKEN.test(token)
				? await problemOf(token)
				: "A token has three parts, with dots between them.";
			if (problem !== null) return sendForm(reply, problem, search);
			return reply
				.header("set-cookie", cookie(token, protocol === "https"))
				.redirect(`/graphql${search}`, 303);
		});
		forms.post(SIGN_OUT_PATH, async ({ protocol }, reply) =>
			reply
				.header("set-cookie", `${cookie("", protocol === "https")}; Max-Age=0`)
				.redirect("/graphql", 303),
		);
	});

	return async (request, reply) => {
		const token = tokenOf(request);
		const search = searchIn(request.url.slice(request.url.indexOf("?")));
		if (token === null) return sendForm(reply, null, search);
		const problem = await problemOf(token);
		return problem === null
			? show(reply, token)
			: sendForm(reply, problem, search);
	};
}

/** A link to an operation survives the sign-in. Anything else that was sent is dropped. */
function searchIn(text: string): string {
	return SEARCH.test(text) ? text : "";
}

function tokenOf({ headers }: FastifyRequest): string | null {
	for (const pair of headers.cookie?.split(";") ?? []) {
		const [name, value = ""] = pair.split("=", 2);
		if (name?.trim() === COOKIE && TOKEN.test(value)) return value;
	}
	return null;
}

/** A session cookie; the token expires by itself. */
function cookie(token: string, isSecure: boolean): string {
	return `${COOKIE}=${token}; Path=/graphql; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

function sendForm(
	reply: FastifyReply,
	problem: string | null,
	search: string,
): FastifyReply {
	return reply
		.code(401)
		.header("www-authenticate", "Bearer")
		.header("content-security-policy", FORM_POLICY)
		.header("referrer-policy", "no-referrer")
		.type("text/html; charset=utf-8")
		.send(form(problem, search));
}

function form(problem: string | null, search: string): string {
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corkboard: sign in</title>
<style>
:root { color-scheme: light dark }
body { align-items: center; background: light-dark(#f6f3ef, #212a3b); color: light-dark(#3b4b68, #b7c2d7); display: flex; font: 15px/1.5 system-ui, sans-serif; justify-content: center; margin: 0; min-height: 100vh }
main { background: light-dark(#fff, #2a3448); border-radius: 10px; box-shadow: 0 2px 18px #0002; box-sizing: border-box; margin: 20px; max-width: 30rem; padding: 28px 32px; width: 100% }
h1 { color: light-dark(#a8561d, #e5a063); font-size: 19px; font-weight: 600; margin: 0 0 6px }
p { margin: 0 0 16px }
label { display: block; font-weight: 600; margin-bottom: 4px }
input { background: transparent; border: 1px solid light-dark(#3b4b6860, #b7c2d760); border-radius: 6px; box-sizing: border-box; color: inherit; font: 13px ui-monospace, monospace; padding: 9px 10px; width: 100% }
button { background: light-dark(#a8561d, #e5a063); border: 0; border-radius: 6px; color: light-dark(#fff, #212a3b); cursor: pointer; font: inherit; font-weight: 600; margin-top: 16px; padding: 8px 18px }
[role=alert] { color: light-dark(#b3261e, #ff8a80); margin: 8px 0 0 }
</style>
</head>
<body>
<main>
<h1>Corkboard</h1>
<p>On this server, GraphiQL is for operators. The API has this same address: send it queries by POST.</p>
<form method="post" action="${SIGN_IN_PATH}">
<label for="token">An operator's token</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus>
${search === "" ? "" : `<input name="search" type="hidden" value="${escaped(search)}">`}
${problem === null ? "" : `<p role="alert">${escaped(problem)}</p>`}
<button>Sign in</button>
</form>
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
	return text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
