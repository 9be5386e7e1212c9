import type { IncomingMessage, ServerResponse } from "node:http";
import {
	type GraphQLFormattedError,
	getOperationAST,
	type OperationDefinitionNode,
} from "graphql";
import {
	andThen,
	isPromise,
	type MaybePromise,
} from "../../util/maybePromise.ts";
import type { Identity } from "../auth/identity.ts";
import type { Documents } from "../documents/documents.ts";
import { internalError } from "../http/clientError.ts";
import { COMPRESSED_BYTES, compressBody } from "../http/compression.ts";
import { type HttpApp, requestId } from "../http/httpApp.ts";
import { httpCachingOf, isNotModified } from "../http/httpCache.ts";
import { decodeBody } from "../http/jsonBody.ts";
import type { RequestHead, RequestHeadReader } from "../http/requestHead.ts";
import {
	newResponseSummary,
	type ResponseSummary,
} from "../http/responseSummary.ts";
import type { ResponseWriter } from "../http/responseWriter.ts";
import { type HttpStatus, type Status, statusOf } from "../http/status.ts";
import type { Ways } from "../http/ways.ts";
import {
	type CountedRequest,
	type ReadBody,
	recordWorkDone,
} from "../http/workDone.ts";
import { RequestDeadline } from "../limits/deadline.ts";
import { countRequest, type RateLimit } from "../limits/rateLimit.ts";
import { REQUEST_LIMITS } from "../limits/requestLimits.ts";
import type { RequestsInProgress } from "../limits/requestsInProgress.ts";
import {
	findKnownRequest,
	type KnownRequest,
	parametersIn,
	parametersOf,
} from "./knownRequest.ts";
import type { RequestContext } from "./operation.ts";
import {
	admitRequest,
	countUnknownDocument,
	formatErrors,
	identifySender,
	type OperationResult,
	responseText,
	runOperation,
	type StepOptions,
	summarizeResponse,
} from "./requestSteps.ts";

export interface ShortWayOptions extends StepOptions {
	readonly http: HttpApp;
	readonly heads: RequestHeadReader;
	readonly writer: ResponseWriter;
	readonly documents: Documents;
	/** Null where there are no operators. */
	readonly operatorDocuments: Documents | null;
	readonly requestIdHeader: string | null;
	readonly rateLimit: RateLimit | null;
	readonly requestsInProgress: RequestsInProgress;
	readonly executionMs: number;
	readonly httpStatus: HttpStatus;
	readonly httpMaxAge: number;
	readonly ways: Ways;
}

/** One request and its response. */
interface Exchange {
	readonly message: IncomingMessage;
	readonly response: ServerResponse;
	readonly handOver: () => void;
	readonly head: RequestHead;
	/** In milliseconds of `performance.now()`. */
	readonly arrivedAt: number;
	counted: CountedRequest | null;
	body: ReadBody | null;
}

/** A request that can run. */
interface Runnable extends KnownRequest {
	readonly operation: OperationDefinitionNode;
}

/**
 * Answers requests for known documents on the HTTP server itself: what Fastify
 * and Apollo do for each request costs more than such an operation. It takes
 * the same steps (requestSteps.ts) and sends the same bytes. Requests that are
 * not plain, or that are going to be rejected before they run, are handed over;
 * so nothing of them is decided here.
 */
export class ShortWay {
	readonly #options: ShortWayOptions;

	constructor(options: ShortWayOptions) {
		this.#options = options;
	}

	/** Whether it takes the request, or at least its body. */
	handle(
		message: IncomingMessage,
		response: ServerResponse,
		handOver: () => void,
	): boolean {
		const { http, heads, requestsInProgress, rateLimit } = this.#options;
		if (http.isDraining || !requestsInProgress.hasPlace) return false;
		const head = heads.read(message);
		if (head === null) return false;
		let parameters: Parameters | null = null;
		if (head.isGet) {
			parameters = parametersOf(message.url as string);
			if (parameters === null || this.#find(parameters, head, message) === null)
				return false;
		}
		const exchange: Exchange = {
			message,
			response,
			handOver,
			head,
			arrivedAt: performance.now(),
			counted: null,
			body: null,
		};
		if (rateLimit === null) {
			this.#receive(exchange, parameters);
			return true;
		}
		const counted = countRequest(rateLimit, this.#options.addressOf(message));
		const receive = (result: CountedRequest) => {
			exchange.counted = result;
			if (result.error === null) this.#receive(exchange, parameters);
			else handOverDone(exchange);
		};
		if (isPromise(counted)) counted.then(receive, () => handOverDone(exchange));
		else receive(counted);
		return true;
	}

	#receive(exchange: Exchange, parameters: Parameters | null): void {
		if (parameters !== null) {
			this.#start(exchange, parameters);
			return;
		}
		this.#options.http.bodies.read(exchange.message, (error, bytes) => {
			exchange.body = { error, bytes };
			const sent = error === null ? parametersInBytes(bytes) : null;
			if (sent === null) handOverDone(exchange);
			else this.#start(exchange, sent);
		});
	}

	#start(exchange: Exchange, parameters: Parameters): void {
		const { requestsInProgress, documents } = this.#options;
		const { head, message } = exchange;
		const runnable = this.#find(parameters, head, message, documents);
		if (runnable === null || !requestsInProgress.hasPlace) {
			handOverDone(exchange);
			return;
		}
		requestsInProgress.enter();
		const finish = (isAnswered: boolean) => {
			requestsInProgress.leave();
			if (!isAnswered) handOverDone(exchange);
		};
		const fail = (bug: unknown) => {
			finish(true);
			this.#sendFailure(exchange, bug);
		};
		let answered: MaybePromise<boolean>;
		try {
			answered = this.#answer(exchange, parameters, runnable);
		} catch (bug) {
			fail(bug);
			return;
		}
		if (isPromise(answered)) answered.then(finish, fail);
		else finish(answered);
	}

	#find(
		parameters: Parameters,
		{ isGet }: RequestHead,
		{ headers }: IncomingMessage,
		documents: Documents = this.#options.documents,
	): Runnable | null {
		const known = findKnownRequest(parameters, documents);
		if (known === null) return null;
		if (known.hasText) {
			// Apollo's CSRF prevention.
			if (isGet && !passesPreflight(headers)) return null;
			if (known.text.length > REQUEST_LIMITS.characters) return null;
		}
		const operation = getOperationAST(known.document, known.operationName);
		if (!operation || !this.#options.schema.getRootType(operation.operation)) {
			return null;
		}
		if (isGet && operation.operation !== "query") return null;
		return { ...known, operation };
	}

	/** False if the request is rejected before it runs. */
	#answer(
		exchange: Exchange,
		parameters: Parameters,
		runnable: Runnable,
	): MaybePromise<boolean> {
		const { message, response } = exchange;
		const deadline = new RequestDeadline(
			response,
			this.#options.executionMs,
			performance.now(),
		);
		let identity: MaybePromise<Identity>;
		try {
			identity = identifySender(this.#options, message, deadline);
		} catch {
			return false;
		}
		return isPromise(identity)
			? identity.then(
					(sender) =>
						this.#answerTo(sender, exchange, parameters, runnable, deadline),
					() => false,
				)
			: this.#answerTo(identity, exchange, parameters, runnable, deadline);
	}

	#answerTo(
		identity: Identity,
		exchange: Exchange,
		parameters: Parameters,
		runnable: Runnable,
		deadline: RequestDeadline,
	): MaybePromise<boolean> {
		const { documents, operatorDocuments, mode, execute } = this.#options;
		const { head, message } = exchange;
		const isOperator = identity.isOperator && operatorDocuments !== null;
		const own = isOperator ? operatorDocuments : documents;
		const found = isOperator
			? this.#find(parameters, head, message, own)
			: runnable;
		if (found === null) return false;
		let admitted: Pick<RequestContext, "viewer" | "explain" | "costMeter">;
		try {
			admitted = admitRequest(
				this.#options,
				message,
				head.isGet ? undefined : { variables: found.variables },
				identity,
			);
		} catch {
			return false;
		}
		countUnknownDocument(own, found.sha256, found.operation);
		const { document, operationName, variables, text } = found;
		const result = runOperation(
			execute,
			{
				document,
				operationName,
				variables,
				source: text,
				signal: deadline.signal,
				...admitted,
			},
			deadline,
		);
		return andThen(result, (returned) =>
			this.#send(
				exchange,
				found,
				admitted,
				returned,
				isOperator || mode === "development",
			),
		);
	}

	#send(
		exchange: Exchange,
		{ operation, document, operationName, variables }: Runnable,
		{ viewer }: Pick<RequestContext, "viewer">,
		{ data, errors, extensions }: OperationResult,
		exposesSchema: boolean,
	): MaybePromise<true> {
		const { log, dependsOnViewer, httpStatus, httpMaxAge } = this.#options;
		const { message, head } = exchange;
		const formatted =
			errors.length === 0
				? NO_ERRORS
				: formatErrors(errors, { log, hideSuggestions: !exposesSchema });
		const text = responseText(formatted.errors, data, extensions);
		const summary = newResponseSummary();
		summary.passedCsrfCheck = true;
		summarizeResponse(summary, {
			errors: formatted.errors,
			hasData: data !== null,
			isGet: head.isGet,
			operation,
			isPrivate: () =>
				viewer !== null ||
				message.headers.authorization !== undefined ||
				dependsOnViewer({ document, operationName, variables }),
		});
		const status = statusOf(
			formatted.status ?? 200,
			head.mediaType,
			summary,
			httpStatus,
		);
		return this.#sendText(exchange, {
			text,
			status,
			summary,
			headers: [...formatted.headers].flat(),
			maxAge: httpMaxAge,
		});
	}

	#sendText(
		exchange: Exchange,
		{
			text,
			status,
			summary,
			headers,
			maxAge,
		}: {
			readonly text: string;
			readonly status: Status;
			readonly summary: ResponseSummary;
			readonly headers: string[];
			readonly maxAge: number;
		},
	): MaybePromise<true> {
		const { message, head } = exchange;
		const caching = httpCachingOf(summary, status.code, text, maxAge);
		if (caching !== null) headers.push("etag", caching.etag);
		const cacheControl = caching?.cacheControl ?? "no-store";
		const isSent =
			caching !== null &&
			isNotModified(caching, message.headers["if-none-match"]);
		if (isSent) {
			const notModified = { code: 304 };
			this.#write(exchange, notModified, headers, cacheControl, null, null);
			return true;
		}
		const { encoding } = head;
		// At most three bytes a character.
		const isShort = text.length * 3 < COMPRESSED_BYTES;
		const bytes = encoding === null || isShort ? null : Buffer.from(text);
		if (bytes === null || bytes.length < COMPRESSED_BYTES) {
			this.#write(exchange, status, headers, cacheControl, text, null);
			return true;
		}
		return andThen(
			compressBody(bytes, encoding as "br" | "gzip"),
			(compressed) => {
				this.#write(
					exchange,
					status,
					headers,
					cacheControl,
					compressed,
					encoding,
				);
				return true as const;
			},
		);
	}

	#write(
		{ message, response, head, counted, arrivedAt }: Exchange,
		status: Status,
		headers: readonly string[],
		cacheControl: string,
		body: string | Buffer | null,
		encoding: "br" | "gzip" | null,
	): void {
		const { writer, http, ways, log, requestIdHeader } = this.#options;
		const id = requestId(message.headers[requestIdHeader ?? ""]);
		writer.write(response, {
			requestId: id,
			origin: message.headers.origin,
			isGet: head.isGet,
			mediaType: head.mediaType,
			status,
			cacheControl,
			headers: counted === null ? headers : [...counted.headers, ...headers],
			body,
			encoding,
			isLast: http.isDraining,
		});
		ways.short++;
		log.info(
			{
				reqId: id,
				method: message.method,
				route: "/graphql",
				status: status.code,
				ms: Math.round(performance.now() - arrivedAt),
			},
			"request completed",
		);
	}

	/** A bug: Fastify cannot run the operation a second time. */
	#sendFailure(exchange: Exchange, bug: unknown): void {
		const error: GraphQLFormattedError = internalError(bug, this.#options.log);
		if (exchange.response.headersSent) return;
		const text = JSON.stringify({ errors: [error] });
		this.#write(exchange, { code: 500 }, [], "no-store", text, null);
	}
}

type Parameters = Readonly<Record<string, unknown>>;

const NO_ERRORS = { errors: [], status: null, headers: new Map() } as const;

function parametersInBytes(bytes: Buffer): Parameters | null {
	try {
		return parametersIn(decodeBody(bytes));
	} catch {
		return null;
	}
}

function passesPreflight(headers: IncomingMessage["headers"]): boolean {
	return Boolean(
		headers["apollo-require-preflight"] || headers["x-apollo-operation-name"],
	);
}

function handOverDone({
	message,
	arrivedAt,
	counted,
	body,
	handOver,
}: Exchange): void {
	recordWorkDone(message, { arrivedAt, counted, body });
	handOver();
}
