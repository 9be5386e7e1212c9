import type { ApolloServerPlugin } from "@apollo/server";
import type { GraphQLFormattedError } from "graphql";
import type { Documents } from "../documents/documents.ts";
import type { DependsOnViewer, RequestContext } from "./operation.ts";

/** Fills in each request's summary, and counts documents that are in no file. */
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
					const { summary, viewer } = contextValue;
					if (response.body.kind !== "single") return;
					const { data, errors } = response.body.singleResult;
					summary.hasData = data !== undefined;
					summary.hasErrors = errors !== undefined && errors.length > 0;
					summary.code = codeOf(errors?.[0]);
					if (
						request.http?.method !== "GET" ||
						summary.hasErrors ||
						document === undefined ||
						operation?.operation !== "query"
					) {
						return;
					}
					const isPrivate =
						viewer !== null ||
						request.http.headers.has("authorization") ||
						dependsOnViewer({
							document,
							operationName: request.operationName,
							variables: request.variables ?? {},
						});
					summary.cacheScope = isPrivate ? "private" : "public";
				},
			};
		},
	};
}

function codeOf(error: GraphQLFormattedError | undefined): string | null {
	const code = error?.extensions?.code;
	return typeof code === "string" ? code : null;
}
