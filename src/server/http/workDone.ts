import type { IncomingMessage } from "node:http";
import type { Span } from "../../diagnostics.ts";
import type { HttpError } from "./httpError.ts";

/** What was done of a request before Fastify got it, and is not done again. */
export interface WorkDone {
	/** In milliseconds of `performance.now()`. */
	readonly arrivedAt: number;
	/** Towards its address's rate limit; null where there is none. */
	readonly counted: CountedRequest | null;
	/** Null for a GET. */
	readonly body: ReadBody | null;
	/** Null where it is not sampled. */
	readonly span: Span | null;
}

/** A request that was counted towards the rate limit of its address. */
export interface CountedRequest {
	/** Names and values in turn: the draft "RateLimit header fields for HTTP". */
	readonly headers: readonly string[];
	/** 429, where the address is over its limit. */
	readonly error: HttpError | null;
}

/** A body that was read, or why it could not be. */
export interface ReadBody {
	readonly error: Error | null;
	readonly bytes: Buffer;
}

const done = new WeakMap<IncomingMessage, WorkDone>();

export function recordWorkDone(message: IncomingMessage, work: WorkDone): void {
	done.set(message, work);
}

export function workDoneOn(message: IncomingMessage): WorkDone | undefined {
	return done.get(message);
}
