import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import type { ResponseSummary } from "../graphql/outcome.ts";

/**
 * Which reading of "GraphQL over HTTP" the status codes follow.
 *
 * - `audit`: what the audits of graphql-http check, and clients of today know:
 *   400 for a document that does not parse, is not valid, or whose variables
 *   do not fit; under `application/json` 200, as such clients take any other
 *   status for a broken server. Partial data is 200.
 * - `draft`: the draft of August 2026: 422 for all of these but a document that
 *   does not parse, whatever the media type; partial data is 294, where the
 *   media type says that this is GraphQL.
 */
export type HttpStatus = "audit" | "draft";

/** What the draft calls "Partial success". */
const PARTIAL = 294;

const OF_THE_DOCUMENT: ReadonlySet<string | null> = new Set([
	"GRAPHQL_PARSE_FAILED",
	"GRAPHQL_VALIDATION_FAILED",
	"BAD_USER_INPUT",
]);

/** Put right the status that Apollo gave an answer. */
export function applyStatus(
	reply: FastifyReply,
	{ passedCsrfCheck: wasAdmitted, code, hasData, hasErrors }: ResponseSummary,
	which: HttpStatus,
): void {
	const isGraphql = String(reply.getHeader("content-type")).startsWith(
		"application/graphql-response+json",
	);
	if (which === "audit") {
		if (reply.statusCode === 400 && !isGraphql && OF_THE_DOCUMENT.has(code)) {
			reply.code(200);
		}
		return;
	}
	if (hasData && hasErrors && isGraphql && reply.statusCode === 200) {
		reply.code(PARTIAL);
		reply.raw.statusMessage = "Partial Success";
	} else if (
		reply.statusCode === 400 &&
		wasAdmitted &&
		code !== "GRAPHQL_PARSE_FAILED"
	) {
		reply.code(422);
		reply.raw.statusMessage = STATUS_CODES[422] as string;
	}
}
