import { STATUS_CODES } from "node:http";
import type { ErrorCode } from "../../errors.ts";
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
const DOCUMENT_CODES: ReadonlySet<ErrorCode | null> = new Set([
	"GRAPHQL_PARSE_FAILED",
	"GRAPHQL_VALIDATION_FAILED",
	"BAD_USER_INPUT",
]);

/** The status of a response: its number, and its words where they are not those of the number. */
export interface Status {
	readonly code: number;
	readonly message?: string;
}

/** The status by this version, in place of `chosen`, which is that of Apollo and of error codes. */
export function statusOf(
	chosen: number,
	mediaType: string,
	{ passedCsrfCheck, code, hasData, hasErrors }: ResponseSummary,
	version: HttpStatus,
): Status {
	const isGraphql = mediaType.startsWith("application/graphql-response+json");
	if (version === "audit") {
		return chosen === 400 && !isGraphql && DOCUMENT_CODES.has(code)
			? { code: 200 }
			: { code: chosen };
	}
	if (hasData && hasErrors && isGraphql && chosen === 200) {
		return { code: PARTIAL_SUCCESS, message: "Partial Success" };
	}
	return chosen === 400 && passedCsrfCheck && code !== "GRAPHQL_PARSE_FAILED"
		? { code: 422, message: STATUS_CODES[422] as string }
		: { code: chosen };
}
