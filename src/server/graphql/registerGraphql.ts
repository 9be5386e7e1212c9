import { fastifyApolloHandler } from "@as-integrations/fastify";
import type {
	FastifyInstance,
	FastifyReply,
	FastifyRequest,
	RouteHandlerMethod,
} from "fastify";
import { withDeadline } from "../../util/deadline.ts";
import type { Identity } from "../auth/identity.ts";
import type { Documents } from "../documents/documents.ts";
import { resolveDocument } from "../documents/resolveDocument.ts";
import { requestError } from "../http/clientError.ts";
import { sendError } from "../http/httpApp.ts";
import { applyHttpCaching } from "../http/httpCache.ts";
import {
	newResponseSummary,
	type ResponseSummary,
} from "../http/responseSummary.ts";
import { applyStatus, type HttpStatus } from "../http/status.ts";
import { type Budget, budgetKeyOf } from "../limits/budget.ts";
import { createCostMeter, requestsCost } from "../limits/costMeter.ts";
import { requestDeadline } from "../limits/deadline.ts";
import { requestLimitError } from "../limits/requestLimits.ts";
import type { RequestsInProgress } from "../limits/requestsInProgress.ts";
import { type ApolloOptions, createApollo } from "./apollo.ts";
import { mayExplain, requestsExplain } from "./explainAccess.ts";
import type { RequestContext } from "./operation.ts";

/** Responds to a browser that opens `/graphql`. */
export type PageHandler = (
	request: FastifyRequest,
	reply: FastifyReply,
) => Promise<FastifyReply>;

export interface GraphqlOptions
	extends Omit<ApolloOptions, "exposesSchema" | "documents"> {
	readonly mode: "development" | "production";
	readonly identify: (authorization: string | undefined) => Promise<Identity>;
	/** Null where browsers get what programs get. */
	readonly page: PageHandler | null;
	readonly documents: Documents;
	/** Null where there are no operators. */
	readonly operatorDocuments: Documents | null;
	readonly httpStatus: HttpStatus;
	/** Seconds that shared caches may keep a public response. */
	readonly httpMaxAge: number;
	readonly budget: Budget | null;
	readonly requestsInProgress: RequestsInProgress;
	readonly executionMs: number;
}

/** What is known of a request before Apollo handles it. */
interface RequestState {
	/** Or the error that rejects the request. */
	readonly identity: Identity | { readonly error: unknown };
	readonly signal: AbortSignal;
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
	const { mode, page, operatorDocuments, requestsInProgress } = options;
	const states = new WeakMap<FastifyRequest, RequestState>();

	async function contextOf(request: FastifyRequest): Promise<RequestContext> {
		const { identity, signal, summary } = states.get(request) as RequestState;
		summary.passedCsrfCheck = true;
		const limitError = requestLimitError(request.body);
		if (limitError !== null) {
			summary.code = String(limitError.extensions.code);
			throw requestError(limitError);
		}
		if ("error" in identity) throw requestError(identity.error);
		const { viewer } = identity;
		return {
			viewer,
			signal,
			summary,
			explain: mayExplain(mode, identity) && requestsExplain(request),
			costMeter: createCostMeter({
				isReported: requestsCost(request),
				budget: options.budget,
				budgetKey: budgetKeyOf(viewer, request),
			}),
		};
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
		request: FastifyRequest,
		reply: FastifyReply,
	): Promise<RequestState> {
		const signal = requestDeadline(reply.raw, options.executionMs);
		const identity = await withDeadline(
			options.identify(request.headers.authorization),
			{ signal },
		).catch((error: unknown) => ({ error }));
		return { identity, signal, summary: newResponseSummary() };
	}

	async function respond(
		request: FastifyRequest,
		reply: FastifyReply,
	): Promise<FastifyReply> {
		const state = await stateOf(request, reply);
		states.set(request, state);
		const { identity, summary } = state;
		const { documents, handle } =
			"isOperator" in identity && identity.isOperator
				? (forOperators ?? forEveryone)
				: forEveryone;
		const documentError = await resolveDocument(request, documents);
		if (documentError !== null) {
			return sendError(reply, documentError.code, documentError.message);
		}
		const body = String(await handle.call(app, request, reply));
		applyStatus(reply, summary, options.httpStatus);
		return reply.send(
			applyHttpCaching(request, reply, summary, body, options.httpMaxAge),
		);
	}

	app.route({
		method: ["GET", "POST"],
		url: "/graphql",
		// Before the body is read and parsed. It takes its place afterwards, as
		// clients may send slowly.
		async onRequest(_request, reply) {
			if (requestsInProgress.isFull()) return sendBusy(reply);
		},
		async handler(request, reply) {
			if (page !== null && isBrowser(request)) return page(request, reply);
			if (requestsInProgress.isFull()) return sendBusy(reply);
			requestsInProgress.enter();
			try {
				return await respond(request, reply);
			} finally {
				requestsInProgress.leave();
			}
		},
	});
}

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
