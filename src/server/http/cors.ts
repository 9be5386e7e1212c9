import type { FastifyInstance, FastifyReply } from "fastify";

/** Origins whose pages may read responses. */
export type AllowedOrigins = readonly (string | RegExp)[];

const LOCALHOST = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** In development also pages from this machine. */
export function allowedOrigins(
	mode: "development" | "production",
	listed: readonly string[],
): AllowedOrigins {
	return mode === "development" ? [...listed, LOCALHOST] : listed;
}

/** Headers that pages of other origins may read. */
export const EXPOSED_HEADERS =
	"etag, ratelimit, ratelimit-policy, retry-after, x-request-id";

/** Access-Control-Allow-Origin; null for none. */
export function allowedOrigin(
	origins: AllowedOrigins,
	origin: string | undefined,
): string | null {
	if (allowsAll(origins)) return "*";
	if (origin === undefined) return null;
	for (const allowed of origins) {
		if (
			typeof allowed === "string" ? allowed === origin : allowed.test(origin)
		) {
			return origin;
		}
	}
	return null;
}

/** The same headers as lines, for a response without a reply object. */
export function corsLines(
	origins: AllowedOrigins,
	origin: string | undefined,
): readonly string[] {
	const allowed = allowedOrigin(origins, origin);
	return [
		...(allowsAll(origins) ? [] : ["vary: Origin"]),
		...(allowed === null ? [] : [`access-control-allow-origin: ${allowed}`]),
		`access-control-expose-headers: ${EXPOSED_HEADERS}`,
	];
}

/** Then no response depends on the origin. */
export function allowsAll(origins: AllowedOrigins): boolean {
	return origins.includes("*");
}

/**
 * Lets pages of allowed origins read the responses of Fastify's routes, and
 * answers what browsers ask before they send a request. Any request header is
 * allowed: clients have some of their own. Cookies are ignored, so only the
 * origin needs a check.
 */
export function registerCors(
	app: FastifyInstance,
	origins: AllowedOrigins,
): void {
	app.addHook("onRequest", async ({ method, headers }, reply) => {
		if (!allowsAll(origins)) addVary(reply, "Origin");
		const origin = allowedOrigin(origins, headers.origin);
		if (origin !== null) reply.header("access-control-allow-origin", origin);
		reply.header("access-control-expose-headers", EXPOSED_HEADERS);
		if (method !== "OPTIONS") return;
		addVary(reply, "Access-Control-Request-Headers");
		const asked = headers["access-control-request-headers"];
		if (asked !== undefined) {
			reply.header("access-control-allow-headers", asked);
		}
		return reply
			.header("access-control-allow-methods", "GET, POST")
			.header("access-control-max-age", "600")
			.header("content-length", "0")
			.code(204)
			.send();
	});
	// The hook has replied.
	app.options("*", (_request, reply) => reply.send());
}

export function addVary(reply: FastifyReply, name: string): void {
	const known = reply.getHeader("vary");
	reply.header("vary", known === undefined ? name : `${known}, ${name}`);
}
