import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import type { ResponseSummary } from "./responseSummary.ts";

/**
 * The version of "GraphQL over HTTP" that status codes follow.
 *
 * - `audit`: what the audits of graphql-http check and today's clients expect:
 *   400 for a document that does not parse, is invalid, or whose variables do
 *   not fit. Under `application/json` these are 200, because such clients take
 *   any other status for a broken server. Partial data is 200.
 * - `draft`: the draft of August 2026: 400 only for a document that does not
 *   parse, 422 for the others, in both media types. Partial data is 294 where
 *   the media type is GraphQL's own.
 */
export type HttpStatus = "audit" | "draft";

/** "Partial success" in the draft. */
const PARTIAL_SUCCESS = 294;

/** Codes of errors in the document or its variables. */
const DOCUMENT_CODES: ReadonlySet<string | null> = new Set([
	"GRAPHQL_PARSE_FAILED",
	"GRAPHQL_VALIDATION_FAILED",
	"BAD_USER_INPUT",
]);

/** Replace the status that Apollo chose. */
export function applyStatus(
	reply: FastifyReply,
	{ passedCsrfCheck, code, hasData, hasErrors }: ResponseSummary,
	version: HttpStatus,
): void {
	const isGraphql = String(reply.getHeader("content-type")).startsWith(
		"application/graphql-response+json",
	);
	if (version === "audit") {
		if (reply.statusCode === 400 && !isGraphql && DOCUMENT_CODES.has(code)) {
			reply.code(200);
		}
		return;
	}
	if (hasData && hasErrors && isGraphql && reply.statusCode === 200) {
		reply.code(PARTIAL_SUCCESS);
		reply.raw.statusMessage = "Partial Success";
	} else if (
		reply.statusCode === 400 &&
		passedCsrfCheck &&
		code !== "GRAPHQL_PARSE_FAILED"
	) {
		reply.code(422);
		reply.raw.statusMessage = STATUS_CODES[422] as string;
	}
}
