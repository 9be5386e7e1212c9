import type { FastifyRequest } from "fastify";

/** Sent with `1`, it asks for `extensions.explain`: an account of the very run that answers. */
export const EXPLAIN_HEADER = "corkboard-explain";

/**
 * The one place where it is decided who may have a run explained: everybody in
 * development; in production operators only, and until there is an operator's
 * identity, nobody. An account tells of statements, rows, hosts and time, and so
 * of objects that were read and then not shown: it is for whoever may read the
 * tables. Whoever may not is not refused: the header is as if it were not there.
 */
export function mayExplain({
	mode,
}: {
	readonly mode: "development" | "production";
}): boolean {
	return mode === "development";
}

/** Only by POST: an answer to GET may be kept, and given to others. */
export function asksToExplain({ method, headers }: FastifyRequest): boolean {
	return method === "POST" && headers[EXPLAIN_HEADER] === "1";
}
