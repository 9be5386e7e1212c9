import type { IncomingMessage } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import { CHANNELS, type RequestCompleted } from "../../diagnostics.ts";

/** What a GraphQL request was, and how it ended. */
export type RequestOutcome = Pick<
	RequestCompleted,
	"way" | "isText" | "type" | "operation" | "sha256" | "codes" | "cost"
>;

/** Of a request in which no operation was found. */
export const NO_OPERATION: RequestOutcome = {
	way: "long",
	isText: null,
	type: null,
	operation: null,
	sha256: null,
	codes: [],
	cost: null,
};

const outcomes = new WeakMap<IncomingMessage, RequestOutcome>();

/** Of a request that takes the long way, for its line of the log. */
export function recordOutcome(
	message: IncomingMessage,
	outcome: RequestOutcome,
): void {
	outcomes.set(message, outcome);
}

export function outcomeOf(
	message: IncomingMessage,
): RequestOutcome | undefined {
	return outcomes.get(message);
}

/** Logs the end of a request. Of a GraphQL request the channel gets it too. */
export function logRequest(
	log: FastifyBaseLogger,
	request: {
		/** Null where `log` adds it. */
		readonly id: string | null;
		readonly method: string | undefined;
		readonly route: string | null;
		readonly status: number;
		readonly ms: number;
	},
	/** Null: not a GraphQL request. */
	outcome: RequestOutcome | null,
): void {
	const { id, method, route, status, ms } = request;
	const fields: Record<string, unknown> = {};
	if (id !== null) fields.reqId = id;
	fields.method = method;
	fields.route = route;
	fields.status = status;
	fields.ms = Math.round(ms);
	if (outcome !== null) {
		const { operation, codes } = outcome;
		if (operation !== null) fields.operation = operation.slice(0, NAME_LENGTH);
		if (codes.length > 0) fields.codes = [...new Set(codes)];
	}
	log.info(fields, "request completed");
	if (outcome === null || !CHANNELS.request.hasSubscribers) return;
	const completed: RequestCompleted = { ...outcome, status, ms };
	CHANNELS.request.publish(completed);
}

/** Of an operation's name, which the client chooses. */
const NAME_LENGTH = 100;

/** `extensions.code` of each error. */
export function codesOf(
	errors: readonly {
		readonly extensions?: Readonly<Record<string, unknown>> | undefined;
	}[],
): readonly string[] {
	return errors.map(({ extensions }) => String(extensions?.code ?? "none"));
}
