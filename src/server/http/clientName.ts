import type { IncomingHttpHeaders } from "node:http";

/** The name of a client that gives none, or no valid one. */
const UNKNOWN_CLIENT = "unknown";

/** Letters and what names of apps hold; no control characters, which would forge lines. */
const VALID = /^[A-Za-z0-9][A-Za-z0-9 ._:@/+()-]{0,63}$/;

/**
 * The name that a client gives itself, by Apollo's header or `x-client-name`.
 * Anybody may send any name: it says who to ask, and proves nothing.
 */
export function clientNameOf(headers: IncomingHttpHeaders): string {
	const given =
		headers["apollographql-client-name"] ?? headers["x-client-name"];
	return typeof given === "string" && VALID.test(given)
		? given
		: UNKNOWN_CLIENT;
}
