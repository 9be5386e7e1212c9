import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { GraphQLSchema } from "graphql";
import { LOCAL_CACHE_LEVELS } from "../cache/diagnostics.ts";
import type { KeptEntries } from "../cache/keptEntries.ts";
import { CorkboardError } from "../errors.ts";
import type { AccessTokens } from "./auth/accessTokens.ts";
import { identify, type Users } from "./auth/identity.ts";
import {
	hasOperators,
	NO_OPERATORS,
	type Operators,
} from "./auth/operators.ts";
import { createDocuments, type Documents } from "./documents/documents.ts";
import { sendAboutPage } from "./graphiql/aboutPage.ts";
import {
	type Demo,
	type GraphiqlAccess,
	registerGraphiql,
} from "./graphiql/registerGraphiql.ts";
import { registerPage } from "./graphiql/registerPage.ts";
import { SIGN_IN_PATH, SIGN_OUT_PATH } from "./graphiql/signIn.ts";
import { AnswerCache } from "./graphql/answerCache.ts";
import { openApolloStep } from "./graphql/apolloStep.ts";
import { GraphqlHandler } from "./graphql/graphqlHandler.ts";
import { KnownDocuments } from "./graphql/knownDocuments.ts";
import type {
	DependsOnViewer,
	Execute,
	InputProblems,
	UsesOf,
} from "./graphql/operation.ts";
import type { StepOptions } from "./graphql/requestSteps.ts";
import { ResponseSender } from "./graphql/responseSender.ts";
import { clientAddress, trustedProxies } from "./http/address.ts";
import { allowedOrigins } from "./http/cors.ts";
import {
	type HealthChecks,
	type Readiness,
	readinessOf,
	registerHealth,
} from "./http/health.ts";
import {
	createHttpApp,
	type HttpApp,
	type HttpLimits,
} from "./http/httpApp.ts";
import type { StartSpan } from "./http/requestSpan.ts";
import type { HttpStatus } from "./http/status.ts";
import type { Ways } from "./http/ways.ts";
import { Admission } from "./limits/admission.ts";
import type { Budget } from "./limits/budget.ts";
import { type RateLimit, registerRateLimit } from "./limits/rateLimit.ts";

export interface ServerOptions {
	/** The public schema, for validation and introspection. */
	readonly schema: GraphQLSchema;
	readonly execute: Execute;
	/** Whether this id names an active user. */
	readonly isUser: Users["isUser"];
	/** Default: a token's subject is always an id. */
	readonly userOfAccount?: Users["userOfAccount"];
	readonly accessTokens: AccessTokens;
	/** Default: nobody. */
	readonly operators?: Operators;
	readonly mode: "development" | "production";
	readonly graphiql: GraphiqlAccess;
	readonly host: string;
	/** 0 for any free port. */
	readonly port: number;
	/** Origins whose pages may send requests; in development also those of localhost. */
	readonly cors: readonly string[];
	/** Which proxies may set X-Forwarded-*: the nearest one, none, or those of these addresses and networks. */
	readonly trustProxy: boolean | string;
	readonly log: FastifyBaseLogger;
	/** The user and the example queries that GraphiQL opens with. */
	readonly demo?: Demo;
	readonly health: HealthChecks;
	/** Default: any document runs, and this process alone keeps those that clients register. */
	readonly documents?: Documents;
	/** The same for operators, who may run any document. */
	readonly operatorDocuments?: Documents;
	/** Default: every response depends on the viewer. */
	readonly dependsOnViewer?: DependsOnViewer;
	/** Default: nothing is known of it. */
	readonly usesOf?: UsesOf;
	/** Default: an error of a value that does not fit its type names no fields. */
	readonly inputProblems?: InputProblems;
	readonly httpStatus?: HttpStatus;
	/** Seconds that shared caches may keep a public response. */
	readonly httpMaxAge?: number;
	readonly compression?: boolean;
	readonly rateLimit?: RateLimit | null;
	readonly requestIdHeader?: string | null;
	/** GraphQL requests that this process carries out at a time, as `Admission` takes them. Default: no limit. */
	readonly maxRequestsInProgress?: number;
	/** Limits what one viewer or address reads in a period; null for no limit. */
	readonly budget?: Budget | null;
	readonly limits?: Partial<Limits>;
	/** The memory in which whole answers are kept to be used again. Default: none is kept. */
	readonly answersIn?: KeptEntries | null;
	/** Default: no request has a span. */
	readonly startSpan?: StartSpan | null;
	/** Whether to record what every operation does, in case it is slow. Default: no. */
	readonly recordsRequests?: boolean;
	/** Whether requests for known documents may take the short way. Tests compare both ways; there is no setting. Default: yes. */
	readonly shortWay?: boolean;
}

export interface Limits extends HttpLimits {
	/** An operation is aborted after this time, and its request fails a second later. */
	readonly executionMs: number;
	/** Connections that are still open this long after `close` are destroyed. */
	readonly drainMs: number;
}

const LIMITS: Limits = {
	executionMs: 10_000,
	drainMs: 10_000,
	receiveMs: 10_000,
	idleSocketMs: 30_000,
	keepAliveMs: 72_000,
	pipelined: 8,
	connections: 10_000,
	sendMs: 60_000,
	checkMs: 1_000,
	unreadBytes: 256 * 1_024 * 1_024,
	bodyBytes: 64 * 1_024 * 1_024,
};

/** The lifetime of an entry in the in-process cache. */
const HTTP_MAX_AGE_S = 10;

export interface Server extends AsyncDisposable {
	/** Without a path: `http://127.0.0.1:4000`. */
	readonly url: string;
	/** What it says on `/health/ready`. */
	readiness(): Promise<Readiness>;
	/** Say that it is not ready, and serve all requests as before. */
	leave(): void;
	/** Stop accepting requests, wait for running ones, then cut off the rest. A second call waits for the first. */
	close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
	const { log, mode, accessTokens, isUser } = options;
	const limits: Limits = { ...LIMITS, ...options.limits };
	const operators = options.operators ?? NO_OPERATORS;
	const users: Users = {
		isUser,
		userOfAccount: options.userOfAccount ?? (async () => null),
	};
	const trustProxy = trustedProxies(options.trustProxy);
	const addressOf = (message: IncomingMessage) =>
		clientAddress(message, trustProxy);
	const identifyBy = (authorization: string | undefined) =>
		identify(authorization, accessTokens, users, operators);
	const origins = allowedOrigins(mode, options.cors);
	const compression = options.compression ?? true;
	const requestIdHeader = options.requestIdHeader ?? null;
	const http = createHttpApp({
		log,
		origins,
		trustProxy,
		compression,
		requestIdHeader,
		limits,
		allowedMethods: allowedMethods(options.graphiql),
	});
	const { app } = http;
	const admission = new Admission(
		{
			limit: options.maxRequestsInProgress ?? Number.POSITIVE_INFINITY,
			deadlineMs: limits.executionMs,
		},
		http.refusals,
	);
	const ways: Ways = { short: 0, reused: 0, long: 0 };
	try {
		if (options.rateLimit) registerRateLimit(app, options.rateLimit, addressOf);
		registerHealth(http, {
			checks: options.health,
			ways,
			admission,
			isOperator: async (authorization) =>
				(await identifyBy(authorization)).isOperator,
		});
		const page =
			options.graphiql === "nobody"
				? sendAboutPage
				: await registerGraphiql(app, {
						access: options.graphiql,
						...(options.demo ? { demo: options.demo } : {}),
						explain: mode === "development" || hasOperators(operators),
						identify: async (authorization) => identifyBy(authorization),
					});
		registerPage(app, page, admission);
		const steps: StepOptions = {
			...options,
			identify: identifyBy,
			addressOf,
			ways,
			documents: options.documents ?? anyDocument(log),
			operatorDocuments: hasOperators(operators)
				? (options.operatorDocuments ?? anyDocument(log))
				: null,
			dependsOnViewer: options.dependsOnViewer ?? (() => true),
			usesOf: options.usesOf ?? (() => null),
			inputProblems: options.inputProblems ?? (() => []),
			httpStatus: options.httpStatus ?? "audit",
			budget: options.budget ?? null,
			startSpan: options.startSpan ?? null,
			recordsRequests: options.recordsRequests ?? false,
		};
		const known =
			(options.shortWay ?? true)
				? new KnownDocuments({
						...steps,
						answers: openAnswers(app, options.answersIn ?? null),
					})
				: null;
		const { shutdown, bodies } = http;
		http.answerFirst(
			new GraphqlHandler({
				...steps,
				shutdown,
				bodies,
				trustProxy,
				origins,
				compression,
				requestIdHeader,
				rateLimit: options.rateLimit ?? null,
				admission,
				executionMs: limits.executionMs,
				responseSender: new ResponseSender({
					log,
					shutdown,
					origins,
					compression,
					httpMaxAge: options.httpMaxAge ?? HTTP_MAX_AGE_S,
				}),
				known,
				runByApollo: await openApolloStep(app, steps),
			}),
		);
		await listen(app, options.host, options.port);
	} catch (error) {
		// Stops every Apollo Server that has started.
		await app.close();
		throw error;
	}

	let closed: Promise<void> | undefined;
	const close = () => {
		closed ??= drain(http, limits.drainMs, log);
		return closed;
	};
	return {
		url: urlOf(app),
		readiness: () => readinessOf(http, options.health),
		leave: () => http.shutdown.leave(),
		close,
		[Symbol.asyncDispose]: close,
	};
}

/** The methods of each path. */
function allowedMethods(
	graphiql: GraphiqlAccess,
): ReadonlyMap<string, readonly string[]> {
	return new Map([
		["/graphql", ["GET", "HEAD", "POST"]],
		["/health/live", ["GET", "HEAD"]],
		["/health/ready", ["GET", "HEAD"]],
		...(graphiql === "operators"
			? ([
					[SIGN_IN_PATH, ["POST"]],
					[SIGN_OUT_PATH, ["POST"]],
				] as const)
			: []),
	]);
}

/** Whole answers that are kept, and reported with the other caches until the app closes. */
function openAnswers(
	app: FastifyInstance,
	kept: KeptEntries | null,
): AnswerCache {
	const answers = new AnswerCache(kept);
	const reported = LOCAL_CACHE_LEVELS.add(() => [
		{ cache: "answers", ...answers.level() },
	]);
	app.addHook("onClose", async () => {
		reported[Symbol.dispose]();
	});
	return answers;
}

async function drain(
	{ app, shutdown }: HttpApp,
	drainMs: number,
	log: FastifyBaseLogger,
): Promise<void> {
	shutdown.drain();
	const timer = setTimeout(() => {
		log.warn({ drainMs }, "requests cut off");
		app.server.closeAllConnections();
	}, drainMs);
	try {
		await app.close();
	} finally {
		clearTimeout(timer);
	}
}

function anyDocument(log: FastifyBaseLogger): Documents {
	return createDocuments({ mode: "off", files: null, shared: null, log });
}

async function listen(
	app: FastifyInstance,
	host: string,
	port: number,
): Promise<void> {
	try {
		await app.listen({ host, port });
	} catch (cause) {
		throw listenError(host, port, cause);
	}
}

/** Throws as the start of a server would. Before work that a failing start would have done for nothing. */
export async function requireFreePort(
	host: string,
	port: number,
): Promise<void> {
	const probe = createServer();
	try {
		probe.listen(port, host);
		await once(probe, "listening");
	} catch (cause) {
		throw listenError(host, port, cause);
	}
	probe.close();
	await once(probe, "close");
}

function listenError(
	host: string,
	port: number,
	cause: unknown,
): CorkboardError {
	const { code } = cause as NodeJS.ErrnoException;
	return code === "EADDRINUSE"
		? new CorkboardError(
				"IN_USE",
				`Port ${port} on ${host} is used by another program. Stop it, or set PORT to a free port.`,
				{ cause },
			)
		: new CorkboardError(
				"BAD_CONFIG",
				`Cannot listen on ${host} port ${port}: ${code ?? String(cause)}.`,
				{ cause },
			);
}

function urlOf(app: FastifyInstance): string {
	const { address, family, port } = app.server.address() as AddressInfo;
	if (address === "0.0.0.0" || address === "::") {
		return `http://localhost:${port}`;
	}
	return family === "IPv6"
		? `http://[${address}]:${port}`
		: `http://${address}:${port}`;
}
