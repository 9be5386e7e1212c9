import { randomUUID } from "node:crypto";
import {
	type IncomingMessage,
	type ServerResponse,
	STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import Fastify, {
	type FastifyBaseLogger,
	type FastifyError,
	type FastifyInstance,
	type FastifyReply,
	type FastifyRequest,
	LogController,
} from "fastify";
import { ERRORS, type ErrorCode } from "../../errors.ts";
import type { TrustProxy } from "./address.ts";
import { BODY_BYTES, BodyReader } from "./bodyReader.ts";
import { internalError, RETRY_AFTER } from "./clientError.ts";
import { COMPRESSED_BYTES } from "./compression.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { type AllowedOrigins, EXPOSED_HEADERS } from "./cors.ts";
import { HttpError } from "./httpError.ts";
import { encodingError, registerJsonParser } from "./jsonBody.ts";
import { GRAPHQL_PATH, isNegotiated, mediaTypeFor } from "./mediaType.ts";
import { Refusals } from "./refusals.ts";
import { logRequest, NO_OPERATION, outcomeOf } from "./requestOutcome.ts";
import { spanOf } from "./requestSpan.ts";
import { workDoneOn } from "./workDone.ts";

export interface HttpApp {
	readonly app: FastifyInstance;
	readonly shutdown: Shutdown;
	readonly refusals: Refusals;
	readonly bodies: BodyReader;
	/** Offer each request to this handler first. Fastify gets those that it returns false for, and those that it hands over later. */
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

/** Returns whether it answers the request. If it cannot after all, it calls `handOver`. */
export type FirstHandler = (
	message: IncomingMessage,
	response: ServerResponse,
	handOver: () => void,
) => boolean;

export interface HttpLimits extends ConnectionLimits {
	/** From the first byte of a request to its last. */
	readonly receiveMs: number;
	/** A connection without traffic; longer than any response may take. */
	readonly idleSocketMs: number;
	/** Between two requests. Longer than a proxy keeps its connections, so that the proxy closes first. */
	readonly keepAliveMs: number;
	/** Of all bodies that are arriving, together, beyond the first 16 KB of each. */
	readonly bodyBytes: number;
}

/**
 * Fastify with our limits and with all errors in GraphQL's format.
 * `allowedMethods` has the methods of each path, for 405.
 */
export async function createHttpApp(options: {
	readonly log: FastifyBaseLogger;
	readonly origins: AllowedOrigins;
	/** Null where no proxy is trusted. */
	readonly trustProxy: TrustProxy | null;
	/** Whether to compress responses for clients that accept it. */
	readonly compression: boolean;
	/** The header with a proxy's id of the request; null to ignore it. */
	readonly requestIdHeader: string | null;
	readonly limits: HttpLimits;
	readonly allowedMethods: ReadonlyMap<string, readonly string[]>;
}): Promise<HttpApp> {
	const { log, limits, allowedMethods, requestIdHeader } = options;
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
			rejectMalformedRequest(error, socket, connections.isResponding(socket)),
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
	registerJsonParser(app, bodies);
	const [toFastify] = app.server.listeners("request") as [
		(message: IncomingMessage, response: ServerResponse) => void,
	];
	app.server.removeListener("request", toFastify);
	let first: FirstHandler = () => false;
	// No work is done for a request before its turn.
	app.server.on("request", (message, response) => {
		const handOver = () => toFastify(message, response);
		connections.admit(
			message.socket,
			response,
			() => {
				if (!first(message, response, handOver)) handOver();
			},
			handOver,
		);
	});

	// Again, for the second server that Fastify opens where the host has two
	// addresses; and to say which request is one too many.
	app.addHook("onRequest", ({ raw: { socket } }, reply, done) =>
		connections.admit(socket, reply.raw, done, () => {
			reply.header("connection", "close");
			sendError(
				reply,
				"UNAVAILABLE",
				`More than ${limits.pipelined} requests are waiting on this connection. Retry on another one.`,
			);
		}),
	);
	app.addHook("onRequest", async (request, reply) => {
		reply.header("x-request-id", request.id);
		reply.header("x-content-type-options", "nosniff");
		reply.header("cache-control", "no-store");
		if (isNegotiated(request)) {
			const isCacheable = request.method === "GET";
			reply.header("vary", isCacheable ? "Accept, Authorization" : "Accept");
		}
		const path = request.url.split("?", 1)[0] ?? "";
		// A request with work done arrived before the drain: its body was awaited.
		const isNew = workDoneOn(request.raw) === undefined;
		if (shutdown.isDraining && isNew && !path.startsWith("/health/")) {
			return sendError(reply, "UNAVAILABLE", "The server is shutting down.");
		}
		// Apollo's integration builds a URL of these two, which may throw.
		if (!URL.canParse(`${request.protocol}://${request.hostname}/`)) {
			return sendError(
				reply,
				"BAD_REQUEST",
				"The Host header is missing or malformed.",
			);
		}
	});
	await app.register(cors, {
		origin: [...options.origins],
		methods: ["GET", "POST"],
		// Without allowedHeaders, CORS allows any request header: clients have some
		// of their own. Cookies are ignored, so only the origin needs a check.
		exposedHeaders: EXPOSED_HEADERS,
		maxAge: 600,
		strictPreflight: false,
	});
	// Before the body is read.
	app.addHook("onRequest", async (request, reply) => {
		if (!request.is404) return;
		const methods = allowedMethods.get(request.url.split("?", 1)[0] ?? "");
		if (methods === undefined) return sendError(reply, "NOT_FOUND");
		reply.header("allow", methods.join(", "));
		return sendError(
			reply,
			"BAD_REQUEST",
			`This URL accepts only ${methods.join(" and ")}.`,
			405,
		);
	});
	app.addHook("preParsing", async (request, reply) => {
		const message = encodingError(request, reply);
		if (message !== null) return sendError(reply, "BAD_REQUEST", message, 415);
	});
	if (options.compression) {
		await app.register(compress, {
			threshold: COMPRESSED_BYTES,
			encodings: ["br", "gzip"],
			globalDecompression: false,
		});
	}
	app.setNotFoundHandler((_request, reply) => sendError(reply, "NOT_FOUND"));
	app.setErrorHandler(handleError);
	// A connection kept alive would prolong the drain.
	app.addHook("onSend", async (_request, reply) => {
		if (shutdown.isDraining) reply.header("connection", "close");
	});
	app.addHook("onResponse", async (request, reply) => {
		const arrivedAt = workDoneOn(request.raw)?.arrivedAt;
		// The pattern: the URL may hold a query and its variables.
		const route = request.routeOptions.url ?? null;
		const outcome = outcomeOf(request.raw);
		logRequest(
			request.log,
			{
				id: request.id,
				hasId: true,
				method: request.method,
				route,
				status: reply.statusCode,
				ms:
					arrivedAt === undefined
						? reply.elapsedTime
						: performance.now() - arrivedAt,
				span: spanOf(request.raw),
				headers: request.headers,
			},
			outcome ?? (route === GRAPHQL_PATH ? NO_OPERATION : null),
		);
	});
	return {
		app,
		shutdown,
		refusals,
		bodies,
		answerFirst(handler) {
			first = handler;
		},
	};
}

/** The proxy's id of a request. It goes into logs and headers, so its characters are limited. */
export function requestId(given: string | string[] | undefined): string {
	return typeof given === "string" && /^[\w.:/+=-]{1,128}$/.test(given)
		? given
		: randomUUID();
}

/** What Fastify throws before Apollo handles the request, or fails outside of Apollo. */
function handleError(
	error: FastifyError,
	request: FastifyRequest,
	reply: FastifyReply,
): FastifyReply {
	const status = error.statusCode ?? 500;
	if (error instanceof HttpError) {
		return sendError(reply, error.code, error.message, status);
	}
	if (status >= 400 && status < 500) {
		const isJsonError = request.method === "POST" && status === 400;
		const message =
			REJECTIONS[isJsonError ? "invalidJson" : status] ??
			`${STATUS_CODES[status] ?? "Bad Request"}.`;
		const code = status === 404 ? "NOT_FOUND" : "BAD_REQUEST";
		return sendError(reply, code, message, status);
	}
	return sendErrorBody(
		reply,
		500,
		JSON.stringify({ errors: [internalError(error, request.log)] }),
	);
}

/** Messages of what Fastify rejects, by status. */
const REJECTIONS: Readonly<Record<string | number, string>> = {
	invalidJson: "The body is not valid JSON.",
	413: `The body is larger than ${BODY_BYTES} bytes.`,
	415: "The body must be of type application/json.",
};

const TOO_SLOW = "ERR_HTTP_REQUEST_TIMEOUT";

/**
 * Requests that Node cannot parse or that arrive too slowly: there is no reply
 * object for them. While the response to an earlier request of the connection is
 * due, the client would take this one for it.
 */
function rejectMalformedRequest(
	error: Error & { readonly code?: string },
	socket: Socket,
	isResponding: boolean,
): void {
	if (error.code === "ECONNRESET" || socket.destroyed) return;
	// Nothing was sent on it yet, or lies in the socket of a process that is late. `idleSocketMs` ends it.
	if (error.code === TOO_SLOW && socket.bytesRead === 0) return;
	if (socket.writable && !isResponding) {
		const [status, message] =
			error.code === TOO_SLOW
				? ([408, "The request arrived too slowly."] as const)
				: error.code === "HPE_HEADER_OVERFLOW"
					? ([431, "The request's headers are too large."] as const)
					: ([400, "This is not a valid HTTP request."] as const);
		const body = errorBody("BAD_REQUEST", message);
		socket.write(
			[
				`HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
				"content-type: application/json; charset=utf-8",
				`content-length: ${Buffer.byteLength(body)}`,
				"connection: close",
				"",
				body,
			].join("\r\n"),
		);
	}
	socket.destroy(error);
}

/** Respond in GraphQL's format; message and status default to those of the code. */
export function sendError(
	reply: FastifyReply,
	code: ErrorCode,
	message: string = ERRORS[code].message,
	status: number = ERRORS[code].status,
): FastifyReply {
	return sendErrorBody(reply, status, errorBody(code, message));
}

function sendErrorBody(
	reply: FastifyReply,
	status: number,
	body: string,
): FastifyReply {
	if (status === 503) reply.header("retry-after", RETRY_AFTER);
	return reply.code(status).type(mediaTypeFor(reply.request)).send(body);
}

function errorBody(code: ErrorCode, message: string): string {
	return JSON.stringify({ errors: [{ message, extensions: { code } }] });
}
