import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ResponseSummary } from "../graphql/outcome.ts";

/** A hash this long (bytes) tells all answers there will ever be apart. */
const TAG_BYTES = 18;

/**
 * Tell caches on the way what they may do with an answer to a query by GET;
 * anything else stays `no-store`. One without a viewer in it may be kept by
 * anyone for `maxAge` seconds; one that is a viewer's, by their browser alone,
 * which has to ask each time whether it still is the answer. The tag is weak:
 * compression makes other bytes of the same answer.
 *
 * Answers the body, or null after 304: the client has it.
 */
export function applyHttpCaching(
	request: FastifyRequest,
	reply: FastifyReply,
	{ cacheScope: keeper }: ResponseSummary,
	body: string,
	maxAge: number,
): string | null {
	if (keeper === null || reply.statusCode !== 200) return body;
	const tag = `W/"${createHash("sha256").update(body).digest().subarray(0, TAG_BYTES).toString("base64url")}"`;
	reply.header("etag", tag);
	reply.header(
		"cache-control",
		keeper === "viewer"
			? "private, no-cache"
			: maxAge === 0
				? "public, no-cache"
				: `public, max-age=${maxAge}`,
	);
	if (!isListed(tag, request.headers["if-none-match"])) return body;
	reply.code(304).removeHeader("content-type");
	return null;
}

/** RFC 9110 §13.1.2, by weak comparison. */
function isListed(tag: string, header: string | undefined): boolean {
	if (header === undefined) return false;
	if (header.trim() === "*") return true;
	const opaque = tag.slice("W/".length);
	return header
		.split(",")
		.some((listed) => listed.trim().replace(/^W\//, "") === opaque);
}
