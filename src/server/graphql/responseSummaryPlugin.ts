import type { ApolloServerPlugin } from "@apollo/server";
import { codesOf, errorIdsOf } from "../http/requestOutcome.ts";
import type { OperationContext } from "./operation.ts";
import {
	countUnknownDocument,
	measuredDocument,
	type StepOptions,
	summarizeResponse,
} from "./requestSteps.ts";

/** Fills in each request's summary, and counts documents that are in no file. */
export function responseSummaryPlugin({
	documents,
	dependsOnViewer,
	usesOf,
}: Pick<
	StepOptions,
	"documents" | "dependsOnViewer" | "usesOf"
>): ApolloServerPlugin<OperationContext> {
	return {
		async requestDidStart() {
			let sha256: string | null = null;
			return {
				async didResolveOperation({ queryHash, operation }) {
					if (queryHash === undefined) return;
					sha256 = measuredDocument(documents, queryHash);
					const name = operation?.name?.value ?? null;
					countUnknownDocument(documents, queryHash, name);
				},
				async willSendResponse({
					request,
					response,
					contextValue,
					document,
					operation,
				}) {
					if (response.body.kind !== "single") return;
					const { summary, viewer, costMeter, record } = contextValue;
					const { data, errors } = response.body.singleResult;
					summary.outcome = {
						way: "long",
						isText: null,
						type: operation?.operation ?? null,
						operation: operation?.name?.value ?? null,
						sha256,
						codes: codesOf(errors ?? []),
						errorIds: errorIdsOf(errors ?? []),
						cost: costMeter.admitted,
						record,
						uses:
							costMeter.admitted === null || document === undefined
								? null
								: usesOf({ document, operationName: request.operationName }),
					};
					summarizeResponse(summary, {
						errors: errors ?? [],
						hasData: data !== undefined,
						isGet: request.http?.method === "GET",
						operation,
						isPrivate: () =>
							viewer !== null ||
							request.http?.headers.has("authorization") === true ||
							document === undefined ||
							dependsOnViewer({
								document,
								operationName: request.operationName,
								variables: request.variables ?? {},
							}),
					});
				},
			};
		},
	};
}
