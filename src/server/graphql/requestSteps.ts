import type { IncomingMessage } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import {
	GraphQLError,
	type GraphQLFormattedError,
	type GraphQLSchema,
	type OperationDefinitionNode,
} from "graphql";
import type { Span } from "../../trace.ts";
import { withDeadline } from "../../util/deadline.ts";
import { isPromise, type MaybePromise } from "../../util/maybePromise.ts";
import type { Identity } from "../auth/identity.ts";
import type { Documents } from "../documents/documents.ts";
import { requestError, toClientError } from "../http/clientError.ts";
import { codesOf } from "../http/requestOutcome.ts";
import type { StartSpan } from "../http/requestSpan.ts";
import type { ResponseSummary } from "../http/responseSummary.ts";
import type { HttpStatus } from "../http/status.ts";
import type { Ways } from "../http/ways.ts";
import { type Budget, budgetKeyOf } from "../limits/budget.ts";
import {
	type CostMeter,
	createCostMeter,
	requestsCost,
} from "../limits/costMeter.ts";
import type { LimitLevels } from "../limits/limitLevels.ts";
import { mayExplain, requestsExplain } from "./explainAccess.ts";
import type {
	DependsOnViewer,
	Execute,
	ExecutedAnswer,
	InputProblems,
	Operation,
	OperationContext,
	UsesOf,
} from "./operation.ts";

/*
 * What running an operation takes, each in one place: for known documents
 * (knownDocuments.ts) and for all others (apollo.ts, apolloStep.ts).
 */

/** How long an aborted operation may take to return a partial result. */
const GRACE_MS = 1_000;

export interface StepOptions {
	readonly schema: GraphQLSchema;
	readonly execute: Execute;
	readonly documents: Documents;
	/** Null if there are no operators. */
	readonly operatorDocuments: Documents | null;
	readonly httpStatus: HttpStatus;
	readonly ways: Ways;
	readonly dependsOnViewer: DependsOnViewer;
	readonly usesOf: UsesOf;
	readonly inputProblems: InputProblems;
	readonly mode: "development" | "production";
	readonly identify: (
		authorization: string | undefined,
	) => MaybePromise<Identity>;
	readonly budget: Budget | null;
	readonly addressOf: (message: IncomingMessage) => string;
	readonly log: FastifyBaseLogger;
	/** Null if there are no traces. */
	readonly startSpan: StartSpan | null;
	/** Whether to record what every operation does, in case it is slow. */
	readonly recordsRequests: boolean;
}

/** Who sent a request; or why that is refused. */
export type FoundIdentity = Identity | { readonly error: unknown };

/** Throws or rejects if the sender has no valid identity. */
export function findIdentity(
	{ identify }: Pick<StepOptions, "identify">,
	{ headers }: IncomingMessage,
	deadline: { readonly signal: AbortSignal },
): MaybePromise<Identity> {
	const identity = identify(headers.authorization);
	return isPromise(identity)
		? withDeadline(identity, { signal: deadline.signal })
		: identity;
}

interface IdentifiedRequest {
	readonly message: IncomingMessage;
	readonly span: Span | null;
	readonly levels: LimitLevels;
}

/** What an operation runs with that depends on who sent it. */
export function senderContextOf(
	{ mode, budget, addressOf, recordsRequests }: StepOptions,
	{ message, span, levels }: IdentifiedRequest,
	{ viewer, isOperator }: Identity,
): SenderContext {
	return {
		viewer,
		explain: requestsExplain(message) && mayExplain(mode, { isOperator }),
		costMeter: createCostMeter({
			isReported: requestsCost(message),
			budget,
			budgetKey: () => budgetKeyOf(viewer, () => addressOf(message)),
			levels,
		}),
		record: recordsRequests || span !== null ? { span, operation: null } : null,
	};
}

export type SenderContext = Pick<
	OperationContext,
	"viewer" | "explain" | "costMeter" | "record"
>;

/** The error of an operation name, which validation does not check. */
export function operationError(
	schema: GraphQLSchema,
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

/** What was returned for an operation, with what the request asked for beside it. */
export interface OperationResult
	extends Pick<ExecutedAnswer, "data" | "errors" | "reuse"> {
	readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

/** Runs an operation until its deadline. Neither throws nor rejects: what failed the request is its error. */
export function runOperation(
	execute: Execute,
	operation: Operation,
): MaybePromise<OperationResult> {
	try {
		const answer = execute(operation);
		if (!isPromise(answer)) return toResult(answer, operation.costMeter);
		return withDeadline(answer, {
			signal: operation.deadline.signal,
			graceMs: GRACE_MS,
		}).then((late) => toResult(late, operation.costMeter), failed);
	} catch (thrown) {
		return failed(thrown);
	}
}

function failed(thrown: unknown): OperationResult {
	return { data: null, errors: [requestError(thrown)] };
}

/** A result without data is a request error: its HTTP status is that of its first error. */
function toResult(
	{ data, errors, extensions, reuse }: ExecutedAnswer,
	{ cost }: CostMeter,
): OperationResult {
	const [first, ...others] = errors;
	return {
		data,
		errors:
			data === null && first !== undefined
				? [requestError(first), ...others]
				: errors,
		extensions: cost === null ? extensions : { ...extensions, cost },
		...(reuse && { reuse }),
	};
}

/** Errors as a client reads them, and what they ask of the HTTP response, as Apollo does both. */
interface FormattedErrors {
	readonly errors: readonly GraphQLFormattedError[];
	/** Null if no error names one. */
	readonly status: number | null;
	readonly headers: ReadonlyMap<string, string>;
}

export function formatErrors(
	errors: readonly GraphQLError[],
	options: Parameters<typeof toClientError>[2],
): FormattedErrors {
	let status: number | null = null;
	const headers = new Map<string, string>();
	for (const { extensions } of errors) {
		const http = extensions.http as
			| { status?: number; headers?: ReadonlyMap<string, string> }
			| undefined;
		if (http?.status) status = http.status;
		for (const [name, value] of http?.headers ?? []) headers.set(name, value);
	}
	return {
		errors: errors.map((error) =>
			toClientError(error.toJSON(), error, options),
		),
		status,
		headers,
	};
}

/** The body of a response. The text of data is in it as it is. */
export function responseText(
	errors: readonly GraphQLFormattedError[],
	data: string | null,
	extensions: object | undefined,
): string {
	if (data !== null && errors.length === 0 && extensions === undefined) {
		return `{"data":${data}}\n`;
	}
	const parts: string[] = [];
	if (errors.length > 0) parts.push(`"errors":${JSON.stringify(errors)}`);
	if (data !== null) parts.push(`"data":${data}`);
	if (extensions !== undefined) {
		parts.push(`"extensions":${JSON.stringify(extensions)}`);
	}
	return `{${parts.join(",")}}\n`;
}

/** Records in `summary` what status and caching headers depend on. */
export function summarizeResponse(
	summary: ResponseSummary,
	{
		errors,
		hasData,
		isGet,
		operation,
		isPrivate,
	}: {
		readonly errors: readonly GraphQLFormattedError[];
		readonly hasData: boolean;
		readonly isGet: boolean;
		/** Undefined if the request names none. */
		readonly operation: OperationDefinitionNode | undefined;
		/** Whether the response is for the sender only. Called for queries by GET. */
		readonly isPrivate: () => boolean;
	},
): void {
	summary.hasData = hasData;
	summary.hasErrors = errors.length > 0;
	summary.code = codesOf(errors.slice(0, 1))[0] ?? null;
	if (!isGet || summary.hasErrors || operation?.operation !== "query") return;
	summary.cacheScope = isPrivate() ? "private" : "public";
}

/** The name of a document in metrics; null if there are files and none has it. */
export function measuredDocument(
	documents: Documents,
	sha256: string,
): string | null {
	return documents.mode === "off" || documents.bySha256(sha256) !== null
		? sha256
		: null;
}

/** Counts a document that runs and is in no file. */
export function countUnknownDocument(
	documents: Documents,
	sha256: string,
	operationName: string | null,
): void {
	if (documents.mode !== "report") return;
	if (documents.bySha256(sha256) !== null) return;
	documents.recordUnknown(sha256, operationName);
}
