import type { Settings } from "./readSettings.ts";

/** HTTP responses, and limits that apply before a request is parsed. */
export interface HttpConfig {
	/** The version of GraphQL over HTTP that status codes follow. */
	readonly status: "audit" | "draft";
	/** How long HTTP caches may keep the response to a GET that does not depend on the viewer. Seconds. */
	readonly maxAge: number;
	readonly compression: boolean;
	/** Per address; null: unlimited. */
	readonly rateLimit: {
		readonly requests: number;
		readonly perMs: number;
	} | null;
	/** GraphQL requests that a process carries out at a time. */
	readonly maxRequestsInProgress: number;
	/** From the signal to stop until it refuses requests: `/health/ready` says 503, and all else is served as before. */
	readonly shutdownDelayMs: number;
	/** The header with a proxy's request id, in lower case. */
	readonly requestIdHeader: string | null;
}

/** Reads the settings of HTTP. */
export function httpOf(
	{ value, valueOr }: Settings,
	defaultRate: HttpConfig["rateLimit"],
	defaultDelayMs: number,
): HttpConfig {
	return {
		status: value("CORKBOARD_HTTP_STATUS"),
		maxAge: value("CORKBOARD_HTTP_MAX_AGE"),
		compression: value("CORKBOARD_COMPRESSION"),
		rateLimit: valueOr("CORKBOARD_RATE_LIMIT", defaultRate),
		maxRequestsInProgress: value("CORKBOARD_MAX_REQUESTS_IN_PROGRESS"),
		shutdownDelayMs: valueOr("CORKBOARD_SHUTDOWN_DELAY", defaultDelayMs),
		requestIdHeader: value("CORKBOARD_REQUEST_ID"),
	};
}
