import type { AddressInfo } from "node:net";
import { fastifyApolloHandler } from "@as-integrations/fastify";
import type {
	FastifyBaseLogger,
	FastifyInstance,
	FastifyRequest,
} from "fastify";
import type { GraphQLSchema } from "graphql";
import { CorkboardError } from "../errors.ts";
import { createApollo, type Execute, type RequestContext } from "./apollo.ts";
import { type Budget, spenderOf } from "./budget.ts";
import { refusal } from "./clientError.ts";
import { deadlineOf, withinDeadline } from "./deadline.ts";
import { resolveDocument } from "./documents/request.ts";
import { createDocuments, type Documents } from "./documents/store.ts";
import { asksToExplain, mayExplain } from "./explaining.ts";
import { type Demo, serveGraphiql } from "./graphiql/serve.ts";
import { serveHealth } from "./health.ts";
import { createHttp, type HttpLimits, refuse } from "./http.ts";
import { applyCaching } from "./httpCache.ts";
import { identify, type Users } from "./identity.ts";
import { asksForCost, createMeter } from "./meter.ts";
import { type DependsOnViewer, newOutcome, type Outcome } from "./outcome.ts";
import { applyStatus, type HttpStatus } from "./status.ts";
import type { RateLimit } from "./throttle.ts";
import type { Tokens } from "./tokens.ts";

export interface ServerOptions {
	/** The public schema: validation and introspection. */
	readonly schema: GraphQLSchema;
	/** Runs one operation, by plan. */
	readonly execute: Execute;
	/** Whether this id names an active user. */
	readonly isUser: Users["isUser"];
	/** Without it a token's subject is an id of ours or nobody's. */
	readonly userOf?: Users["userOf"];
	readonly tokens: Tokens;
	readonly mode: "development" | "production";
	readonly graphiql: boolean;
	readonly host: string;
	/** 0 for any that is free. */
	readonly port: number;
	/** Origins of pages that may ask; those of localhost may in development. */
	readonly cors: readonly string[];
	/** Whether, or from which addresses, X-Forwarded-* headers are believed. */
	readonly trustProxy: boolean | string;
	readonly log: FastifyBaseLogger;
	/** Who a visitor of GraphiQL is, and what there is to try. */
	readonly demo?: Demo;
	readonly ready: () => boolean | Promise<boolean>;
	/** Documents of files, and those that clients register; without it only these, kept in this process. */
	readonly documents?: Documents;
	/** Without it every answer does. */
	readonly dependsOnViewer?: DependsOnViewer;
	readonly httpStatus?: HttpStatus;
	/** How long (s) others may keep an answer that holds nothing of a viewer's. */
	readonly httpMaxAge?: number;
	readonly compression?: boolean;
	readonly rateLimit?: RateLimit | null;
	readonly requestIdHeader?: string | null;
	/** How much one viewer or address may have read; null for any number. */
	readonly budget?: Budget | null;
	readonly limits?: Partial<Limits>;
}

export interface Limits extends HttpLimits {
	/** An operation is told to stop after this, and refused a second later. */
	readonly executionMs: number;
	/** What still runs this long after `close` was called is cut off. */
	readonly drainMs: number;
}

const LIMITS: Limits = {
	executionMs: 10_000,
	drainMs: 10_000,
	receiveMs: 10_000,
	idleSocketMs: 30_000,
	keepAliveMs: 72_000,
};

/** As long as an entry of the process's own cache lives. */
const HTTP_MAX_AGE_S = 10;

export interface Server extends AsyncDisposable {
	/** Without a path: `http://127.0.0.1:4000`. */
	readonly url: string;
	/** Stop accepting, let what runs end, cut what does not. Calling it again waits for the same end. */
	close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
	const { log } = options;
	const limits: Limits = { ...LIMITS, ...options.limits };
	const documents =
		options.documents ??
		createDocuments({ mode: "off", files: null, shared: null, log });
	const apollo = createApollo({
		...options,
		documents,
		dependsOnViewer: options.dependsOnViewer ?? (() => true),
	});
	await apollo.start();
	const http = await createHttp({
		log,
		mode: options.mode,
		cors: options.cors,
		trustProxy: options.trustProxy,
		compression: options.compression ?? true,
		rateLimit: options.rateLimit ?? null,
		requestIdHeader: options.requestIdHeader ?? null,
		limits,
		allowed: new Map([
			["/graphql", ["GET", "POST"]],
			["/health/live", ["GET"]],
			["/health/ready", ["GET"]],
		]),
	});
	const { app } = http;
	serveHealth(http, options.ready);
	const graphiql = options.graphiql
		? await serveGraphiql(app, {
				...(options.demo ? { demo: options.demo } : {}),
				explain: mayExplain(options),
			})
		: null;

	const outcomes = new WeakMap<FastifyRequest, Outcome>();
	const answer = fastifyApolloHandler<RequestContext>(apollo, {
		async context(request, reply) {
			const outcome = outcomes.get(request) ?? newOutcome();
			outcome.wasAdmitted = true;
			const signal = deadlineOf(reply.raw, limits.executionMs);
			try {
				const viewer = await withinDeadline(
					identify(request.headers.authorization, options.tokens, {
						isUser: options.isUser,
						userOf: options.userOf ?? (async () => null),
					}),
					signal,
					0,
				);
				const explain = mayExplain(options) && asksToExplain(request);
				const meter = createMeter({
					asked: asksForCost(request),
					budget: options.budget ?? null,
					spender: spenderOf(viewer, request),
				});
				return { viewer, signal, explain, meter, outcome };
			} catch (thrown) {
				throw refusal(thrown);
			}
		},
	});
	app.route({
		method: ["GET", "POST"],
		url: "/graphql",
		async handler(request, reply) {
			const vary = reply.getHeader("vary");
			const varies =
				request.method === "GET" ? "Accept, Authorization" : "Accept";
			reply.header("vary", vary === undefined ? varies : `${vary}, ${varies}`);
			if (graphiql !== null && isBrowser(request)) return graphiql(reply);
			const fault = await resolveDocument(request, documents);
			if (fault !== null) {
				return refuse(reply, 400, fault.message, fault.code);
			}
			const outcome = newOutcome();
			outcomes.set(request, outcome);
			const body = String(await answer.call(app, request, reply));
			applyStatus(reply, outcome, options.httpStatus ?? "audit");
			return reply.send(
				applyCaching(
					request,
					reply,
					outcome,
					body,
					options.httpMaxAge ?? HTTP_MAX_AGE_S,
				),
			);
		},
	});

	const url = await listen(app, options.host, options.port);
	let closed: Promise<void> | undefined;
	const close = () => {
		closed ??= (async () => {
			http.drain();
			const cut = setTimeout(() => {
				log.warn("cutting off requests that did not end in time");
				app.server.closeAllConnections();
			}, limits.drainMs);
			try {
				await app.close();
			} finally {
				clearTimeout(cut);
				await apollo.stop();
			}
		})();
		return closed;
	};
	return { url, close, [Symbol.asyncDispose]: close };
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

async function listen(
	app: FastifyInstance,
	host: string,
	port: number,
): Promise<string> {
	try {
		await app.listen({ host, port });
	} catch (cause) {
		await app.close();
		const { code } = cause as NodeJS.ErrnoException;
		if (code === "EADDRINUSE") {
			throw new CorkboardError(
				"IN_USE",
				`port ${port} on ${host} is taken by another program: stop it, or set PORT to a free one`,
				{ cause },
			);
		}
		throw new CorkboardError(
			"BAD_CONFIG",
			`cannot listen on ${host} port ${port}: ${code ?? String(cause)}`,
			{ cause },
		);
	}
	const { address, family, port: bound } = app.server.address() as AddressInfo;
	if (address === "0.0.0.0" || address === "::") {
		return `http://localhost:${bound}`;
	}
	return family === "IPv6"
		? `http://[${address}]:${bound}`
		: `http://${address}:${bound}`;
}
