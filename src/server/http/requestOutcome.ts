import type { IncomingHttpHeaders } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import { type ErrorCode, isClientCode } from "../../errors.ts";
import type { Span } from "../../trace.ts";
import { type RequestCompleted, SERVER_CHANNELS } from "../diagnostics.ts";
import { clientNameOf } from "./clientName.ts";
import { endRequestSpan } from "./requestSpan.ts";

/** What a GraphQL request was, and how it ended. */
export interface RequestOutcome
	extends Pick<
		RequestCompleted,
		| "way"
		| "isText"
		| "type"
		| "operation"
		| "sha256"
		| "errorIds"
		| "cost"
		| "record"
		| "uses"
	> {
	/** `extensions.code` of each error. */
	readonly codes: readonly ErrorCode[];
}

/** The outcome of a request in which no operation was found. */
export const NO_OPERATION: RequestOutcome = {
	way: "long",
	isText: null,
	type: null,
	operation: null,
	sha256: null,
	codes: [],
	errorIds: [],
	cost: null,
	record: null,
	uses: null,
};

/** Logs the end of a request. Of a GraphQL request the channel gets it too. */
export function logRequest(
	log: FastifyBaseLogger,
	request: {
		readonly id: string;
		/** Whether `log` adds the id by itself. */
		readonly hasId: boolean;
		readonly method: string | undefined;
		readonly route: string | null;
		readonly status: number;
		readonly ms: number;
		/** Null if it is not sampled. */
		readonly span: Span | null;
		readonly headers: IncomingHttpHeaders;
	},
	/** Null: not a GraphQL request. */
	outcome: RequestOutcome | null,
): void {
	const { id, method, route, status, ms, span } = request;
	const fields: Record<string, unknown> = {};
	if (!request.hasId) fields.reqId = id;
	fields.method = method;
	fields.route = route;
	fields.status = status;
	fields.ms = Math.round(ms);
	if (outcome !== null) {
		const { operation, codes, errorIds } = outcome;
		if (operation !== null) fields.operation = operation.slice(0, NAME_LENGTH);
		if (codes.length > 0) fields.codes = [...new Set(codes)];
		if (errorIds.length > 0) fields.errorIds = errorIds.slice(0, MAX_IDS);
	}
	if (span !== null) fields.traceId = span.traceId;
	log.info(fields, "request completed");
	if (outcome === null) return;
	if (span !== null)
		endRequestSpan(span, { ...request, requestId: id }, outcome);
	if (!SERVER_CHANNELS.request.hasSubscribers) return;
	const completed: RequestCompleted = {
		...outcome,
		client: clientNameOf(request.headers),
		status,
		ms,
		requestId: id,
		traceId: span?.traceId ?? null,
	};
	SERVER_CHANNELS.request.publish(completed);
}

/** Characters kept of an operation's name, which the client chooses. */
const NAME_LENGTH = 100;

/** A response may have a thousand errors. */
const MAX_IDS = 10;

/** `extensions.code` of each error, as `toClientError` writes it. */
export function codesOf(
	errors: readonly {
		readonly extensions?: Readonly<Record<string, unknown>> | undefined;
	}[],
): readonly ErrorCode[] {
	return errors.map(({ extensions }) => {
		const code = extensions?.code;
		return typeof code === "string" && isClientCode(code) ? code : "INTERNAL";
	});
}

/** `extensions.errorId` of each error that the log has a cause for. */
export function errorIdsOf(
	errors: readonly {
		readonly extensions?: Readonly<Record<string, unknown>> | undefined;
	}[],
): readonly string[] {
	const ids: string[] = [];
	for (const { extensions } of errors) {
		const id = extensions?.errorId;
		if (typeof id === "string") ids.push(id);
	}
	return ids.length === 0 ? NO_IDS : ids;
}

const NO_IDS: readonly string[] = [];
