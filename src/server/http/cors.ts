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
export const EXPOSED_HEADERS = ["etag", "retry-after", "x-request-id"];

/** Access-Control-Allow-Origin, as @fastify/cors sets it; null for none. */
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

/** Then no response depends on the origin. */
export function allowsAll(origins: AllowedOrigins): boolean {
	return origins.includes("*");
}
