import type { IncomingMessage } from "node:http";
import type { Identity } from "../auth/identity.ts";

/** With the value `1`, this request header asks for `extensions.explain`, about the same execution as the response. */
export const EXPLAIN_HEADER = "corkboard-explain";

/**
 * Whether the sender may use explain: in development everybody, in production
 * operators. Explain shows statements, rows, hosts and times, and so reveals
 * objects that were read and then hidden from the viewer. For others the header
 * has no effect.
 */
export function mayExplain(
	mode: "development" | "production",
	{ isOperator }: Pick<Identity, "isOperator">,
): boolean {
	return mode === "development" || isOperator;
}

/** Only by POST: caches may keep the response to a GET and serve it to others. */
export function requestsExplain({
	method,
	headers,
}: Pick<IncomingMessage, "method" | "headers">): boolean {
	return method === "POST" && headers[EXPLAIN_HEADER] === "1";
}
