import type { FastifyBaseLogger } from "fastify";
import { publishRefusal } from "../../plan/diagnostics.ts";

/**
 * Why load was turned away:
 * - `requests`: as many requests as allowed were in progress in this process.
 * - `pipelined`: too many requests waited on their connection.
 * - `bodies`: bodies that were arriving took as much memory as allowed.
 * - `connections`: as many connections as allowed were open.
 * - `unread`: the client did not read its response.
 */
type RefusalReason =
	| "requests"
	| "pipelined"
	| "bodies"
	| "connections"
	| "unread";

/** Counts what was turned away, for one line of the log at a time: a line each would add to the overload. */
export class Refusals {
	readonly #log: FastifyBaseLogger;
	#counts: Partial<Record<RefusalReason, number>> = {};

	constructor(log: FastifyBaseLogger) {
		this.#log = log;
	}

	count(reason: RefusalReason): void {
		this.#counts[reason] = (this.#counts[reason] ?? 0) + 1;
		publishRefusal(reason);
	}

	/** Log what was counted since the last call. */
	log(): void {
		if (Object.keys(this.#counts).length === 0) return;
		this.#log.warn(this.#counts, "overload");
		this.#counts = {};
	}
}
