import { channelOf } from "../diagnostics.ts";
import type { RequestRecord, SchemaUses } from "../plan/diagnostics.ts";

export const SERVER_CHANNELS = {
	/** A GraphQL request was answered. */
	request: channelOf<RequestCompleted>("corkboard.request"),
	/** A document ran that no document file contains. */
	unknownDocument: channelOf<UnknownDocument>("corkboard.unknownDocument"),
};

export interface RequestCompleted {
	/**
	 * - `reused`: past Fastify and Apollo, with an answer that was kept.
	 * - `short`: past Fastify and Apollo.
	 * - `long`: any other.
	 */
	readonly way: "reused" | "short" | "long";
	/** Whether the client sent the document's text rather than a name of it; null where no document was found. */
	readonly isText: boolean | null;
	/** Null where no operation was found. */
	readonly type: "query" | "mutation" | "subscription" | null;
	/** The operation's name; null where it has none. */
	readonly operation: string | null;
	/** Of the document's text, if the server knows it: 64 hex digits. */
	readonly sha256: string | null;
	/** What the operation uses of the schema; null where it did not run. */
	readonly uses: SchemaUses | null;
	/** The name that the client gives itself; `unknown` without a valid one. */
	readonly client: string;
	/** Of HTTP. */
	readonly status: number;
	/** `extensions.code` of each error. */
	readonly codes: readonly string[];
	/** Worst-case cost, in points; null where nothing was admitted. */
	readonly cost: number | null;
	/** Since it arrived. */
	readonly ms: number;
	/** As in the header `x-request-id`. */
	readonly requestId: string;
	/** 32 hex digits; null where it is not sampled. */
	readonly traceId: string | null;
	/** `extensions.errorId` of each error that has one. */
	readonly errorIds: readonly string[];
	/** What was recorded while it ran; null where nothing was. */
	readonly record: RequestRecord | null;
}

export interface UnknownDocument {
	/** Of its text: 64 hex digits. */
	readonly sha256: string;
	readonly operationName: string | null;
}
