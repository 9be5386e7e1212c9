import {
	ApolloServer,
	type ApolloServerOptionsWithGateway,
} from "@apollo/server";
import {
	ApolloServerPluginCacheControlDisabled,
	ApolloServerPluginInlineTraceDisabled,
	ApolloServerPluginLandingPageDisabled,
	ApolloServerPluginSchemaReportingDisabled,
	ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import type { FastifyBaseLogger } from "fastify";
import {
	type ExecutionResult,
	type FormattedExecutionResult,
	GraphQLError,
	type GraphQLSchema,
	type OperationDefinitionNode,
} from "graphql";
import type { Answer } from "../../plan/answer.ts";
import { withDeadline } from "../../util/deadline.ts";
import { isPromise } from "../../util/maybePromise.ts";
import type { Documents } from "../documents/documents.ts";
import { requestError, toClientError } from "../http/clientError.ts";
import type { CostReport } from "../limits/costMeter.ts";
import { documentLimits, MAX_TOKENS } from "../limits/documentLimits.ts";
import type { DependsOnViewer, Execute, RequestContext } from "./operation.ts";
import { responseSummaryPlugin } from "./responseSummaryPlugin.ts";

/** How long an aborted operation may take to return a partial result. */
const GRACE_MS = 1_000;

/** Validation errors of one response; one more says that there were others. */
const MAX_ERRORS = 10;

export interface ApolloOptions {
	readonly schema: GraphQLSchema;
	readonly execute: Execute;
	readonly documents: Documents;
	readonly dependsOnViewer: DependsOnViewer;
	/** Whether introspection and suggestions in errors are allowed. */
	readonly exposesSchema: boolean;
	readonly log: FastifyBaseLogger;
}

/**
 * Apollo Server with `execute` in place of graphql-js. A gateway is the one way
 * to give Apollo another executor; plugins, the document cache and persisted
 * queries work as usual. Every option that defaults to NODE_ENV or APOLLO_* is
 * set here.
 */
export function createApollo(
	options: ApolloOptions,
): ApolloServer<RequestContext> {
	const { schema, documents, exposesSchema, log } = options;
	return new ApolloServer<RequestContext>({
		gateway: gatewayTo(schema, options.execute),
		nodeEnv: "production",
		introspection: exposesSchema,
		includeStacktraceInErrorResponses: false,
		stringifyResult,
		stopOnTerminationSignals: false,
		allowBatchedHttpRequests: false,
		csrfPrevention: true,
		// With this option, Apollo runs the rules below after its own, which by
		// then have spent the time. Ours counts the same selections earlier.
		maxRecursiveSelections: false,
		parseOptions: { maxTokens: MAX_TOKENS },
		validationRules: [documentLimits],
		validationOptions: { maxErrors: MAX_ERRORS },
		persistedQueries: { cache: documents.texts },
		documentStore: documents.parsed,
		logger: log,
		formatError: (formatted, error) =>
			// Apollo's own way to hide suggestions takes quadratic time in the length
			// of a message, so this hides them.
			toClientError(formatted, error, { log, hideSuggestions: !exposesSchema }),
		plugins: [
			responseSummaryPlugin(options),
			ApolloServerPluginLandingPageDisabled(),
			ApolloServerPluginCacheControlDisabled(),
			ApolloServerPluginInlineTraceDisabled(),
			ApolloServerPluginSchemaReportingDisabled(),
			ApolloServerPluginUsageReportingDisabled(),
		],
	});
}

function gatewayTo(
	schema: GraphQLSchema,
	execute: Execute,
): ApolloServerOptionsWithGateway<RequestContext>["gateway"] {
	return {
		onSchemaLoadOrUpdate(listener) {
			listener({ apiSchema: schema, coreSupergraphSdl: "" });
			return () => {};
		},
		async load() {
			return {
				async executor({ request, document, operation, source, context }) {
					const error = operationError(
						schema,
						operation,
						request.operationName,
					);
					if (error !== null) return { errors: [error] };
					const {
						viewer,
						signal,
						explain,
						costMeter: meter,
					} = context as RequestContext;
					try {
						const answer = execute({
							document,
							operationName: request.operationName,
							variables: request.variables ?? {},
							viewer,
							signal,
							source,
							explain,
							costMeter: meter,
						});
						return toResult(
							isPromise(answer)
								? await withDeadline(answer, { signal, graceMs: GRACE_MS })
								: answer,
							meter.cost,
						);
					} catch (thrown) {
						throw requestError(thrown);
					}
				},
			};
		},
		async stop() {},
	};
}

/** The error of an operation name, which validation does not check. */
function operationError(
	schema: GraphQLSchema,
	// Undefined where the request names no operation of the document; Apollo's type omits that.
	operation: OperationDefinitionNode | undefined,
	name: string | undefined,
): GraphQLError | null {
	if (operation === undefined) {
		return new GraphQLError(
			name
				? `Unknown operation named "${name}".`
				: "Must provide operation name if query contains multiple operations.",
		);
	}
	if (!schema.getRootType(operation.operation)) {
		return new GraphQLError(
			`This schema has no ${operation.operation} operations.`,
			{
				extensions: {
					code: "GRAPHQL_VALIDATION_FAILED",
					http: { status: 400 },
				},
			},
		);
	}
	return null;
}

/** Stands for `data` in a result. Apollo passes it on and does not look into it. */
class DataText {
	readonly text: string;

	constructor(text: string) {
		this.text = text;
	}
}

/** A result without data is a request error: its HTTP status is that of its first error. */
function toResult(
	{ data, errors, extensions }: Answer,
	cost: CostReport | null,
): ExecutionResult {
	const [first, ...others] = errors;
	const isRequestError = data === null && first !== undefined;
	const allExtensions = cost === null ? extensions : { ...extensions, cost };
	return {
		...(first
			? { errors: isRequestError ? [requestError(first), ...others] : errors }
			: {}),
		...(data === null
			? {}
			: { data: new DataText(data) as object as Record<string, unknown> }),
		...(allExtensions ? { extensions: allExtensions } : {}),
	};
}

/** As Apollo does, but joins the text of data that is there already. */
function stringifyResult(result: FormattedExecutionResult): string {
	const { errors, extensions } = result;
	const data: unknown = result.data;
	if (!(data instanceof DataText)) return `${JSON.stringify(result)}\n`;
	const before =
		errors === undefined ? "" : `"errors":${JSON.stringify(errors)},`;
	const after =
		extensions === undefined
			? ""
			: `,"extensions":${JSON.stringify(extensions)}`;
	return `{${before}"data":${data.text}${after}}\n`;
}
