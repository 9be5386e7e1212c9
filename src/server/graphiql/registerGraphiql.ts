import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Identity } from "../auth/identity.ts";
import { sendError } from "../http/errorResponses.ts";
import type { GraphiqlAssets } from "./assetFolder.ts";
import { openGraphiqlAssets } from "./openGraphiqlAssets.ts";
import type { DemoUser, PageConfig, PageExample } from "./pageConfig.ts";
import type { PageHandler } from "./registerPage.ts";
import { registerSignIn } from "./signIn.ts";

/** Who gets the page. Operators sign in with a token. */
export type GraphiqlAccess = "everyone" | "operators" | "nobody";

export interface Demo {
	readonly token: string;
	readonly username: string;
	/** Further users that one may be. */
	readonly others?: readonly DemoUser[];
	/** The tabs of a first visit; the first describes the graph. */
	readonly examples: readonly PageExample[];
}

/** Only our own files; GraphiQL and Monaco also set inline styles and fonts. */
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

/** A file name as the bundler gives them: no path out of the folder. */
const FILE_NAME = /^[\w-]+(?:\.\w+)+$/;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
};

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="5" width="26" height="24" rx="4" fill="#c08a52"/><path d="M9 13h14v11H9z" fill="#fff"/><circle cx="16" cy="12" r="4" fill="#d6293e"/></svg>`;

/**
 * Register the routes of GraphiQL's assets, and return what sends its page.
 * The assets are opened (on a clone: built) in the background, beginning now.
 * A build that fails makes only the page unavailable, and the next request
 * for it tries again.
 */
export async function registerGraphiql(
	app: FastifyInstance,
	options: {
		readonly access: Exclude<GraphiqlAccess, "nobody">;
		readonly demo?: Demo;
		readonly explain: boolean;
		readonly identify: (authorization: string) => Promise<Identity>;
	},
	openAssets: () => Promise<GraphiqlAssets | null> = openGraphiqlAssets,
): Promise<PageHandler> {
	const { demo, explain } = options;
	const shown = demo === undefined ? null : pageDemoOf(demo);
	let opening: Promise<GraphiqlAssets | null> | undefined;
	const assetsInUse = () => {
		opening ??= openAssets().then(
			(assets) => {
				if (assets === null) {
					app.log.warn(
						"GraphiQL assets missing: install the development packages, then run npm run build:graphiql",
					);
				}
				return assets;
			},
			(error: unknown) => {
				opening = undefined;
				app.log.error({ err: error }, "GraphiQL build failed");
				throw error;
			},
		);
		return opening;
	};
	assetsInUse().catch(() => {});

	app.get<{ Params: { hash: string; file: string } }>(
		"/graphiql/:hash/:file",
		async (request, reply) => {
			const assets = await assetsInUse();
			const { hash, file } = request.params;
			const type = MEDIA_TYPES[extname(file)];
			if (hash !== assets?.hash || !FILE_NAME.test(file) || !type) {
				return reply.callNotFound();
			}
			const content = await readFile(join(assets.folder, file)).catch(
				() => null,
			);
			if (content === null) return reply.callNotFound();
			return (
				reply
					// A worker obeys the policy of its own file.
					.header("content-security-policy", contentSecurityPolicy("'none'"))
					// The hash in the URL changes with the content.
					.header("cache-control", "public, max-age=31536000, immutable")
					.type(type)
					.send(content)
			);
		},
	);

	async function sendPage(
		reply: FastifyReply,
		config: PageConfig,
	): Promise<FastifyReply> {
		let assets: GraphiqlAssets | null;
		try {
			assets = await assetsInUse();
		} catch {
			return sendError(
				reply,
				"UNAVAILABLE",
				"GraphiQL is not available at the moment.",
			);
		}
		// An operator's page has a form, to sign out.
		const policy = contentSecurityPolicy(config.operator ? "'self'" : "'none'");
		return reply
			.header("content-security-policy", policy)
			.header("referrer-policy", "no-referrer")
			.type("text/html; charset=utf-8")
			.send(assets === null ? plainPage() : page(assets, config));
	}

	if (options.access === "everyone") {
		return (_request, reply) =>
			sendPage(reply, { demo: shown, operator: null, explain });
	}
	return registerSignIn(app, options.identify, (reply, token) =>
		sendPage(reply, { demo: null, operator: { token }, explain }),
	);
}

function pageDemoOf({
	token,
	username,
	others = [],
	examples,
}: Demo): PageConfig["demo"] {
	return { users: [{ token, username }, ...others], examples };
}

function page({ hash }: GraphiqlAssets, config: PageConfig): string {
	// A `<` could close the script element that holds this JSON.
	const json = JSON.stringify(config).replaceAll("<", "\\u003c");
	return html(
		`<link rel="stylesheet" href="/graphiql/${hash}/style.css">
<script type="application/json" id="config">${json}</script>
<script type="module" src="/graphiql/${hash}/page.js"></script>`,
		`<div id="root"><p class="waiting">Loading GraphiQL…</p></div>
<noscript>GraphiQL needs JavaScript. The API has this same address: send it queries by POST.</noscript>`,
	);
}

/** For an installation without assets. */
function plainPage(): string {
	return html(
		"",
		`<p>This server runs, but its installation does not include GraphiQL. To add it, run <code>npm run build:graphiql</code> where the development packages are installed.</p>
<p>The API has this same address: send it queries by POST.</p>`,
	);
}

function html(head: string, body: string): string {
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corkboard: GraphiQL</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}
