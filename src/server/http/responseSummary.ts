import type { ErrorCode } from "../../errors.ts";
import { NO_OPERATION, type RequestOutcome } from "./requestOutcome.ts";

/**
 * What the status and caching headers of a response depend on. Apollo hands
 * over only the body as text, so its plugin fills this in.
 */
export interface ResponseSummary {
	/** The request passed Apollo's CSRF prevention, so its errors are about GraphQL. */
	passedCsrfCheck: boolean;
	/** `extensions.code` of the first error. */
	code: ErrorCode | null;
	hasData: boolean;
	hasErrors: boolean;
	/** Which caches may store the response (RFC 9111 §5.2.2); null for none. */
	cacheScope: "public" | "private" | null;
	/** For the log and metrics. */
	outcome: RequestOutcome;
}

export function newResponseSummary(): ResponseSummary {
	return {
		passedCsrfCheck: false,
		code: null,
		hasData: false,
		hasErrors: false,
		cacheScope: null,
		outcome: NO_OPERATION,
	};
}
