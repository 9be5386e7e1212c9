import { fastifyApolloHandler } from "@as-integrations/fastify";
import type {
	FastifyInstance,
	FastifyReply,
	FastifyRequest,
	RouteHandlerMethod,
} from "fastify";
import type { Identity } from "../auth/identity.ts";
import type { Documents } from "../documents/documents.ts";
import { resolveDocument } from "../documents/resolveDocument.ts";
import { clientCodeOf, requestError } from "../http/clientError.ts";
import {
	COMPRESSED_BYTES,
	compressBody,
	encodingFor,
} from "../http/compression.ts";
import { sendError } from "../http/httpApp.ts";
import { cacheControlOf, etagOf, isNotModified } from "../http/httpCache.ts";
import { GRAPHQL_PATH } from "../http/mediaType.ts";
import {
	NO_OPERATION,
	type RequestOutcome,
	recordOutcome,
} from "../http/requestOutcome.ts";
import { recordSpan, spanOf } from "../http/requestSpan.ts";
import {
	newResponseSummary,
	type ResponseSummary,
} from "../http/responseSummary.ts";
import { type HttpStatus, statusOf } from "../http/status.ts";
import type { Ways } from "../http/ways.ts";
import { workDoneOn } from "../http/workDone.ts";
import { RequestDeadline } from "../limits/deadline.ts";
import type { RequestsInProgress } from "../limits/requestsInProgress.ts";
import { createApollo } from "./apollo.ts";
import type { RequestContext } from "./operation.ts";
import {
	type Admitted,
	admitRequest,
	identifySender,
	type Sender,
	type StepOptions,
	senderOf,
} from "./requestSteps.ts";

/** Responds to a browser that opens `/graphql`. */
export type PageHandler = (
	request: FastifyRequest,
	reply: FastifyReply,
) => Promise<FastifyReply>;

export interface GraphqlOptions extends StepOptions {
	readonly page: PageHandler;
	readonly documents: Documents;
	/** Null where there are no operators. */
	readonly operatorDocuments: Documents | null;
	readonly httpStatus: HttpStatus;
	/** Seconds that shared caches may keep a public response. */
	readonly httpMaxAge: number;
	readonly compression: boolean;
	readonly requestsInProgress: RequestsInProgress;
	readonly executionMs: number;
	readonly ways: Ways;
}

/** What is known of a request before Apollo handles it. */
interface RequestState {
	/** Or the error that rejects the request. */
	readonly identity: Sender;
	readonly deadline: RequestDeadline;
	readonly summary: ResponseSummary;
}

/** An Apollo Server, and the documents that it runs. */
interface Handler {
	readonly documents: Documents;
	readonly handle: RouteHandlerMethod;
}

/** Register `/graphql` on `app`: Apollo's GraphQL over HTTP, then our status and caching headers. */
export async function registerGraphql(
	app: FastifyInstance,
	options: GraphqlOptions,
): Promise<void> {
	const { mode, page, operatorDocuments, requestsInProgress, httpMaxAge } =
		options;
	const states = new WeakMap<FastifyRequest, RequestState>();

	async function contextOf(request: FastifyRequest): Promise<RequestContext> {
		const { identity, deadline, summary } = states.get(request) as RequestState;
		summary.passedCsrfCheck = true;
		const sender = "error" in identity ? NOBODY : identity;
		let admitted: Admitted;
		try {
			admitted = admitRequest(
				options,
				request.raw,
				request.body,
				sender,
				spanOf(request.raw),
			);
		} catch (thrown) {
			summary.code = clientCodeOf(thrown);
			throw thrown;
		}
		if ("error" in identity) {
			summary.code = clientCodeOf(identity.error);
			throw requestError(identity.error);
		}
		return { ...admitted, deadline, summary };
	}

	async function startHandler(
		documents: Documents,
		exposesSchema: boolean,
	): Promise<Handler> {
		const apollo = createApollo({ ...options, documents, exposesSchema });
		await apollo.start();
		// The app is also closed where the server fails to start.
		app.addHook("onClose", () => apollo.stop());
		return {
			documents,
			handle: fastifyApolloHandler<RequestContext>(apollo, {
				context: contextOf,
			}),
		};
	}

	const forEveryone = await startHandler(
		options.documents,
		mode === "development",
	);
	// A server of their own: a document that is valid for an operator may use
	// introspection, and Apollo caches valid documents.
	const forOperators =
		operatorDocuments && (await startHandler(operatorDocuments, true));

	async function stateOf(
		{ raw }: FastifyRequest,
		reply: FastifyReply,
	): Promise<RequestState> {
		const deadline = new RequestDeadline(
			reply.raw,
			options.executionMs,
			performance.now(),
		);
		const summary = newResponseSummary();
		const known = senderOf(raw);
		if (known !== undefined) return { identity: known, deadline, summary };
		let identity: Sender;
		try {
			identity = await identifySender(options, raw, deadline);
		} catch (error) {
			identity = { error };
		}
		return { identity, deadline, summary };
	}

	async function respond(
		request: FastifyRequest,
		reply: FastifyReply,
	): Promise<FastifyReply> {
		const { raw } = request;
		const work = workDoneOn(raw);
		const span =
			work === undefined
				? (options.startSpan?.(raw.headers, performance.now()) ?? null)
				: work.span;
		if (span !== null) recordSpan(raw, span);
		const state = await stateOf(request, reply);
		states.set(request, state);
		const { identity, summary } = state;
		const { documents, handle } =
			"isOperator" in identity && identity.isOperator
				? (forOperators ?? forEveryone)
				: forEveryone;
		const hasText = sendsText(request);
		const documentError = await resolveDocument(request, documents);
		if (documentError !== null) {
			recordOutcome(request.raw, {
				...summary.outcome,
				isText: hasText || null,
				codes: [documentError.code],
			});
			return sendError(reply, documentError.code, documentError.message);
		}
		const body = String(await handle.call(app, request, reply));
		const outcome = outcomeIn(summary);
		recordOutcome(request.raw, {
			...outcome,
			isText: hasText || (outcome.type === null ? null : false),
		});
		const status = statusOf(
			reply.statusCode,
			String(reply.getHeader("content-type")),
			summary,
			options.httpStatus,
		);
		reply.code(status.code);
		if (status.message !== undefined) reply.raw.statusMessage = status.message;
		const { cacheScope } = summary;
		if (cacheScope === null || status.code !== 200) {
			return sendText(request, reply, body);
		}
		const etag = etagOf(body);
		reply.header("etag", etag);
		reply.header("cache-control", cacheControlOf(cacheScope, httpMaxAge));
		if (!isNotModified(etag, request.headers["if-none-match"])) {
			return sendText(request, reply, body);
		}
		return reply.code(304).removeHeader("content-type").send();
	}

	/** Compressed, unless it takes @fastify/compress to understand what the client accepts. */
	async function sendText(
		{ headers }: FastifyRequest,
		reply: FastifyReply,
		body: string,
	): Promise<FastifyReply> {
		const encoding = encodingFor(headers["accept-encoding"] as string);
		if (!options.compression || !encoding || headers["x-no-compression"]) {
			return reply.send(body);
		}
		const bytes = Buffer.from(body);
		if (bytes.length < COMPRESSED_BYTES) return reply.send(body);
		return reply
			.header("content-encoding", encoding)
			.header("vary", `${reply.getHeader("vary")}, accept-encoding`)
			.send(await compressBody(bytes, encoding));
	}

	app.route({
		method: ["GET", "POST"],
		url: GRAPHQL_PATH,
		// Before the body is read and parsed. It takes its place afterwards, as
		// clients may send slowly.
		async onRequest(_request, reply) {
			if (requestsInProgress.isFull()) return sendBusy(reply);
		},
		async handler(request, reply) {
			if (isBrowser(request)) return page(request, reply);
			if (requestsInProgress.isFull()) return sendBusy(reply);
			requestsInProgress.enter();
			try {
				return await respond(request, reply);
			} finally {
				options.ways.long++;
				requestsInProgress.leave();
			}
		},
	});
}

/** What Apollo rejected before its plugins were asked has a code alone. */
function outcomeIn({ outcome, code }: ResponseSummary): RequestOutcome {
	return outcome === NO_OPERATION && code !== null
		? { ...outcome, codes: [code] }
		: outcome;
}

/** Whether the request has a document's text, and not only a name of it. */
function sendsText({ method, body, raw }: FastifyRequest): boolean {
	if (method === "GET") return /[?&]query=./.test(raw.url ?? "");
	const { query } = (body ?? {}) as { readonly query?: unknown };
	return typeof query === "string" && query !== "";
}

/** A request of an unknown sender is held to the limits of a request, too, before it is refused. */
const NOBODY: Identity = { viewer: null, isOperator: false };

function sendBusy(reply: FastifyReply): FastifyReply {
	return sendError(
		reply,
		"UNAVAILABLE",
		"The server has as many requests in progress as it may. Retry in 1 s.",
	);
}

/** Whether a person opened the address. Programs accept JSON or any type. */
function isBrowser(request: FastifyRequest): boolean {
	const accept = request.headers.accept ?? "";
	return (
		request.method === "GET" &&
		/\btext\/html\b/i.test(accept) &&
		!/\bapplication\/(?:graphql-response\+)?json\b/i.test(accept)
	);
}
