import type { FastifyRequest } from "fastify";
import type { Identity } from "../auth/identity.ts";

/** Sent with `1`, it asks for `extensions.explain`: an account of the very run that answers. */
export const EXPLAIN_HEADER = "corkboard-explain";

/**
 * Who may have a run explained: everybody in development, in production
 * operators only. An account tells of statements, rows, hosts and time, and so
 * of objects that were read and then not shown: it is for whoever may read the
 * tables. Whoever may not is not refused: the header is as if it were not there.
 */
export function mayExplain(
	mode: "development" | "production",
	{ isOperator }: Pick<Identity, "isOperator">,
): boolean {
	return mode === "development" || isOperator;
}

/** Only by POST: an answer to GET may be kept, and given to others. */
export function requestsExplain({ method, headers }: FastifyRequest): boolean {
	return method === "POST" && headers[EXPLAIN_HEADER] === "1";
}
