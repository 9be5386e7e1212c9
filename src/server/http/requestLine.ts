import type { FastifyBaseLogger } from "fastify";
import { pino } from "pino";
import { Remembered } from "./remembered.ts";

/** The fields of the line of a request that has ended, in their order there. */
export interface RequestFields {
	/** Missing if the log adds it by itself. */
	reqId?: string;
	method: string | undefined;
	route: string | null;
	status: number;
	ms: number;
	operation?: string;
	codes?: readonly string[];
	errorIds?: readonly string[];
	traceId?: string;
}

export const REQUEST_COMPLETED = "request completed";

const asJson: typeof pino.symbols.asJsonSym = pino.symbols.asJsonSym;
const ownFields: typeof pino.symbols.chindingsSym = pino.symbols.chindingsSym;
const starts: typeof pino.symbols.lsCacheSym = pino.symbols.lsCacheSym;

/** What a logger of pino has at hand for each line. */
interface Prepared {
	/** The beginning, by level. */
	readonly [starts]: Readonly<Record<number, string>>;
	/** The fields of the log itself. */
	readonly [ownFields]: string;
}

/**
 * A log for nothing but lines of `RequestFields`, the same as those of `log`, which it
 * puts together by itself. pino knows neither names nor types of fields beforehand and
 * asks of each how to write it and whether to redact it: that was the largest part of
 * what it takes to log and count a request. None of these fields is one to redact.
 */
export function logOfRequests(log: FastifyBaseLogger): FastifyBaseLogger {
	return Object.assign(log.child({}), { [asJson]: lineOf });
}

/** `message` is always `REQUEST_COMPLETED`. */
function lineOf(
	this: Prepared,
	fields: RequestFields,
	_message: string,
	level: number,
	time: string,
): string {
	const { reqId, method, route, status, operation } = fields;
	const { codes, errorIds, traceId } = fields;
	// Few parts: to join them takes longer than to find them.
	const start = `${this[starts][level]}${time}${this[ownFields]}`;
	const numbers = `${status},"ms":${fields.ms}`;
	// No id has a character that JSON escapes (`requestId`).
	let line = reqId === undefined ? start : `${start},"reqId":"${reqId}"`;
	line += methods.get(method) + routes.get(route ?? undefined) + numbers;
	if (operation !== undefined) line += operations.get(operation);
	if (codes !== undefined) line += `,"codes":${JSON.stringify(codes)}`;
	if (errorIds !== undefined) line += `,"errorIds":${JSON.stringify(errorIds)}`;
	if (traceId !== undefined) line += `,"traceId":${JSON.stringify(traceId)}`;
	return line + END;
}

const methods = new Remembered((method) =>
	method === undefined ? "" : `,"method":${JSON.stringify(method)}`,
);
const routes = new Remembered(
	(route) => `,"route":${JSON.stringify(route ?? null)},"status":`,
);
const operations = new Remembered(
	(name) => `,"operation":${JSON.stringify(name)}`,
);
const END = `,"msg":${JSON.stringify(REQUEST_COMPLETED)}}\n`;
