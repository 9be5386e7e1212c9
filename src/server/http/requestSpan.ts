import type { IncomingHttpHeaders } from "node:http";
import { ERRORS, isClientCode } from "../../errors.ts";
import type { Span } from "../../trace.ts";
import type { RequestCompleted } from "../diagnostics.ts";

/** The span of a request that arrived at this time of `performance.now()`; null if it is not sampled. */
export type StartSpan = (
	headers: IncomingHttpHeaders,
	arrivedAt: number,
) => Span | null;

/** Ends it with what the response was, in the names of OpenTelemetry's conventions for HTTP and GraphQL. */
export function endRequestSpan(
	span: Span,
	{
		requestId,
		method,
		route,
		status,
	}: {
		readonly requestId: string;
		readonly method: string | undefined;
		readonly route: string | null;
		readonly status: number;
	},
	{
		way,
		type,
		operation,
		sha256,
		codes,
		errorIds,
		cost,
	}: Pick<
		RequestCompleted,
		"way" | "type" | "operation" | "sha256" | "codes" | "errorIds" | "cost"
	>,
): void {
	const failure = codes.find(isOwnFailure);
	span.end(status >= 500 ? String(status) : (failure ?? null), {
		"http.request.method": method,
		"http.route": route ?? undefined,
		"http.response.status_code": status,
		"graphql.operation.type": type ?? undefined,
		"graphql.operation.name": operation?.slice(0, NAME_LENGTH),
		"corkboard.request.id": requestId,
		"corkboard.way": way,
		"corkboard.document": sha256 ?? undefined,
		"corkboard.cost": cost ?? undefined,
		...(codes.length > 0 && { "corkboard.error.codes": [...new Set(codes)] }),
		...(errorIds.length > 0 && { "corkboard.error.ids": [...errorIds] }),
	});
}

/** Characters kept of an operation's name, which the client chooses. */
const NAME_LENGTH = 100;

/** A client's mistake is no failure of the server. */
function isOwnFailure(code: string): boolean {
	return isClientCode(code) && ERRORS[code].status >= 500;
}
