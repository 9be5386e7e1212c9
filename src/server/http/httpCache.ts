import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ResponseSummary } from "./responseSummary.ts";

/** Bytes of the hash in an ETag: enough that no two responses ever share one. */
const TAG_BYTES = 18;

/**
 * Set `ETag` and `Cache-Control` on the response to a query sent by GET; every
 * other response stays `no-store`. Shared caches may keep a public response
 * for `maxAge` seconds. A private one stays in the viewer's browser, which
 * revalidates it each time. The ETag is weak, because compression changes the
 * bytes of the same response.
 *
 * Returns the body, or null after a 304: the client already has it.
 */
export function applyHttpCaching(
	request: FastifyRequest,
	reply: FastifyReply,
	{ cacheScope }: ResponseSummary,
	body: string,
	maxAge: number,
): string | null {
	if (cacheScope === null || reply.statusCode !== 200) return body;
	const tag = `W/"${createHash("sha256").update(body).digest().subarray(0, TAG_BYTES).toString("base64url")}"`;
	reply.header("etag", tag);
	reply.header(
		"cache-control",
		cacheScope === "private"
			? "private, no-cache"
			: maxAge === 0
				? "public, no-cache"
				: `public, max-age=${maxAge}`,
	);
	if (!matchesTag(tag, request.headers["if-none-match"])) return body;
	reply.code(304).removeHeader("content-type");
	return null;
}

/** If-None-Match by weak comparison (RFC 9110 §13.1.2). */
function matchesTag(tag: string, header: string | undefined): boolean {
	if (header === undefined) return false;
	if (header.trim() === "*") return true;
	const opaque = tag.slice("W/".length);
	return header
		.split(",")
		.some((listed) => listed.trim().replace(/^W\//, "") === opaque);
}
