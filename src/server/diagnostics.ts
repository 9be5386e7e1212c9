import { channelOf } from "../diagnostics.ts";
import type { RequestRecord, SchemaUses } from "../plan/diagnostics.ts";

export const SERVER_CHANNELS = {
	/** A GraphQL request was answered. */
	request: channelOf<RequestCompleted>("corkboard.request"),
	/** A document ran that no document file contains. */
	unknownDocument: channelOf<UnknownDocument>("corkboard.unknownDocument"),
	/** A token was refused, or the keys of its issuer could not be fetched. */
	token: channelOf<TokenProblem>("corkboard.token"),
};

export interface RequestCompleted {
	/**
	 * - `reused`: past Fastify and Apollo, with an answer that was kept.
	 * - `short`: past Fastify and Apollo.
	 * - `long`: any other.
	 */
	readonly way: "reused" | "short" | "long";
	/** Whether the client sent the document's text rather than a name of it; null if no document was found. */
	readonly isText: boolean | null;
	/** Null if no operation was found. */
	readonly type: "query" | "mutation" | "subscription" | null;
	/** The operation's name; null if it has none. */
	readonly operation: string | null;
	/** The hash of the document's text, if the server knows it: 64 hex digits. */
	readonly sha256: string | null;
	/** What the operation uses of the schema; null if it did not run. */
	readonly uses: SchemaUses | null;
	/** The name that the client gives itself; `unknown` without a valid one. */
	readonly client: string;
	/** The status of the HTTP response. */
	readonly status: number;
	/** `extensions.code` of each error. */
	readonly codes: readonly string[];
	/** Worst-case cost, in points; null if nothing was admitted. */
	readonly cost: number | null;
	/** Since it arrived. */
	readonly ms: number;
	/** As in the header `x-request-id`. */
	readonly requestId: string;
	/** 32 hex digits; null if it is not sampled. */
	readonly traceId: string | null;
	/** `extensions.errorId` of each error that has one. */
	readonly errorIds: readonly string[];
	/** What was recorded while it ran; null if nothing was. */
	readonly record: RequestRecord | null;
}

export interface TokenProblem {
	/**
	 * - `refused`: it is not valid.
	 * - `keysUnknown`: its key cannot be fetched, so that nobody knows.
	 * - `keysKept`: the keys cannot be fetched again; those that are known are used.
	 */
	readonly kind: "refused" | "keysUnknown" | "keysKept";
	/** The kind of reason. There are not many. */
	readonly code: string;
	/** Has nothing of the token. */
	readonly reason: string;
}

export interface UnknownDocument {
	/** The hash of its text: 64 hex digits. */
	readonly sha256: string;
	readonly operationName: string | null;
}
