import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import Fastify, {
	type FastifyBaseLogger,
	type FastifyInstance,
	LogController,
} from "fastify";
import type { ErrorCode } from "../../errors.ts";
import { hasValidHost, repeatedHeader, type TrustProxy } from "./address.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { BODY_BYTES, BodyReader } from "./content/bodyReader.ts";
import { registerCompression } from "./content/compression.ts";
import { encodingError } from "./content/jsonBody.ts";
import { GRAPHQL_PATH, isNegotiated } from "./content/mediaType.ts";
import { type AllowedOrigins, registerCors } from "./cors.ts";
import {
	handleError,
	rejectMalformedRequest,
	sendError,
} from "./errorResponses.ts";
import { askForBody, waitBeforeBodies } from "./expectedBodies.ts";
import { Refusals } from "./refusals.ts";
import { logRequest, NO_OPERATION } from "./requestOutcome.ts";

export interface HttpApp {
	readonly app: FastifyInstance;
	readonly shutdown: Shutdown;
	readonly refusals: Refusals;
	readonly bodies: BodyReader;
	/** Offer each request to this handler before Fastify, which gets those that it does not take. */
	answerFirst(handler: FirstHandler): void;
}

/** How far a server is on its way to its end. */
export class Shutdown {
	#isLeaving = false;
	#isDraining = false;

	/** Not ready from now on, so that load balancers send requests elsewhere; all are served as before. */
	leave(): void {
		this.#isLeaving = true;
	}

	/** Reject requests from now on, also on open connections. */
	drain(): void {
		this.#isLeaving = true;
		this.#isDraining = true;
	}

	get isLeaving(): boolean {
		return this.#isLeaving;
	}

	get isDraining(): boolean {
		return this.#isDraining;
	}
}

/** Answers requests past Fastify. */
export interface FirstHandler {
	takes(message: IncomingMessage): boolean;
	/** Whether it may refuse what comes now. */
	readonly isBusy: boolean;
	/** The whole response to a request that it takes and will not carry out; else null. */
	refuses(message: IncomingMessage): string | null;
	handle(message: IncomingMessage, response: ServerResponse): void;
}

export interface HttpLimits extends ConnectionLimits {
	/** From the first byte of a request to its last. */
	readonly receiveMs: number;
	/** A connection without traffic; longer than any response may take. */
	readonly idleSocketMs: number;
	/** Between two requests. Longer than a proxy keeps its connections, so that the proxy closes first. */
	readonly keepAliveMs: number;
	/** Most bytes of all bodies that are arriving, beyond the first 16 KB of each. */
	readonly bodyBytes: number;
}

/**
 * Fastify with our limits and with all errors in GraphQL's format.
 * `allowedMethods` has the methods of each path, for 405.
 */
export function createHttpApp(options: {
	readonly log: FastifyBaseLogger;
	readonly origins: AllowedOrigins;
	/** Null if no proxy is trusted. */
	readonly trustProxy: TrustProxy | null;
	/** Whether to compress responses for clients that accept it. */
	readonly compression: boolean;
	/** The header with a proxy's id of the request; null to ignore it. */
	readonly requestIdHeader: string | null;
	readonly limits: HttpLimits;
	readonly allowedMethods: ReadonlyMap<string, readonly string[]>;
}): HttpApp {
	const { log, limits, requestIdHeader } = options;
	const shutdown = new Shutdown();
	const refusals = new Refusals(log);
	const connections = new Connections(limits, refusals);

	const app: FastifyInstance = Fastify({
		loggerInstance: log,
		// Logged below, once a request. Fastify's own line includes the URL, and
		// so the query and variables of a GET.
		logController: new LogController({ disableRequestLogging: true }),
		genReqId: ({ headers }) => requestId(headers[requestIdHeader ?? ""]),
		trustProxy: options.trustProxy ?? false,
		bodyLimit: BODY_BYTES,
		requestTimeout: limits.receiveMs,
		connectionTimeout: limits.idleSocketMs,
		keepAliveTimeout: limits.keepAliveMs,
		http: {
			headersTimeout: limits.receiveMs,
			// Node's default is to look for late requests every 30 s.
			connectionsCheckingInterval: Math.min(1_000, limits.receiveMs),
			// Rejected below, with a body.
			requireHostHeader: false,
		},
		return503OnClosing: false,
		exposeHeadRoutes: false,
		clientErrorHandler: (error, socket) =>
			rejectMalformedRequest(
				error,
				socket,
				connections.isResponding(socket),
				options.origins,
			),
		frameworkErrors: (_error, _request, reply) => {
			sendError(reply, "BAD_REQUEST", "The URL is malformed.");
		},
	});
	connections.check(app);
	const bodies = new BodyReader({
		bodyBytes: BODY_BYTES,
		maxBytes: limits.bodyBytes,
		refusals,
	});
	// Only forms have a body here: their routes have a parser of their own.
	app.removeAllContentTypeParsers();
	const firsts: FirstHandler[] = [];
	takeTurns(app, connections, limits.pipelined, firsts);
	refuseFirst(app.server, connections, firsts);
	waitBeforeBodies(app.server);
	registerArrival(app, shutdown, options.trustProxy);
	registerCors(app, options.origins);
	registerRejections(app, options.allowedMethods);
	if (options.compression) registerCompression(app);
	// A connection kept alive would prolong the drain.
	app.addHook("onSend", async (_request, reply) => {
		if (shutdown.isDraining) reply.header("connection", "close");
	});
	registerLog(app);
	return {
		app,
		shutdown,
		refusals,
		bodies,
		answerFirst(handler) {
			firsts.push(handler);
		},
	};
}

/** Offers each request to the first handler that takes it, or to Fastify, when it is its turn on its connection. */
function takeTurns(
	app: FastifyInstance,
	connections: Connections,
	pipelined: number,
	firsts: readonly FirstHandler[],
): void {
	const [toFastify] = app.server.listeners("request") as [
		(message: IncomingMessage, response: ServerResponse) => void,
	];
	app.server.removeListener("request", toFastify);
	// Fastify's listener is called for what no first handler takes. No work is done for a request before its turn.
	app.server.on("request", (message, response) => {
		const handToFastify = () => toFastify(message, response);
		connections.admit(
			message.socket,
			response,
			() => {
				const first = firsts.find((handler) => handler.takes(message));
				if (first === undefined) handToFastify();
				else first.handle(message, response);
			},
			handToFastify,
		);
	});
	// Again, for the second server that Fastify opens if the host has two
	// addresses; and to say which request is one too many.
	app.addHook("onRequest", ({ id, raw }, reply, done) =>
		connections.admit(
			raw.socket,
			reply.raw,
			() => {
				const first = firsts.find((handler) => handler.takes(raw));
				if (first === undefined) return done();
				reply.hijack();
				first.handle(raw, reply.raw);
			},
			() => {
				reply.header("x-request-id", id).header("connection", "close");
				sendError(
					reply,
					"UNAVAILABLE",
					`More than ${pipelined} requests are waiting on this connection. Retry on another one.`,
				);
			},
		),
	);
}

/** What Node has for each connection. Its types do not have it. */
interface Parser {
	/** Called at the end of the head of each request. */
	onIncoming?: (message: IncomingMessage, keepsAlive: boolean) => number;
	/** Gets the body; where it is null, nobody does. */
	incoming: IncomingMessage | null;
}

/**
 * Asks handlers whether they refuse a request before Node makes its response object,
 * which costs as much as the refusal. Under several times the load that a process
 * can carry, refusals are most of its work.
 */
function refuseFirst(
	server: Server,
	connections: Connections,
	firsts: readonly FirstHandler[],
): void {
	server.on("connection", (socket) => {
		const { parser } = socket as unknown as { readonly parser?: Parser };
		const onIncoming = parser?.onIncoming;
		if (parser === undefined || typeof onIncoming !== "function") return;
		parser.onIncoming = (message, keepsAlive) => {
			const busy = firsts.find(({ isBusy }) => isBusy);
			if (
				busy !== undefined &&
				isPlain(message, keepsAlive) &&
				connections.isFree(socket) &&
				busy.takes(message)
			) {
				const refusal = busy.refuses(message);
				if (refusal !== null) {
					parser.incoming = null;
					socket.write(refusal, "latin1");
					return 0;
				}
			}
			return onIncoming(message, keepsAlive);
		};
	});
}

/**
 * Whether a request can be refused without Node's response object: the connection goes
 * on after it, and the response has a body. One that expects `100 Continue` might send no
 * body. Of a chunked body that nobody reads, Node gives the path and the trailers to the
 * next request.
 */
function isPlain(message: IncomingMessage, keepsAlive: boolean): boolean {
	const { expect, upgrade, "transfer-encoding": encoding } = message.headers;
	const saysNothing = (expect ?? upgrade ?? encoding) === undefined;
	return (
		keepsAlive &&
		message.httpVersionMinor > 0 &&
		message.method !== "HEAD" &&
		saysNothing
	);
}

/** The headers of every response, and what is rejected whatever its path. */
function registerArrival(
	app: FastifyInstance,
	shutdown: Shutdown,
	trustProxy: TrustProxy | null,
): void {
	app.addHook("onRequest", async (request, reply) => {
		reply.header("x-request-id", request.id);
		reply.header("x-content-type-options", "nosniff");
		reply.header("cache-control", "no-store");
		if (isNegotiated(request)) {
			const isCacheable = request.method === "GET";
			reply.header("vary", isCacheable ? "Accept, Authorization" : "Accept");
		}
		const isHealth = request.url.startsWith("/health/");
		const error = arrivalError(
			request.raw,
			isHealth ? null : shutdown,
			trustProxy,
		);
		if (error !== null) return sendError(reply, ...error);
	});
}

const METHODS = new Intl.ListFormat("en-GB", { type: "conjunction" });

/** What is rejected before a body is read: paths, methods and encodings that there are not. */
function registerRejections(
	app: FastifyInstance,
	allowedMethods: ReadonlyMap<string, readonly string[]>,
): void {
	app.addHook("onRequest", async (request, reply) => {
		if (!request.is404) return;
		const methods = allowedMethods.get(request.url.split("?", 1)[0] ?? "");
		if (methods === undefined) return sendError(reply, "NOT_FOUND");
		reply.header("allow", methods.join(", "));
		return sendError(
			reply,
			"BAD_REQUEST",
			`This URL accepts only ${METHODS.format(methods)}.`,
			405,
		);
	});
	app.addHook("preParsing", async (request, reply) => {
		const error = encodingError(request.headers);
		if (error === null) return askForBody(request.raw);
		const [name, value] = error.accepted;
		if (name !== undefined) reply.header(name, value);
		return sendError(reply, "BAD_REQUEST", error.message, 415);
	});
	app.setNotFoundHandler((_request, reply) => sendError(reply, "NOT_FOUND"));
	app.setErrorHandler(handleError);
}

function registerLog(app: FastifyInstance): void {
	app.addHook("onResponse", async (request, reply) => {
		// Answered past Fastify, and logged there.
		if (!reply.hasHeader("x-request-id")) return;
		// The pattern: the URL may hold a query and its variables.
		const route = request.routeOptions.url ?? null;
		logRequest(
			request.log,
			{
				id: request.id,
				hasId: true,
				method: request.method,
				route,
				status: reply.statusCode,
				ms: reply.elapsedTime,
				span: null,
				headers: request.headers,
			},
			route === GRAPHQL_PATH ? NO_OPERATION : null,
		);
	});
}

/** Why a request is rejected as it arrives. Without a `shutdown`, also a process that drains takes it. */
export function arrivalError(
	message: IncomingMessage,
	shutdown: Shutdown | null,
	trustProxy: TrustProxy | null,
): readonly [code: ErrorCode, message: string] | null {
	if (shutdown?.isDraining) {
		return ["UNAVAILABLE", "The server is shutting down."];
	}
	const repeated = repeatedHeader(message);
	if (repeated === "host" || !hasValidHost(message, trustProxy)) {
		return [
			"BAD_REQUEST",
			"The Host header is missing or malformed, or there are several.",
		];
	}
	return repeated === "authorization"
		? ["BAD_REQUEST", "There are several Authorization headers."]
		: null;
}

/** The proxy's id of a request. It goes into logs and headers, so its characters are limited. */
export function requestId(given: string | string[] | undefined): string {
	return typeof given === "string" && /^[\w.:/+=-]{1,128}$/.test(given)
		? given
		: randomUUID();
}
