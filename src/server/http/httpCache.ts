import { hash } from "node:crypto";
import type { ResponseSummary } from "./responseSummary.ts";

/** Characters of base64 in an ETag: 18 bytes of the hash, enough that no two responses ever share one. */
const TAG_CHARACTERS = 24;

/**
 * `Cache-Control` of the response to a query sent by GET; every other response
 * stays `no-store`. Shared caches may keep a public response for `maxAge`
 * seconds. A private one stays in the viewer's browser, which revalidates it
 * each time.
 */
export function cacheControlOf(
	cacheScope: NonNullable<ResponseSummary["cacheScope"]>,
	maxAge: number,
): string {
	if (cacheScope === "private") return "private, no-cache";
	return maxAge === 0 ? "public, no-cache" : `public, max-age=${maxAge}`;
}

/** The ETag of such a response. It is weak, because compression changes the bytes of the same response. */
export function etagOf(body: string | Uint8Array): string {
	return `W/"${hash("sha256", body, "base64url").slice(0, TAG_CHARACTERS)}"`;
}

/** Whether the client has the response already, by weak comparison with If-None-Match (RFC 9110 §13.1.2): the response is then 304, without a body. */
export function isNotModified(
	etag: string,
	header: string | undefined,
): boolean {
	if (header === undefined) return false;
	if (header.trim() === "*") return true;
	const opaque = etag.slice("W/".length);
	return header
		.split(",")
		.some((listed) => listed.trim().replace(/^W\//, "") === opaque);
}
