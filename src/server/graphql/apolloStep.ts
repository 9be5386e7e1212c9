import { type ApolloServer, HeaderMap } from "@apollo/server";
import type { FastifyInstance } from "fastify";
import type { GraphQLError } from "graphql";
import type { Documents } from "../documents/documents.ts";
import { resolveDocument } from "../documents/resolveDocument.ts";
import { clientCodeOf, requestError } from "../http/clientError.ts";
import { NO_OPERATION, type RequestOutcome } from "../http/requestOutcome.ts";
import {
	newResponseSummary,
	type ResponseSummary,
} from "../http/responseSummary.ts";
import { statusOf } from "../http/status.ts";
import type { RequestDeadline } from "../limits/deadline.ts";
import { requestLimitError } from "../limits/requestLimits.ts";
import { createApollo } from "./apollo.ts";
import { newBody } from "./body.ts";
import type { OperationContext } from "./operation.ts";
import { type GraphqlRequest, type Reply, refusal } from "./request.ts";
import {
	type FoundIdentity,
	type StepOptions,
	senderContextOf,
} from "./requestSteps.ts";

/** An Apollo Server, and the documents that it runs. */
interface Runner {
	readonly documents: Documents;
	readonly apollo: ApolloServer<OperationContext>;
}

/**
 * The last step: Apollo's GraphQL over HTTP, with parameters that the steps
 * before have read. It parses, checks and registers documents, and says what is
 * wrong with a request.
 */
export async function openApolloStep(
	app: FastifyInstance,
	options: StepOptions,
): Promise<(request: GraphqlRequest) => Promise<Reply>> {
	async function start(
		documents: Documents,
		exposesSchema: boolean,
	): Promise<Runner> {
		const apollo = createApollo({ ...options, documents, exposesSchema });
		await apollo.start();
		// The app is also closed if the server fails to start.
		app.addHook("onClose", () => apollo.stop());
		return { documents, apollo };
	}

	const forEveryone = await start(
		options.documents,
		options.mode === "development",
	);
	// A server of their own: a document that is valid for an operator may use
	// introspection, and Apollo caches valid documents.
	const forOperators =
		options.operatorDocuments && (await start(options.operatorDocuments, true));

	return (request) => {
		options.ways.long++;
		const identity = request.identity as FoundIdentity;
		const runner =
			"isOperator" in identity && identity.isOperator
				? (forOperators ?? forEveryone)
				: forEveryone;
		return run(request, identity, runner, options);
	};
}

async function run(
	request: GraphqlRequest,
	identity: FoundIdentity,
	{ documents, apollo }: Runner,
	options: StepOptions,
): Promise<Reply> {
	const { message, isGet } = request;
	const hasText = sendsText(request);
	const resolved = await resolveDocument(request, documents);
	if ("code" in resolved) {
		request.outcome = {
			...NO_OPERATION,
			isText: hasText || null,
			codes: [resolved.code],
		};
		return refusal(request, resolved.code, resolved.message);
	}
	const { body, search } = resolved;
	const headers = headerMapOf(message.headers);
	if (resolved.isSafe) headers.set("apollo-require-preflight", "no text");
	const summary = newResponseSummary();
	const response = await apollo.executeHTTPGraphQLRequest({
		httpGraphQLRequest: {
			method: isGet ? "GET" : "POST",
			headers,
			search,
			body,
		},
		context: async () => contextOf(request, identity, body, summary, options),
	});
	// Apollo sends others only for @defer and @stream, which the schema does not have.
	if (response.body.kind !== "complete") throw new Error("An answer in parts.");
	const outcome = outcomeIn(summary);
	request.outcome = {
		...outcome,
		isText: hasText || (outcome.type === null ? null : false),
	};
	const {
		"content-type": mediaType = "",
		"cache-control": cacheControl,
		...others
	} = Object.fromEntries(response.headers) as Partial<Record<string, string>>;
	return {
		status: statusOf(
			response.status ?? 200,
			mediaType,
			summary,
			options.httpStatus,
		),
		mediaType,
		headers: Object.entries(others).flat() as string[],
		cacheScope: summary.cacheScope,
		cacheControl,
		body: newBody(response.body.string),
	};
}

function contextOf(
	request: GraphqlRequest,
	identity: FoundIdentity,
	body: unknown,
	summary: ResponseSummary,
	options: StepOptions,
): OperationContext {
	summary.passedCsrfCheck = true;
	// A request of an unknown sender is held to the limits of a request, too.
	const limitError = requestLimitError(body);
	if (limitError !== null) throw refused(limitError, summary);
	if ("error" in identity) throw refused(identity.error, summary);
	return {
		...senderContextOf(options, request, identity),
		deadline: request.deadline as RequestDeadline,
		summary,
	};
}

function refused(error: unknown, summary: ResponseSummary): GraphQLError {
	summary.code = clientCodeOf(error);
	return requestError(error);
}

/** What Apollo rejected before its plugins were asked has a code alone. */
function outcomeIn({ outcome, code }: ResponseSummary): RequestOutcome {
	return outcome === NO_OPERATION && code !== null
		? { ...outcome, codes: [code] }
		: outcome;
}

/** Whether the request has a document's text, and not only a name of it. */
function sendsText({ isGet, search, body }: GraphqlRequest): boolean {
	if (isGet) return /(?:^|&)query=./.test(search);
	const { query } = (body ?? {}) as { readonly query?: unknown };
	return typeof query === "string" && query !== "";
}

function headerMapOf(
	headers: Readonly<Record<string, string | string[] | undefined>>,
): HeaderMap {
	const map = new HeaderMap();
	for (const [name, value] of Object.entries(headers)) {
		if (value !== undefined) map.set(name, [value].flat().join(", "));
	}
	return map;
}
