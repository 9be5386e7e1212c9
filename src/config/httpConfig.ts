import type { Settings } from "../util/environment.ts";
import {
	parseHeaderName,
	parseInteger,
	parseOneOf,
	parseOnOff,
	parseRate,
} from "../util/settings.ts";

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
	{ setting }: Settings,
	defaultRate: HttpConfig["rateLimit"],
	defaultDelayMs: number,
): HttpConfig {
	return {
		status: setting(
			"CORKBOARD_HTTP_STATUS",
			"audit or draft",
			(text) => parseOneOf(["audit", "draft"] as const, text),
			"audit",
		),
		maxAge: setting(
			"CORKBOARD_HTTP_MAX_AGE",
			"seconds from 0 to 31536000",
			(text) => parseInteger(text, 0, 31_536_000),
			10,
		),
		compression: setting(
			"CORKBOARD_COMPRESSION",
			"on or off",
			parseOnOff,
			true,
		),
		rateLimit: setting(
			"CORKBOARD_RATE_LIMIT",
			"off, or requests of one address per second, minute or hour, such as 600/minute",
			parseRate,
			defaultRate,
		),
		maxRequestsInProgress: setting(
			"CORKBOARD_MAX_REQUESTS_IN_PROGRESS",
			"an integer from 1 to 1000000",
			(text) => parseInteger(text, 1, 1_000_000),
			500,
		),
		shutdownDelayMs: setting(
			"CORKBOARD_SHUTDOWN_DELAY",
			"seconds from 0 to 300",
			(text) => {
				const seconds = parseInteger(text, 0, 300);
				return seconds === undefined ? undefined : seconds * 1_000;
			},
			defaultDelayMs,
		),
		requestIdHeader: setting(
			"CORKBOARD_REQUEST_ID",
			"off, or the name of a header such as x-request-id",
			parseHeaderName,
			null,
		),
	};
}
