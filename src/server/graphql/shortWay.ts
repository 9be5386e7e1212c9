import type { IncomingMessage, ServerResponse } from "node:http";
import { getOperationAST, type OperationDefinitionNode } from "graphql";
import {
	andThen,
	isPromise,
	type MaybePromise,
} from "../../util/maybePromise.ts";
import type { Identity } from "../auth/identity.ts";
import type { Documents } from "../documents/documents.ts";
import { internalError } from "../http/clientError.ts";
import { decodeBody } from "../http/jsonBody.ts";
import type { RequestHeadReader } from "../http/requestHead.ts";
import {
	codesOf,
	errorIdsOf,
	NO_OPERATION,
	type RequestOutcome,
} from "../http/requestOutcome.ts";
import { newResponseSummary } from "../http/responseSummary.ts";
import { type HttpStatus, statusOf } from "../http/status.ts";
import type { Ways } from "../http/ways.ts";
import {
	type CountedRequest,
	type ReadBody,
	recordWorkDone,
} from "../http/workDone.ts";
import { requestsCost } from "../limits/costMeter.ts";
import { RequestDeadline } from "../limits/deadline.ts";
import { countRequest, type RateLimit } from "../limits/rateLimit.ts";
import { REQUEST_LIMITS } from "../limits/requestLimits.ts";
import type { RequestsInProgress } from "../limits/requestsInProgress.ts";
import type { AnswerCache, KeptAnswer } from "./answerCache.ts";
import {
	findKnownRequest,
	type KnownRequest,
	parametersIn,
	parametersOf,
} from "./knownRequest.ts";
import {
	type Admitted,
	admitRequest,
	countUnknownDocument,
	formatErrors,
	identifySender,
	measuredDocument,
	type OperationResult,
	recordSender,
	responseText,
	runOperation,
	type Sender,
	type StepOptions,
	summarizeResponse,
} from "./requestSteps.ts";
import {
	type Exchange as AnyExchange,
	newBody,
	ResponseSender,
	type SenderOptions,
} from "./responseSender.ts";

export interface ShortWayOptions extends StepOptions, SenderOptions {
	readonly heads: RequestHeadReader;
	readonly documents: Documents;
	/** Null where there are no operators. */
	readonly operatorDocuments: Documents | null;
	readonly rateLimit: RateLimit | null;
	readonly requestsInProgress: RequestsInProgress;
	readonly executionMs: number;
	readonly httpStatus: HttpStatus;
	readonly answers: AnswerCache;
	readonly ways: Ways;
}

interface Exchange extends AnyExchange {
	readonly handOver: () => void;
	counted: CountedRequest | null;
	outcome: RequestOutcome;
	body: ReadBody | null;
	sender: Sender | null;
	/** The body, or the URL of a GET. */
	text: string;
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
	readonly #sender: ResponseSender;

	constructor(options: ShortWayOptions) {
		this.#options = options;
		this.#sender = new ResponseSender(options);
	}

	/** Whether it takes the request, or at least its body. */
	handle(
		message: IncomingMessage,
		response: ServerResponse,
		handOver: () => void,
	): boolean {
		const { http, heads, requestsInProgress, rateLimit } = this.#options;
		if (http.shutdown.isDraining || !requestsInProgress.hasPlace) return false;
		const head = heads.read(message);
		if (head === null) return false;
		const { startSpan } = this.#options;
		const arrivedAt = performance.now();
		const exchange: Exchange = {
			message,
			response,
			handOver,
			head,
			arrivedAt,
			span: startSpan === null ? null : startSpan(message.headers, arrivedAt),
			counted: null,
			outcome: NO_OPERATION,
			body: null,
			sender: null,
			text: head.isGet ? (message.url as string) : "",
		};
		if (rateLimit === null) {
			this.#receive(exchange);
			return true;
		}
		const counted = countRequest(rateLimit, this.#options.addressOf(message));
		const receive = (result: CountedRequest) => {
			exchange.counted = result;
			if (result.error === null) this.#receive(exchange);
			else handOverDone(exchange);
		};
		if (isPromise(counted)) counted.then(receive, () => handOverDone(exchange));
		else receive(counted);
		return true;
	}

	#receive(exchange: Exchange): void {
		if (exchange.head.isGet) {
			this.#start(exchange);
			return;
		}
		this.#options.http.bodies.read(exchange.message, (error, bytes) => {
			exchange.body = { error, bytes };
			const text = error === null ? textOf(bytes) : null;
			if (text === null) {
				handOverDone(exchange);
				return;
			}
			exchange.text = text;
			this.#start(exchange);
		});
	}

	#start(exchange: Exchange): void {
		const { requestsInProgress } = this.#options;
		if (!requestsInProgress.hasPlace) {
			handOverDone(exchange);
			return;
		}
		requestsInProgress.enter();
		const finish = (isAnswered: boolean) => {
			requestsInProgress.leave();
			if (isAnswered) this.#options.ways.short++;
			else handOverDone(exchange);
		};
		const fail = (bug: unknown) => {
			finish(true);
			this.#sendFailure(exchange, bug);
		};
		let answered: MaybePromise<boolean>;
		try {
			answered = this.#answer(exchange);
		} catch (bug) {
			fail(bug);
			return;
		}
		if (isPromise(answered)) answered.then(finish, fail);
		else finish(answered);
	}

	/** False if the request is not for a known document, or is rejected before it runs. */
	#answer(exchange: Exchange): MaybePromise<boolean> {
		const { message, response } = exchange;
		const deadline = new RequestDeadline(
			response,
			this.#options.executionMs,
			performance.now(),
		);
		let identity: MaybePromise<Identity>;
		try {
			identity = identifySender(this.#options, message, deadline);
		} catch (error) {
			exchange.sender = { error };
			return false;
		}
		return isPromise(identity)
			? identity.then(
					(sender) => this.#answerTo(sender, exchange, deadline),
					(error) => {
						exchange.sender = { error };
						return false;
					},
				)
			: this.#answerTo(identity, exchange, deadline);
	}

	#answerTo(
		identity: Identity,
		exchange: Exchange,
		deadline: RequestDeadline,
	): MaybePromise<boolean> {
		const { documents, operatorDocuments, answers } = this.#options;
		const { head, message, text } = exchange;
		exchange.sender = identity;
		if (identity.isOperator && operatorDocuments !== null) {
			const own = this.#find(exchange, operatorDocuments);
			if (own === null) return false;
			return this.#run(identity, exchange, own, deadline, operatorDocuments);
		}
		const key = requestsCost(message)
			? null
			: answers.keyOf(identity.viewer, head.isGet, text);
		const kept = key === null ? null : answers.get(key, documents);
		const reused =
			kept !== null &&
			(!kept.hasText || passesCsrfCheck(exchange)) &&
			this.#reuse(identity, exchange, kept);
		return andThen(reused, (isAnswered) => {
			if (isAnswered) return true;
			const found = this.#find(exchange);
			return (
				found !== null &&
				this.#run(identity, exchange, found, deadline, documents, key)
			);
		});
	}

	/** False if the budget does not suffice (to run it says why), or the answer is not valid any more. */
	#reuse(
		identity: Identity,
		exchange: Exchange,
		kept: KeptAnswer,
	): MaybePromise<boolean> {
		const { budget, documents, ways } = this.#options;
		const send = () => {
			countUnknownDocument(documents, kept.sha256, kept.operationName);
			ways.reused++;
			exchange.outcome = {
				way: "reused",
				isText: kept.hasText,
				type: "query",
				operation: kept.operationName,
				sha256: measuredDocument(documents, kept.sha256),
				codes: [],
				errorIds: [],
				cost: kept.cost,
				record: null,
				uses: kept.uses,
			};
			const scope = exchange.head.isGet
				? kept.isPrivate
					? "private"
					: "public"
				: null;
			return andThen(
				this.#sender.send(exchange, OK, scope, [], kept.body),
				() => true,
			);
		};
		if (budget === null) return send();
		const { costMeter } = admitRequest(
			this.#options,
			exchange.message,
			undefined,
			identity,
			exchange.span,
		);
		const admitted = costMeter.admit(kept.cost);
		return andThen(admitted, (error) => {
			if (error !== null) return false;
			// Something may have changed while Redis was asked.
			if (isPromise(admitted) && !kept.reuse.isValid()) {
				costMeter.recordReads(0);
				return false;
			}
			costMeter.recordReads(kept.reuse.reads);
			return send();
		});
	}

	#run(
		identity: Identity,
		exchange: Exchange,
		found: Runnable,
		deadline: RequestDeadline,
		documents: Documents,
		/** Under which the answer may be kept; null for not at all. */
		key: string | null = null,
	): MaybePromise<boolean> {
		const { execute, mode, answers } = this.#options;
		const { head, message } = exchange;
		let admitted: Admitted;
		try {
			admitted = admitRequest(
				this.#options,
				message,
				head.isGet ? undefined : { variables: found.variables },
				identity,
				exchange.span,
			);
		} catch {
			return false;
		}
		const { document, operationName, variables, text, operation } = found;
		const name = operation.name?.value ?? null;
		countUnknownDocument(documents, found.sha256, name);
		const result = runOperation(execute, {
			document,
			operationName,
			variables,
			source: text,
			deadline,
			recordsReads:
				key !== null &&
				operation.operation === "query" &&
				answers.isWorthKeeping(key),
			viewer: admitted.viewer,
			explain: admitted.explain,
			costMeter: admitted.costMeter,
			record: admitted.record,
		});
		const exposesSchema =
			mode === "development" || documents !== this.#options.documents;
		return andThen(result, (returned) =>
			this.#respond(exchange, found, admitted, returned, exposesSchema, key),
		);
	}

	#respond(
		exchange: Exchange,
		{
			operation,
			document,
			operationName,
			variables,
			sha256,
			hasText,
		}: Runnable,
		{ viewer, costMeter, record }: Admitted,
		{ data, errors, extensions, reuse }: OperationResult,
		exposesSchema: boolean,
		key: string | null,
	): MaybePromise<boolean> {
		const { log, dependsOnViewer, usesOf, httpStatus, answers, documents } =
			this.#options;
		const { message, head } = exchange;
		const formatted =
			errors.length === 0
				? NO_ERRORS
				: formatErrors(errors, { log, hideSuggestions: !exposesSchema });
		const body = newBody(responseText(formatted.errors, data, extensions));
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
		const { cacheScope } = summary;
		const cost = costMeter.admitted;
		const name = operation.name?.value ?? null;
		exchange.outcome = {
			way: "short",
			isText: hasText,
			type: operation.operation,
			operation: name,
			sha256: measuredDocument(documents, sha256),
			codes: codesOf(formatted.errors),
			errorIds: errorIdsOf(formatted.errors),
			cost,
			record,
			uses: cost === null ? null : usesOf({ document, operationName }),
		};
		if (
			key !== null &&
			reuse !== undefined &&
			cost !== null &&
			errors.length === 0 &&
			extensions === undefined
		) {
			answers.set(key, {
				reuse,
				cost,
				revision: documents.revision,
				sha256,
				operationName: name,
				uses: exchange.outcome.uses,
				hasText,
				isPrivate: cacheScope !== "public",
				body,
			});
		}
		const status = statusOf(
			formatted.status ?? 200,
			head.mediaType,
			summary,
			httpStatus,
		);
		const headers = [...formatted.headers].flat();
		return andThen(
			this.#sender.send(exchange, status, cacheScope, headers, body),
			() => true,
		);
	}

	#find(
		exchange: Exchange,
		documents: Documents = this.#options.documents,
	): Runnable | null {
		const { head, text } = exchange;
		const parameters = head.isGet ? parametersOf(text) : parametersIn(text);
		if (parameters === null) return null;
		const known = findKnownRequest(parameters, documents);
		if (known === null) return null;
		if (known.hasText) {
			if (!passesCsrfCheck(exchange)) return null;
			if (known.text.length > REQUEST_LIMITS.characters) return null;
		}
		const operation = getOperationAST(known.document, known.operationName);
		if (!operation || !this.#options.schema.getRootType(operation.operation)) {
			return null;
		}
		if (head.isGet && operation.operation !== "query") return null;
		return { ...known, operation };
	}

	/** A bug: Fastify cannot run the operation a second time. */
	#sendFailure(exchange: Exchange, bug: unknown): void {
		const error = internalError(bug, this.#options.log);
		if (exchange.response.headersSent) return;
		exchange.outcome = {
			...exchange.outcome,
			codes: codesOf([error]),
			errorIds: errorIdsOf([error]),
		};
		const body = newBody(JSON.stringify({ errors: [error] }));
		this.#sender.send(exchange, { code: 500 }, null, [], body);
	}
}

const OK = { code: 200 };

const NO_ERRORS = { errors: [], status: null, headers: new Map() } as const;

function textOf(bytes: Buffer): string | null {
	try {
		return decodeBody(bytes);
	} catch {
		return null;
	}
}

/** Apollo's CSRF prevention, of requests with a document's text. */
function passesCsrfCheck({ head, message: { headers } }: Exchange): boolean {
	return (
		!head.isGet ||
		Boolean(
			headers["apollo-require-preflight"] || headers["x-apollo-operation-name"],
		)
	);
}

function handOverDone({
	message,
	arrivedAt,
	counted,
	body,
	sender,
	span,
	handOver,
}: Exchange): void {
	recordWorkDone(message, { arrivedAt, counted, body, span });
	if (sender !== null) recordSender(message, sender);
	handOver();
}
