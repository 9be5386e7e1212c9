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
	GraphQLError,
	type GraphQLSchema,
	type OperationDefinitionNode,
} from "graphql";
import { withDeadline } from "../../util/deadline.ts";
import type { Documents } from "../documents/documents.ts";
import { requestError, toClientError } from "../http/clientError.ts";
import type { CostReport } from "../limits/costMeter.ts";
import { documentLimits, MAX_TOKENS } from "../limits/documentLimits.ts";
import type { DependsOnViewer, Execute, RequestContext } from "./operation.ts";
import { responseSummaryPlugin } from "./responseSummaryPlugin.ts";

/** How long an operation may take to answer in part once it was told to stop. */
const GRACE_MS = 1_000;

/** Of validation, told at once; with one more that says that there were others. */
const MAX_ERRORS = 10;

export interface ApolloOptions {
	readonly schema: GraphQLSchema;
	readonly execute: Execute;
	readonly documents: Documents;
	readonly dependsOnViewer: DependsOnViewer;
	/** Whether who asks may learn of the schema: by introspection, and by suggestions in errors. */
	readonly exposesSchema: boolean;
	readonly log: FastifyBaseLogger;
}

/**
 * Apollo with `execute` in place of graphql-js. It comes in as a gateway, the
 * one door Apollo has for another executor, so that plugins, the cache of
 * documents and persisted queries work as ever. Everything Apollo would else
 * decide by NODE_ENV or APOLLO_* is said here.
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
		stopOnTerminationSignals: false,
		allowBatchedHttpRequests: false,
		csrfPrevention: true,
		// With it on, Apollo would run the rules below only after its own, and
		// these have cost what they may by then. Ours counts the same, sooner.
		maxRecursiveSelections: false,
		parseOptions: { maxTokens: MAX_TOKENS },
		validationRules: [documentLimits],
		validationOptions: { maxErrors: MAX_ERRORS },
		persistedQueries: { cache: documents.texts },
		documentStore: documents.parsed,
		logger: log,
		formatError: (formatted, error) =>
			// Apollo's own way to leave out suggestions takes time that grows with the
			// square of a message; this does both.
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
					const fault = operationError(
						schema,
						operation,
						request.operationName,
					);
					if (fault !== null) return { errors: [fault] };
					const {
						viewer,
						signal,
						explain,
						costMeter: meter,
					} = context as RequestContext;
					try {
						const result = await withDeadline(
							execute({
								document,
								operationName: request.operationName,
								variables: request.variables ?? {},
								viewer,
								signal,
								source,
								explain,
								costMeter: meter,
							}),
							{ signal, graceMs: GRACE_MS },
						);
						return asRequestError(withCost(result, meter.cost));
					} catch (thrown) {
						throw requestError(thrown);
					}
				},
			};
		},
		async stop() {},
	};
}

/** What is wrong with the choice of operation, which validation does not look at. */
function operationError(
	schema: GraphQLSchema,
	// Apollo's type forgets that a request may name none of the document's.
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

function withCost(
	result: ExecutionResult,
	cost: CostReport | null,
): ExecutionResult {
	return cost === null
		? result
		: { ...result, extensions: { ...result.extensions, cost } };
}

/** A result without data refuses the request: its HTTP status is that of its first error. */
function asRequestError(result: ExecutionResult): ExecutionResult {
	const [first, ...others] = result.errors ?? [];
	return result.data === undefined && first !== undefined
		? { ...result, errors: [requestError(first), ...others] }
		: result;
}
