import type { ApolloServerPlugin } from "@apollo/server";
import type { GraphQLFormattedError } from "graphql";
import type { Documents } from "../documents/documents.ts";
import type { Operation, RequestContext } from "./apollo.ts";

/**
 * What became of a request, for those who write the answer's status and
 * headers: Apollo tells them only a text.
 */
export interface ResponseSummary {
	/** Apollo let the request in: it was not blocked as a forgery. */
	passedCsrfCheck: boolean;
	/** Of the first error. */
	code: string | null;
	hasData: boolean;
	hasErrors: boolean;
	/** Who may keep the answer; null for nobody. */
	cacheScope: "anyone" | "viewer" | null;
}

export function newResponseSummary(): ResponseSummary {
	return {
		passedCsrfCheck: false,
		code: null,
		hasData: false,
		hasErrors: false,
		cacheScope: null,
	};
}

/** Whether an answer to this operation holds something else for each viewer. */
export type DependsOnViewer = (
	operation: Pick<Operation, "document" | "operationName" | "variables">,
) => boolean;

/** Notes each request's outcome, and the documents that are in no file. */
export function responseSummaryPlugin(options: {
	readonly documents: Documents;
	readonly dependsOnViewer: DependsOnViewer;
}): ApolloServerPlugin<RequestContext> {
	const { documents, dependsOnViewer } = options;
	return {
		async requestDidStart() {
			return {
				async didResolveOperation({ queryHash, operationName }) {
					if (documents.mode !== "report" || queryHash === undefined) return;
					if (documents.bySha256(queryHash) !== null) return;
					documents.recordUnknown(queryHash, operationName);
				},
				async willSendResponse({
					request,
					response,
					contextValue,
					document,
					operation,
				}) {
					const { summary: outcome } = contextValue;
					if (response.body.kind !== "single") return;
					const { data, errors } = response.body.singleResult;
					outcome.hasData = data !== undefined;
					outcome.hasErrors = errors !== undefined && errors.length > 0;
					outcome.code = codeOf(errors?.[0]);
					if (
						request.http?.method !== "GET" ||
						outcome.hasErrors ||
						document === undefined ||
						operation?.operation !== "query"
					) {
						return;
					}
					const isForOne =
						contextValue.viewer !== null ||
						request.http.headers.has("authorization") ||
						dependsOnViewer({
							document,
							operationName: request.operationName,
							variables: request.variables ?? {},
						});
					outcome.cacheScope = isForOne ? "viewer" : "anyone";
				},
			};
		},
	};
}

function codeOf(error: GraphQLFormattedError | undefined): string | null {
	const code = error?.extensions?.code;
	return typeof code === "string" ? code : null;
}
