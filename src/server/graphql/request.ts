import type { IncomingMessage, ServerResponse } from "node:http";
import { ERRORS, type ErrorCode } from "../../errors.ts";
import type { Span } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { RETRY_AFTER } from "../http/clientError.ts";
import type { Encoding } from "../http/content/compression.ts";
import { JSON_TYPE, searchOf } from "../http/content/mediaType.ts";
import { errorBody } from "../http/errorResponses.ts";
import { NO_OPERATION, type RequestOutcome } from "../http/requestOutcome.ts";
import type { ResponseSummary } from "../http/responseSummary.ts";
import type { Status } from "../http/status.ts";
import type { RequestDeadline } from "../limits/deadline.ts";
import { LimitLevels } from "../limits/limitLevels.ts";
import type { AnswerKey } from "./answerCache.ts";
import { type Body, newBody } from "./body.ts";
import type { FoundIdentity } from "./requestSteps.ts";

/** How far a request is. */
export type RequestState =
	/** It will look for an answer that was kept. It may have looked when it came, but others waited then, and one of them may leave the same answer. */
	| "new"
	/** It has looked for an answer that was kept, and does not look again. */
	| "looked"
	/** It has waited for another request that is the same, and has looked for that one's answer. */
	| "waited"
	/** Its operation runs. */
	| "running"
	/** It has a reply. */
	| "done";

/** What may follow on each state. A request may be refused in any state. */
const NEXT_STATES: Readonly<Record<RequestState, readonly RequestState[]>> = {
	new: ["looked", "done"],
	looked: ["waited", "running", "done"],
	waited: ["running", "done"],
	running: ["done"],
	done: [],
};

/** One GraphQL request: what it says, and what its steps have found out so far. */
export class GraphqlRequest {
	readonly message: IncomingMessage;
	readonly response: ServerResponse;
	readonly id: string;
	/** The one that the client prefers for the response; null if it accepts none of ours. */
	readonly mediaType: string | null;
	/** The encoding of the response, if it is long enough; null for none. */
	readonly encoding: Encoding | null;
	/** Or HEAD, of which Node sends no body. */
	readonly isGet: boolean;
	/** The parameters of a GET, without the question mark. */
	readonly search: string;
	/** In milliseconds of `performance.now()`. */
	readonly arrivedAt = performance.now();
	/** Null if it is not sampled. */
	span: Span | null = null;
	readonly levels = new LimitLevels();
	/** The text of a POST's body, or the URL of a GET; null for a POST without a body. */
	text: string | null;
	/** The body of a POST, parsed. */
	body: unknown = undefined;
	/** When its operation is aborted. It begins when the request has arrived in full. */
	deadline: RequestDeadline | null = null;
	/** Null before the step that finds it. */
	identity: FoundIdentity | null = null;
	/** Under which its answer may be kept; null for not at all. */
	answerKey: AnswerKey | null = null;
	/** Whether it has a place among those in progress. */
	isInProgress = false;
	/** The key of its sender, once it was started. */
	startedFor: string | null = null;
	/** Whether the connection ends after the response: more of the body may come. */
	isLast = false;
	outcome: RequestOutcome = NO_OPERATION;
	#state: RequestState = "new";

	constructor(
		message: IncomingMessage,
		response: ServerResponse,
		{
			id,
			mediaType,
			encoding,
		}: Pick<GraphqlRequest, "id" | "mediaType" | "encoding">,
	) {
		const { method, url = "" } = message;
		this.message = message;
		this.response = response;
		this.id = id;
		this.mediaType = mediaType;
		this.encoding = encoding;
		this.isGet = method !== "POST";
		this.search = this.isGet ? searchOf(url) : "";
		this.text = this.isGet ? url : null;
	}

	get state(): RequestState {
		return this.#state;
	}

	/** Throws a bug if it cannot be in that state next. */
	enter(state: RequestState): void {
		if (!NEXT_STATES[this.#state].includes(state)) {
			throw new Error(`A request that is ${this.#state} cannot be ${state}.`);
		}
		this.#state = state;
	}
}

/** The response to a request, before caching headers and compression. */
export interface Reply {
	readonly status: Status;
	readonly mediaType: string;
	/** Names and values in turn. */
	readonly headers: readonly string[];
	/** Which caches may store it; null for none. */
	readonly cacheScope: ResponseSummary["cacheScope"];
	/** In place of `no-store` if no cache may store it. */
	readonly cacheControl?: string | undefined;
	readonly body: Body;
}

/** Ends a request with a reply, or leaves it to the next step. */
export type RequestStep = (
	request: GraphqlRequest,
) => MaybePromise<Reply | null>;

/** The reply to a request that no GraphQL server handles; message and status default to those of the code. */
export function refusal(
	request: GraphqlRequest,
	code: ErrorCode,
	message: string = ERRORS[code].message,
	status: number = ERRORS[code].status,
	headers: readonly string[] = [],
): Reply {
	return errorReply(request, status, errorBody(code, message), headers);
}

/** The reply with this text of errors. */
export function errorReply(
	{ mediaType }: GraphqlRequest,
	status: number,
	text: string,
	headers: readonly string[] = [],
): Reply {
	return {
		status: { code: status },
		// A client that accepts neither type still gets the reason.
		mediaType: mediaType ?? JSON_TYPE,
		headers:
			status === 503 ? [...headers, "retry-after", RETRY_AFTER] : headers,
		cacheScope: null,
		body: newBody(text),
	};
}
