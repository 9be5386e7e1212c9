import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Identity } from "../auth/identity.ts";
import type { PageHandler } from "../graphql/registerGraphql.ts";
import { sendError } from "../http/httpApp.ts";
import { buildGraphiql, type GraphiqlAssets } from "./assets.ts";
import type { PageConfig, PageExample } from "./pageConfig.ts";
import { registerSignIn } from "./signIn.ts";

/** Who gets the page: operators have to show a token first. */
export type GraphiqlAccess = "everyone" | "operators" | "nobody";

export interface Demo {
	readonly token: string;
	readonly username: string;
	/** What there is to try, the first of them what the graph is like. */
	readonly examples: readonly PageExample[];
}

/** Nothing but our own files; styles and fonts also where GraphiQL and Monaco put them, inline. */
function contentSecurityPolicy(formAction: "'none'" | "'self'"): string {
	return [
		"default-src 'none'",
		"script-src 'self'",
		"worker-src 'self'",
		"connect-src 'self'",
		"style-src 'self' 'unsafe-inline'",
		"font-src 'self' data:",
		"img-src 'self' data:",
		`form-action ${formAction}`,
		"frame-ancestors 'none'",
		"base-uri 'none'",
	].join("; ");
}

/** As the bundler names them: no way out of their folder. */
const FILE = /^[\w-]+(?:\.\w+)+$/;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="5" width="26" height="24" rx="4" fill="#c08a52"/><path d="M9 13h14v11H9z" fill="#fff"/><circle cx="16" cy="12" r="4" fill="#d6293e"/></svg>`;

/**
 * Serve GraphiQL's files, and give what answers a browser with its page. The
 * files are made in the background, beginning now; if that fails, only the
 * page does, and its next visitor has it tried again.
 */
export async function registerGraphiql(
	app: FastifyInstance,
	options: {
		readonly to: Exclude<GraphiqlAccess, "nobody">;
		readonly demo?: Demo;
		readonly explain: boolean;
		readonly identify: (authorization: string) => Promise<Identity>;
	},
	make: () => Promise<GraphiqlAssets> = buildGraphiql,
): Promise<PageHandler> {
	const { demo = null, explain } = options;
	let pending: Promise<GraphiqlAssets> | undefined;
	const bundle = () => {
		pending ??= make().catch((error: unknown) => {
			pending = undefined;
			app.log.error({ err: error }, "GraphiQL could not be bundled");
			throw error;
		});
		return pending;
	};
	bundle().catch(() => {});

	await app.register(fastifyStatic, {
		root: import.meta.dirname,
		serve: false,
	});
	app.get<{ Params: { hash: string; file: string } }>(
		"/graphiql/:hash/:file",
		async (request, reply) => {
			const { hash, folder } = await bundle();
			const { file } = request.params;
			if (request.params.hash !== hash || !FILE.test(file)) {
				return reply.callNotFound();
			}
			// Workers obey the policy that comes with their own file.
			reply.header("content-security-policy", contentSecurityPolicy("'none'"));
			reply.removeHeader("cache-control");
			return reply.sendFile(file, folder, {
				maxAge: "365d",
				immutable: true,
			});
		},
	);

	async function send(
		reply: FastifyReply,
		config: PageConfig,
	): Promise<FastifyReply> {
		let made: GraphiqlAssets;
		try {
			made = await bundle();
		} catch {
			return sendError(reply, 503, "GraphiQL is not available at the moment.");
		}
		// An operator's page has a form, to sign out.
		const policy = contentSecurityPolicy(config.operator ? "'self'" : "'none'");
		return reply
			.header("content-security-policy", policy)
			.header("referrer-policy", "no-referrer")
			.type("text/html; charset=utf-8")
			.send(html(made, config));
	}

	if (options.to === "everyone") {
		return (_request, reply) => send(reply, { demo, operator: null, explain });
	}
	return registerSignIn(app, options.identify, (reply, token) =>
		send(reply, { demo: null, operator: { token }, explain }),
	);
}

function html({ hash }: GraphiqlAssets, config: PageConfig): string {
	// A JSON text in a script element ends at the first `<` that closes it.
	const json = JSON.stringify(config).replaceAll("<", "\\u003c");
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corkboard: GraphiQL</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<link rel="stylesheet" href="/graphiql/${hash}/style.css">
<script type="application/json" id="config">${json}</script>
<script type="module" src="/graphiql/${hash}/page.js"></script>
</head>
<body>
<div id="root"><p class="waiting">Loading GraphiQL…</p></div>
<noscript>GraphiQL needs JavaScript. The API itself is at this address: POST a query.</noscript>
</body>
</html>
`;
}
