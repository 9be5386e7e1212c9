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
import type { PageHandler } from "../graphiql/registerGraphiql.ts";
import { requestError } from "../http/clientError.ts";
import { sendError } from "../http/httpApp.ts";
import { applyHttpCaching } from "../http/httpCache.ts";
import { applyStatus, type HttpStatus } from "../http/status.ts";
import { type Budget, budgetKeyOf } from "../limits/budget.ts";
import { createCostMeter, requestsCost } from "../limits/costMeter.ts";
import { requestDeadline, withinDeadline } from "../limits/deadline.ts";
import { requestLimitError } from "../limits/requestLimits.ts";
import {
	type ApolloOptions,
	createApollo,
	type RequestContext,
} from "./apollo.ts";
import { mayExplain, requestsExplain } from "./explainAccess.ts";
import { newResponseSummary, type ResponseSummary } from "./outcome.ts";

export interface EndpointOptions
	extends Omit<ApolloOptions, "tellsSchema" | "documents"> {
	readonly mode: "development" | "production";
	readonly identify: (authorization: string | undefined) => Promise<Identity>;
	/** What a browser gets; null for what programs get. */
	readonly page: PageHandler | null;
	readonly documents: Documents;
	/** Null where there are no operators. */
	readonly operatorDocuments: Documents | null;
	readonly httpStatus: HttpStatus;
	/** How long (s) others may keep an answer that holds nothing of a viewer's. */
	readonly httpMaxAge: number;
	readonly budget: Budget | null;
	readonly executionMs: number;
}

/** What is known of a request before Apollo sees it. */
interface Visit {
	/** Or why it cannot be told, which refuses the request. */
	readonly identity: Identity | { readonly unknown: unknown };
	readonly signal: AbortSignal;
	readonly outcome: ResponseSummary;
}

/** Apollo, and which documents it runs. */
interface Handler {
	readonly documents: Documents;
	readonly handle: RouteHandlerMethod;
}

/** Put `/graphql` on `app`: GraphQL over HTTP, by Apollo's rules and then ours. */
export async function registerGraphql(
	app: FastifyInstance,
	options: EndpointOptions,
): Promise<void> {
	const { mode, page, operatorDocuments } = options;
	const visits = new WeakMap<FastifyRequest, Visit>();

	async function contextOf(request: FastifyRequest): Promise<RequestContext> {
		const { identity, signal, outcome } = visits.get(request) as Visit;
		outcome.passedCsrfCheck = true;
		const fault = requestLimitError(request.body);
		if (fault !== null) {
			outcome.code = String(fault.extensions.code);
			throw requestError(fault);
		}
		if ("unknown" in identity) throw requestError(identity.unknown);
		const { viewer } = identity;
		return {
			viewer,
			signal,
			summary: outcome,
			explain: mayExplain(mode, identity) && requestsExplain(request),
			costMeter: createCostMeter({
				isReported: requestsCost(request),
				budget: options.budget,
				budgetKey: budgetKeyOf(viewer, request),
			}),
		};
	}

	async function openHandler(
		documents: Documents,
		tellsSchema: boolean,
	): Promise<Handler> {
		const apollo = createApollo({ ...options, documents, tellsSchema });
		await apollo.start();
		// Also where the app is closed because it could not listen.
		app.addHook("onClose", () => apollo.stop());
		return {
			documents,
			handle: fastifyApolloHandler<RequestContext>(apollo, {
				context: contextOf,
			}),
		};
	}

	const forEveryone = await openHandler(
		options.documents,
		mode === "development",
	);
	// Apart, as what was found valid for an operator is not for everybody.
	const forOperators =
		operatorDocuments && (await openHandler(operatorDocuments, true));

	async function visit(
		request: FastifyRequest,
		reply: FastifyReply,
	): Promise<Visit> {
		const signal = requestDeadline(reply.raw, options.executionMs);
		const identity = await withinDeadline(
			options.identify(request.headers.authorization),
			signal,
			0,
		).catch((unknown: unknown) => ({ unknown }));
		return { identity, signal, outcome: newResponseSummary() };
	}

	app.route({
		method: ["GET", "POST"],
		url: "/graphql",
		async handler(request, reply) {
			if (page !== null && isBrowser(request)) return page(request, reply);
			const visiting = await visit(request, reply);
			visits.set(request, visiting);
			const { identity, outcome } = visiting;
			const { documents, handle } =
				"isOperator" in identity && identity.isOperator
					? (forOperators ?? forEveryone)
					: forEveryone;
			const fault = await resolveDocument(request, documents);
			if (fault !== null) {
				return sendError(reply, 400, fault.message, fault.code);
			}
			const body = String(await handle.call(app, request, reply));
			applyStatus(reply, outcome, options.httpStatus);
			return reply.send(
				applyHttpCaching(request, reply, outcome, body, options.httpMaxAge),
			);
		},
	});
}

/** A person who opened the address, rather than a program that takes anything. */
function isBrowser(request: FastifyRequest): boolean {
	const accept = request.headers.accept ?? "";
	return (
		request.method === "GET" &&
		/\btext\/html\b/i.test(accept) &&
		!/\bapplication\/(?:graphql-response\+)?json\b/i.test(accept)
	);
}
