import {
	ApolloServer,
	type ApolloServerOptionsWithGateway,
	type ApolloServerPlugin,
} from "@apollo/server";
import {
	ApolloServerPluginCacheControlDisabled,
	ApolloServerPluginInlineTraceDisabled,
	ApolloServerPluginLandingPageDisabled,
	ApolloServerPluginSchemaReportingDisabled,
	ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import {
	type FormattedExecutionResult,
	GraphQLError,
	type GraphQLSchema,
} from "graphql";
import { toClientError } from "../http/clientError.ts";
import { documentLimits, MAX_TOKENS } from "../limits/documentLimits.ts";
import { noIntrospection } from "../limits/noIntrospection.ts";
import type { Execute, OperationContext } from "./operation.ts";
import {
	operationError,
	responseText,
	runOperation,
	type StepOptions,
} from "./requestSteps.ts";
import { responseSummaryPlugin } from "./responseSummaryPlugin.ts";

/** Validation errors of one response; one more says that there were others. */
const MAX_ERRORS = 10;

interface ApolloOptions
	extends Pick<
		StepOptions,
		| "schema"
		| "execute"
		| "documents"
		| "dependsOnViewer"
		| "usesOf"
		| "inputProblems"
		| "log"
	> {
	/** Whether introspection and suggestions in errors are allowed. */
	readonly exposesSchema: boolean;
}

/**
 * Apollo Server with `execute` in place of graphql-js. A gateway is the one way
 * to give Apollo another executor; plugins, the document cache and persisted
 * queries work as usual. Every option that defaults to NODE_ENV or APOLLO_* is
 * set here.
 */
export function createApollo(
	options: ApolloOptions,
): ApolloServer<OperationContext> {
	const { schema, documents, exposesSchema, log } = options;
	return new ApolloServer<OperationContext>({
		gateway: gatewayTo(schema, options.execute),
		nodeEnv: "production",
		// False would add a rule whose message is about Apollo's options: ours is below.
		introspection: true,
		includeStacktraceInErrorResponses: false,
		stopOnTerminationSignals: false,
		allowBatchedHttpRequests: false,
		csrfPrevention: true,
		// With this option, Apollo runs the rules below after its own, which by
		// then have spent the time. Ours counts the same selections earlier.
		maxRecursiveSelections: false,
		parseOptions: { maxTokens: MAX_TOKENS },
		validationRules: exposesSchema
			? [documentLimits]
			: [documentLimits, noIntrospection],
		validationOptions: { maxErrors: MAX_ERRORS },
		persistedQueries: { cache: documents.texts },
		documentStore: documents.parsed,
		logger: log,
		stringifyResult,
		formatError: (formatted, error) =>
			// Apollo's own way to hide suggestions takes quadratic time in the length
			// of a message, so this hides them.
			toClientError(formatted, error, { log, hideSuggestions: !exposesSchema }),
		plugins: [
			responseSummaryPlugin(options),
			inputProblemsPlugin(options),
			ApolloServerPluginLandingPageDisabled(),
			ApolloServerPluginCacheControlDisabled(),
			ApolloServerPluginInlineTraceDisabled(),
			ApolloServerPluginSchemaReportingDisabled(),
			ApolloServerPluginUsageReportingDisabled(),
		],
	});
}

/** Reports a value in a document that does not fit its type in the same way as one in the variables. */
function inputProblemsPlugin({
	inputProblems,
}: Pick<StepOptions, "inputProblems">): ApolloServerPlugin<OperationContext> {
	return {
		async requestDidStart() {
			return {
				async validationDidStart({ document, request }) {
					return async (errors) => {
						const [first] = errors ?? [];
						if (!(first instanceof GraphQLError)) return;
						const fields = inputProblems({
							document,
							operationName: request.operationName,
							variables: request.variables ?? {},
						});
						if (fields.length > 0) first.extensions.fields = fields;
					};
				},
			};
		},
	};
}

function gatewayTo(
	schema: GraphQLSchema,
	execute: Execute,
): ApolloServerOptionsWithGateway<OperationContext>["gateway"] {
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
					const { viewer, deadline, explain, costMeter, record } =
						context as OperationContext;
					const result = await runOperation(execute, {
						document,
						operationName: request.operationName,
						variables: request.variables ?? {},
						viewer,
						deadline,
						source,
						explain,
						recordsReads: false,
						costMeter,
						record,
					});
					const { data, errors, extensions } = result;
					return {
						...(errors.length > 0 && { errors }),
						...(data !== null && {
							data: new DataText(data) as object as Data,
						}),
						...(extensions && { extensions }),
					};
				},
			};
		},
		async stop() {},
	};
}

type Data = Record<string, unknown>;

/** Stands for `data` in a result. Apollo passes it on and does not look into it. */
class DataText {
	readonly json: string;

	constructor(json: string) {
		this.json = json;
	}
}

function stringifyResult({
	errors,
	data,
	extensions,
}: FormattedExecutionResult): string {
	return responseText(
		errors ?? [],
		data instanceof DataText ? data.json : null,
		extensions,
	);
}
