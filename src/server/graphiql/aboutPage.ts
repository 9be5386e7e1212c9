import type { PageHandler } from "./registerPage.ts";

const POLICY =
	"default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** For a browser, where nobody gets an editor: says what this address is. */
export const sendAboutPage: PageHandler = async (_request, reply) =>
	reply
		.header("content-security-policy", POLICY)
		.header("referrer-policy", "no-referrer")
		.type("text/html; charset=utf-8")
		.send(PAGE);

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corkboard: a GraphQL API</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark }
body { align-items: center; background: light-dark(#f6f3ef, #212a3b); color: light-dark(#3b4b68, #b7c2d7); display: flex; font: 15px/1.5 system-ui, sans-serif; justify-content: center; margin: 0; min-height: 100vh }
main { background: light-dark(#fff, #2a3448); border-radius: 10px; box-shadow: 0 2px 18px #0002; box-sizing: border-box; margin: 20px; max-width: 34rem; padding: 28px 32px; width: 100% }
h1 { color: light-dark(#a8561d, #e5a063); font-size: 19px; font-weight: 600; margin: 0 0 6px }
p { margin: 0 0 12px }
pre { background: light-dark(#3b4b680d, #b7c2d712); border-radius: 6px; font: 13px/1.5 ui-monospace, monospace; margin: 0 0 12px; overflow-x: auto; padding: 10px 12px }
p:last-child { margin: 0 }
</style>
</head>
<body>
<main>
<h1>Corkboard</h1>
<p>This address is a GraphQL API. It is for programs, and it has no page for browsers on this server. Programs send it operations by POST, as JSON:</p>
<pre tabindex="0" aria-label="Example request">POST /graphql
Content-Type: application/json
Authorization: Bearer …

{"query": "{ viewer { id } }"}</pre>
<p>Ask the operators of this server for its schema and for a token.</p>
</main>
</body>
</html>
`;
