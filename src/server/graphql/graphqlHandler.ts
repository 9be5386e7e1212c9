import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import { BoundedMap } from "../../util/boundedMap.ts";
import {
	andThen,
	isPromise,
	type MaybePromise,
} from "../../util/maybePromise.ts";
import type { TrustProxy } from "../http/address.ts";
import { internalError } from "../http/clientError.ts";
import type { BodyReader } from "../http/content/bodyReader.ts";
import { encodingFor } from "../http/content/compression.ts";
import {
	decodeBody,
	encodingError,
	hasBody,
	isJson,
	parseJson,
} from "../http/content/jsonBody.ts";
import { isGraphqlRequest, negotiatedType } from "../http/content/mediaType.ts";
import type { AllowedOrigins } from "../http/cors.ts";
import { messageOf } from "../http/errorResponses.ts";
import {
	arrivalError,
	type FirstHandler,
	requestId,
	type Shutdown,
} from "../http/httpApp.ts";
import { HttpError } from "../http/httpError.ts";
import { Remembered } from "../http/remembered.ts";
import { codesOf, errorIdsOf } from "../http/requestOutcome.ts";
import { type Admission, NO_PLACE } from "../limits/admission.ts";
import { budgetKeyOf } from "../limits/budget.ts";
import { RequestDeadline } from "../limits/deadline.ts";
import { countRequest, type RateLimit } from "../limits/rateLimit.ts";
import type { KnownDocuments } from "./knownDocuments.ts";
import { QuickRefusal } from "./quickRefusal.ts";
import {
	errorReply,
	GraphqlRequest,
	type Reply,
	type RequestStep,
	refusal,
} from "./request.ts";
import { findIdentity, type StepOptions } from "./requestSteps.ts";
import type { ResponseSender } from "./responseSender.ts";

/** Most memory for the headers by which senders are known before their tokens are verified. */
const MAX_HEADER_BYTES = 4 * 1_024 * 1_024;

interface HandlerOptions
	extends Pick<StepOptions, "identify" | "addressOf" | "startSpan"> {
	readonly log: FastifyBaseLogger;
	readonly shutdown: Shutdown;
	readonly bodies: BodyReader;
	readonly trustProxy: TrustProxy | null;
	readonly origins: AllowedOrigins;
	readonly compression: boolean;
	readonly requestIdHeader: string | null;
	readonly rateLimit: RateLimit | null;
	readonly admission: Admission;
	readonly executionMs: number;
	readonly responseSender: ResponseSender;
	/** The steps for known documents; null if none is known. */
	readonly known: KnownDocuments | null;
	/** Replies to every request that is left. */
	readonly runByApollo: RequestStep;
}

/**
 * Takes each GraphQL request through a list of steps, on Node's HTTP server
 * itself: what a framework does for each request costs more than a small query.
 * The first step that has a reply ends the request.
 */
export class GraphqlHandler implements FirstHandler {
	readonly #options: HandlerOptions;
	/** Before the body is read. */
	readonly #onArrival: readonly RequestStep[];
	/** When the body is there. They take hardly any work: many such requests may wait for their start. */
	readonly #onRead: readonly RequestStep[];
	/** When it is the request's turn. */
	readonly #onStart: readonly RequestStep[];
	/** Keys of viewers, by the `Authorization` header that they sent. */
	readonly #keysByHeader = new BoundedMap<string>({
		maxWeight: MAX_HEADER_BYTES,
		weigh: (key, header) => 2 * (key.length + header.length),
	});
	readonly #refusal: QuickRefusal;
	readonly #mediaTypes = new Remembered(negotiatedType);
	readonly #encodings = new Remembered(encodingFor);

	constructor(options: HandlerOptions) {
		this.#options = options;
		this.#refusal = new QuickRefusal(options.origins);
		this.#onArrival = [
			(request) => this.#arrive(request),
			(request) => this.#count(request),
			(request) => this.#checkHead(request),
		];
		const { known } = options;
		this.#onRead = [
			(request) => this.#takePlace(request),
			(request) => this.#identify(request),
			(request) => this.#lookEarly(request),
		];
		this.#onStart = [
			(request) => this.#look(request),
			(request) => this.#parse(request),
			...(known === null ? [] : [known.awaitSame, known.run]),
			(request) => {
				request.enter("running");
				return options.runByApollo(request);
			},
		];
	}

	takes(message: IncomingMessage): boolean {
		return isGraphqlRequest(message);
	}

	get isBusy(): boolean {
		const { admission, shutdown } = this.#options;
		return admission.isBusy && !shutdown.isDraining;
	}

	refuses(message: IncomingMessage): string | null {
		return this.#options.admission.isRefused(() => this.#keyOf(message))
			? this.#refusal.of(message, this.#idOf(message))
			: null;
	}

	handle(message: IncomingMessage, response: ServerResponse): void {
		const { headers } = message;
		const { compression } = this.#options;
		const request = new GraphqlRequest(message, response, {
			id: this.#idOf(message),
			mediaType: this.#mediaTypes.get(headers.accept),
			encoding:
				compression && headers["x-no-compression"] === undefined
					? this.#encodings.get(headers["accept-encoding"] as string)
					: null,
		});
		const reply = this.#runSteps(request, this.#onArrival);
		if (isPromise(reply)) reply.then((late) => this.#read(request, late));
		else this.#read(request, reply);
	}

	#idOf({ headers }: IncomingMessage): string {
		const { requestIdHeader: name } = this.#options;
		return requestId(name === null ? undefined : headers[name]);
	}

	/** After the steps on arrival. Callbacks, because a request that is answered from memory takes no promise. */
	#read(request: GraphqlRequest, reply: Reply | null): void {
		const { message, isGet } = request;
		if (reply !== null) {
			this.#finish(request, reply);
		} else if (isGet || !hasBody(message.headers)) {
			this.#prepare(request);
		} else {
			this.#options.bodies.read(message, (error, bytes) => {
				const refused = acceptBody(request, error, bytes);
				if (refused !== null) this.#finish(request, refused);
				else this.#prepare(request);
			});
		}
	}

	#prepare(request: GraphqlRequest): void {
		const reply = this.#runSteps(request, this.#onRead);
		if (isPromise(reply)) reply.then((late) => this.#awaitStart(request, late));
		else this.#awaitStart(request, reply);
	}

	#awaitStart(request: GraphqlRequest, reply: Reply | null): void {
		if (reply !== null) {
			this.#finish(request, reply);
			return;
		}
		const { admission, addressOf } = this.#options;
		const { identity, message, response } = request;
		const { authorization } = message.headers;
		const viewer =
			identity === null || "error" in identity ? null : identity.viewer;
		const key = budgetKeyOf(viewer, () => addressOf(message));
		if (
			viewer !== null &&
			authorization !== undefined &&
			this.#keysByHeader.get(authorization) !== key
		) {
			this.#keysByHeader.set(authorization, key);
		}
		const refuse = () => this.#finish(request, refusal(request, ...NO_PLACE));
		admission.awaitStart(key, {
			start: () => {
				request.startedFor = key;
				// Nobody reads what the reply of a client that has left says.
				if (response.destroyed) refuse();
				else this.#finish(request, this.#runSteps(request, this.#onStart));
			},
			refuse,
		});
	}

	#finish(request: GraphqlRequest, reply: MaybePromise<Reply | null>): void {
		const { log, responseSender, admission } = this.#options;
		const end = () => {
			if (request.isInProgress) admission.leave(request.startedFor);
		};
		const fail = (bug: unknown) => {
			internalError(bug, log);
			request.response.destroy();
			end();
		};
		try {
			const sent = andThen(reply, (known) => {
				request.enter("done");
				return responseSender.send(request, known as Reply);
			});
			if (isPromise(sent)) sent.then(end, fail);
			else end();
		} catch (bug) {
			fail(bug);
		}
	}

	/** The reply of the first step that has one. The last of `#onStart` always has one. Neither throws nor rejects. */
	#runSteps(
		request: GraphqlRequest,
		steps: readonly RequestStep[],
		from = 0,
	): MaybePromise<Reply | null> {
		try {
			for (let at = from; at < steps.length; at++) {
				const reply = (steps[at] as RequestStep)(request);
				if (isPromise(reply)) {
					return reply.then(
						(late) => late ?? this.#runSteps(request, steps, at + 1),
						(thrown) => this.#failure(request, thrown),
					);
				}
				if (reply !== null) return reply;
			}
			return null;
		} catch (thrown) {
			return this.#failure(request, thrown);
		}
	}

	/** What is no HttpError is a bug. */
	#failure(request: GraphqlRequest, thrown: unknown): Reply {
		if (thrown instanceof HttpError) {
			const { code, message, statusCode } = thrown;
			return refusal(request, code, message, statusCode);
		}
		const error = internalError(thrown, this.#options.log);
		request.outcome = {
			...request.outcome,
			codes: codesOf([error]),
			errorIds: errorIdsOf([error]),
		};
		return errorReply(request, 500, JSON.stringify({ errors: [error] }));
	}

	/** Rejects by the state of the process, before any work is done. */
	#arrive(request: GraphqlRequest): Reply | null {
		const { shutdown, trustProxy, admission } = this.#options;
		const error = arrivalError(request.message, shutdown, trustProxy);
		if (error !== null) return refusal(request, ...error);
		return admission.isRefused(() => this.#keyOf(request.message))
			? refusal(request, ...NO_PLACE)
			: null;
	}

	/** Who sent it, as far as that is known before the token is verified. */
	#keyOf(message: IncomingMessage): string {
		return (
			this.#keysByHeader.get(message.headers.authorization ?? "") ??
			budgetKeyOf(null, () => this.#options.addressOf(message))
		);
	}

	/** Counts it towards the rate limit of its address. */
	#count(request: GraphqlRequest): MaybePromise<Reply | null> {
		const { rateLimit, addressOf } = this.#options;
		if (rateLimit === null) return null;
		return andThen(
			countRequest(rateLimit, addressOf(request.message), request.levels),
			(over) => {
				if (over === null) return null;
				const { code, message, statusCode } = over.error;
				const headers = ["retry-after", over.retryAfter];
				return refusal(request, code, message, statusCode, headers);
			},
		);
	}

	/** Checks what its headers say of the body. */
	#checkHead(request: GraphqlRequest): Reply | null {
		const { startSpan } = this.#options;
		const { message, isGet, arrivedAt } = request;
		const { headers } = message;
		if (startSpan !== null) request.span = startSpan(headers, arrivedAt);
		const unsupported = encodingError(headers);
		if (unsupported !== null) {
			const { message, accepted } = unsupported;
			return refusal(request, "BAD_REQUEST", message, 415, accepted);
		}
		return isGet || !hasBody(headers) || isJson(headers["content-type"])
			? null
			: refusal(request, "BAD_REQUEST", messageOf(415), 415);
	}

	/** Takes a place among those in progress: only now, as clients may send slowly. */
	#takePlace(request: GraphqlRequest): Reply | null {
		const { admission, executionMs } = this.#options;
		if (admission.isFull()) return refusal(request, ...NO_PLACE);
		admission.enter();
		request.isInProgress = true;
		request.deadline = new RequestDeadline(
			request.response,
			executionMs,
			performance.now(),
		);
		return null;
	}

	/** Finds out who sent it. A sender without a valid token is refused later: other mistakes of the request are named first. */
	#identify(request: GraphqlRequest): MaybePromise<null> {
		const refuse = (error: unknown) => {
			request.identity = { error };
			return null;
		};
		try {
			const identity = findIdentity(
				this.#options,
				request.message,
				request.deadline as RequestDeadline,
			);
			if (isPromise(identity)) {
				return identity.then((found) => {
					request.identity = found;
					return null;
				}, refuse);
			}
			request.identity = identity;
			return null;
		} catch (error) {
			return refuse(error);
		}
	}

	/** Before its start a request looks for a kept answer if that takes no time from those that wait. */
	#lookEarly(request: GraphqlRequest): MaybePromise<Reply | null> {
		const { admission, known } = this.#options;
		const isLast = admission.waiting === 0;
		if (!admission.mayLookEarly()) return null;
		const reply = known?.look(request) ?? null;
		admission.countLook(reply !== null);
		if (isLast) request.enter("looked");
		return reply;
	}

	/** Looks for a kept answer at the start of a request, unless that was done for the last time. */
	#look(request: GraphqlRequest): MaybePromise<Reply | null> {
		if (request.state !== "new") return null;
		request.enter("looked");
		return this.#options.known?.look(request) ?? null;
	}

	#parse(request: GraphqlRequest): Reply | null {
		if (request.isGet || request.text === null) return null;
		try {
			request.body = parseJson(request.text);
			return null;
		} catch (error) {
			return refuseBody(request, error);
		}
	}
}

function acceptBody(
	request: GraphqlRequest,
	error: Error | null,
	bytes: Buffer,
): Reply | null {
	if (error !== null) return refuseBody(request, error);
	try {
		request.text = decodeBody(bytes);
		return null;
	} catch (invalid) {
		return refuseBody(request, invalid);
	}
}

/** The client may send more of such a body. */
function refuseBody(request: GraphqlRequest, error: unknown): Reply {
	request.isLast = true;
	return error instanceof HttpError
		? refusal(request, error.code, error.message, error.statusCode)
		: refusal(request, "BAD_REQUEST", messageOf("invalidJson"), 400);
}
