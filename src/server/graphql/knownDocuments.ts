import { setTimeout as sleep } from "node:timers/promises";
import { getOperationAST, type OperationDefinitionNode } from "graphql";
import {
	andThen,
	isPromise,
	type MaybePromise,
} from "../../util/maybePromise.ts";
import type { Identity } from "../auth/identity.ts";
import type { Documents } from "../documents/documents.ts";
import { codesOf, errorIdsOf } from "../http/requestOutcome.ts";
import { newResponseSummary } from "../http/responseSummary.ts";
import { statusOf } from "../http/status.ts";
import { requestsCost } from "../limits/costMeter.ts";
import type { RequestDeadline } from "../limits/deadline.ts";
import {
	exceededByVariables,
	REQUEST_LIMITS,
} from "../limits/requestLimits.ts";
import { type AnswerCache, isUsable, type KeptAnswer } from "./answerCache.ts";
import { newBody } from "./body.ts";
import { requestsExplain } from "./explainAccess.ts";
import {
	findKnownRequest,
	type KnownRequest,
	parametersIn,
} from "./knownRequest.ts";
import type { GraphqlRequest, Reply, RequestStep } from "./request.ts";
import {
	countUnknownDocument,
	formatErrors,
	measuredDocument,
	type OperationResult,
	responseText,
	runOperation,
	type SenderContext,
	type StepOptions,
	senderContextOf,
	summarizeResponse,
} from "./requestSteps.ts";

/** How long a request waits for an equal one. Milliseconds. */
const WAIT_MS = 50;

interface KnownDocumentsOptions extends StepOptions {
	readonly answers: AnswerCache;
}

/** A request that can run. */
interface Runnable extends KnownRequest {
	readonly operation: OperationDefinitionNode;
}

/**
 * Steps that answer requests for known documents, sent as clients send them: to
 * parse and check such a document again costs more than to run it. A request that
 * is not plain, or that is going to be rejected before it runs, is left to Apollo,
 * which says what is wrong with it. Both run what they run with requestSteps.ts,
 * and their answers have the same bytes.
 *
 * A request looks for an answer that was kept (`look`), waits for another one that
 * is the same and reads what has changed (`awaitSame`), or runs (`run`). Its state
 * says which of them it has done (`RequestState`).
 */
export class KnownDocuments {
	readonly #options: KnownDocumentsOptions;
	/** By request, one of those whose kept answer has ended, until it has read again. */
	readonly #running = new Map<string, Promise<void>>();

	constructor(options: KnownDocumentsOptions) {
		this.#options = options;
	}

	/** Replies with the answer that was kept for this request, if it is still valid. */
	look(request: GraphqlRequest): MaybePromise<Reply | null> {
		const { documents, answers } = this.#options;
		const { text, isGet, message } = request;
		const identity = plainIdentityOf(request);
		if (identity === null || text === null || requestsCost(message)) {
			return null;
		}
		if (this.#documentsOf(identity) !== documents) return null;
		const key =
			request.answerKey ?? answers.keyOf(identity.viewer, isGet, text);
		request.answerKey = key;
		const kept = key === null ? null : answers.get(key, documents);
		return kept === null || (kept.hasText && !passesCsrfCheck(request))
			? null
			: this.#reuse(identity, request, kept);
	}

	/**
	 * Waits for a request that is the same and reads what has changed, and looks
	 * then, as if the request came then: what was read is in the process, and the
	 * answer of the other one is kept.
	 */
	readonly awaitSame: RequestStep = (request) => {
		const { answerKey: key } = request;
		const running = key === null ? undefined : this.#running.get(key.request);
		if (running === undefined || this.#findFor(request) === null) return null;
		request.enter("waited");
		request.answerKey = null;
		return running.then(() => this.look(request));
	};

	/** Runs the document that the request names, if it is known. */
	readonly run: RequestStep = (request) => {
		const { execute, answers, ways } = this.#options;
		const { revision } = this.#options.documents;
		const { isGet, answerKey: key } = request;
		const known = this.#findFor(request);
		if (known === null) return null;
		const { identity, documents, found } = known;
		if (!isGet && exceededByVariables(found.variables) !== null) return null;
		request.enter("running");
		const context = senderContextOf(this.#options, request, identity);
		ways.short++;
		const { document, operationName, variables, text, operation } = found;
		const name = operation.name?.value ?? null;
		countUnknownDocument(documents, found.sha256, name);
		const result = runOperation(execute, {
			document,
			operationName,
			variables,
			source: text,
			deadline: request.deadline as RequestDeadline,
			recordsReads:
				key !== null &&
				operation.operation === "query" &&
				answers.isWorthKeeping(key),
			...context,
		});
		if (key?.hasEnded && isPromise(result)) this.#lead(key.request, result);
		return andThen(result, (returned) =>
			this.#respond(
				request,
				{ ...found, revision },
				context,
				returned,
				documents,
			),
		);
	};

	/** What it reads may be on a host that is away: nobody waits for it long. */
	#lead(request: string, result: Promise<unknown>): void {
		const read = Promise.race([result, sleep(WAIT_MS)]).then(() => {
			if (this.#running.get(request) === read) this.#running.delete(request);
		});
		this.#running.set(request, read);
	}

	/** Operators have documents of their own. */
	#documentsOf({ isOperator }: Identity): Documents {
		const { documents, operatorDocuments } = this.#options;
		return isOperator ? (operatorDocuments ?? documents) : documents;
	}

	/** Null if the budget does not suffice (to run it says why), or the answer is not valid any more. */
	#reuse(
		identity: Identity,
		request: GraphqlRequest,
		kept: KeptAnswer,
	): MaybePromise<Reply | null> {
		const { budget, documents } = this.#options;
		const { viewer } = identity;
		if (budget === null) return this.#replyWith(identity, request, kept);
		const { costMeter } = senderContextOf(this.#options, request, identity);
		const admitted = costMeter.admit(kept.cost);
		return andThen(admitted, (error) => {
			if (error !== null) return null;
			// Something may have changed while Redis was asked.
			if (isPromise(admitted) && !isUsable(kept, viewer, documents)) {
				costMeter.recordReads(0);
				return null;
			}
			costMeter.recordReads(kept.reuse.reads);
			return this.#replyWith(identity, request, kept);
		});
	}

	#replyWith(
		identity: Identity,
		request: GraphqlRequest,
		kept: KeptAnswer,
	): Reply {
		const { documents, ways } = this.#options;
		countUnknownDocument(documents, kept.sha256, kept.operationName);
		ways.short++;
		ways.reused++;
		request.outcome = {
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
		return {
			status: OK,
			mediaType: request.mediaType as string,
			headers: [],
			cacheScope: request.isGet
				? identity.viewer !== null ||
					request.message.headers.authorization !== undefined ||
					kept.dependsOnViewer
					? "private"
					: "public"
				: null,
			body: kept.body,
		};
	}

	#respond(
		request: GraphqlRequest,
		found: Runnable & Pick<KeptAnswer, "revision">,
		{ viewer, costMeter, record }: SenderContext,
		{ data, errors, extensions, reuse }: OperationResult,
		/** In which the sender's document was looked for. */
		ownDocuments: Documents,
	): Reply {
		const { log, mode, dependsOnViewer, usesOf, httpStatus } = this.#options;
		const { answers, documents } = this.#options;
		const { message, isGet, answerKey: key } = request;
		const { operation, sha256, hasText, revision } = found;
		const exposesSchema = mode === "development" || ownDocuments !== documents;
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
			isGet,
			operation,
			isPrivate: () =>
				viewer !== null ||
				message.headers.authorization !== undefined ||
				dependsOnViewer(found),
		});
		const { cacheScope } = summary;
		const cost = costMeter.admitted;
		const name = operation.name?.value ?? null;
		const uses = cost === null ? null : usesOf(found);
		request.outcome = {
			way: "short",
			isText: hasText,
			type: operation.operation,
			operation: name,
			sha256: measuredDocument(documents, sha256),
			codes: codesOf(formatted.errors),
			errorIds: errorIdsOf(formatted.errors),
			cost,
			record,
			uses,
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
				revision,
				sha256,
				operationName: name,
				uses,
				hasText,
				dependsOnViewer: dependsOnViewer(found),
				body,
			});
		}
		const mediaType = request.mediaType as string;
		return {
			status: statusOf(formatted.status ?? 200, mediaType, summary, httpStatus),
			mediaType,
			headers: [...formatted.headers].flat(),
			cacheScope,
			body,
		};
	}

	/** The document that the request names, with who sent it; null for a request that Apollo is to answer. */
	#findFor(request: GraphqlRequest): {
		readonly identity: Identity;
		readonly documents: Documents;
		readonly found: Runnable;
	} | null {
		const identity = plainIdentityOf(request);
		if (identity === null) return null;
		const documents = this.#documentsOf(identity);
		const found = this.#find(request, documents);
		return found === null ? null : { identity, documents, found };
	}

	#find(request: GraphqlRequest, documents: Documents): Runnable | null {
		const { isGet, search, body } = request;
		const parameters = isGet ? parametersIn(search) : body;
		const known = findKnownRequest(parameters, documents);
		if (known === null) return null;
		if (known.hasText) {
			if (!passesCsrfCheck(request)) return null;
			if (known.text.length > REQUEST_LIMITS.characters) return null;
		}
		const operation = getOperationAST(known.document, known.operationName);
		if (!operation || !this.#options.schema.getRootType(operation.operation)) {
			return null;
		}
		if (isGet && operation.operation !== "query") return null;
		return { ...known, operation };
	}
}

const OK = { code: 200 };

const NO_ERRORS = { errors: [], status: null, headers: new Map() } as const;

/** Who sent a request that is as clients send it; null for every other one. */
function plainIdentityOf({
	message,
	isGet,
	mediaType,
	text,
	identity,
}: GraphqlRequest): Identity | null {
	if (identity === null || "error" in identity) return null;
	if (mediaType === null || text === null) return null;
	if (isGet && message.headers["content-type"] !== undefined) return null;
	return requestsExplain(message) ? null : identity;
}

/** Apollo's CSRF prevention, of requests with a document's text. */
function passesCsrfCheck({
	isGet,
	message: { headers },
}: GraphqlRequest): boolean {
	return (
		!isGet ||
		Boolean(
			headers["apollo-require-preflight"] || headers["x-apollo-operation-name"],
		)
	);
}
