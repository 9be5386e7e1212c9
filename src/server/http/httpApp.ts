import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
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
import { internalError } from "./clientError.ts";
import { HttpError } from "./httpError.ts";
import { encodingError, registerJsonParser } from "./jsonBody.ts";
import { isNegotiated, mediaTypeFor } from "./mediaType.ts";

export interface HttpApp {
	readonly app: FastifyInstance;
	/** From now on requests are refused, on connections that are still open. */
	drain(): void;
	readonly isDraining: boolean;
}

export const BODY_BYTES = 1_000_000;

export interface HttpLimits {
	/** From the first byte of a request to its last. */
	readonly receiveMs: number;
	/** A connection on which nothing moves; longer than any answer may take. */
	readonly idleSocketMs: number;
	/** Between two requests; longer than proxies keep theirs, so that they close first. */
	readonly keepAliveMs: number;
}

/** Less than this costs more to compress than to send. */
const COMPRESSED_BYTES = 1_400;

const LOCALHOST = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/**
 * Fastify with this project's limits, and with its own errors told in
 * GraphQL's shape. `allowed` names the methods of each path, for 405.
 */
export async function createHttpApp(options: {
	readonly log: FastifyBaseLogger;
	readonly mode: "development" | "production";
	readonly cors: readonly string[];
	readonly trustProxy: boolean | string;
	/** Whether answers are compressed for clients that take it. */
	readonly compression: boolean;
	/** The header in which a proxy says what it calls the request; null if its word is not taken. */
	readonly requestIdHeader: string | null;
	readonly limits: HttpLimits;
	readonly allowedMethods: ReadonlyMap<string, readonly string[]>;
}): Promise<HttpApp> {
	const { log, limits, allowedMethods: allowed, requestIdHeader } = options;
	let draining = false;

	const app: FastifyInstance = Fastify({
		loggerInstance: log,
		// One line a request, written below: Fastify's own carries the URL, and
		// that the query and variables of a GET.
		logController: new LogController({ disableRequestLogging: true }),
		genReqId: ({ headers }) => requestId(headers[requestIdHeader ?? ""]),
		trustProxy: options.trustProxy === true ? isNearest : options.trustProxy,
		bodyLimit: BODY_BYTES,
		requestTimeout: limits.receiveMs,
		connectionTimeout: limits.idleSocketMs,
		keepAliveTimeout: limits.keepAliveMs,
		http: {
			headersTimeout: limits.receiveMs,
			// Node looks for requests that are overdue only every 30 s by itself.
			connectionsCheckingInterval: Math.min(1_000, limits.receiveMs),
			// Refused below, with a body.
			requireHostHeader: false,
		},
		return503OnClosing: false,
		exposeHeadRoutes: false,
		clientErrorHandler: rejectMalformedRequest,
		frameworkErrors: (_error, _request, reply) => {
			sendError(reply, 400, "The URL is malformed.");
		},
	});
	registerJsonParser(app);

	app.addHook("onRequest", async (request, reply) => {
		reply.header("x-request-id", request.id);
		reply.header("x-content-type-options", "nosniff");
		reply.header("cache-control", "no-store");
		if (isNegotiated(request)) {
			const isKept = request.method === "GET";
			reply.header("vary", isKept ? "Accept, Authorization" : "Accept");
		}
		const path = request.url.split("?", 1)[0] ?? "";
		if (draining && !path.startsWith("/health/")) {
			return sendError(reply, 503, "The server is shutting down.");
		}
		// The integration builds a URL of these two; what does not fit throws.
		if (!URL.canParse(`${request.protocol}://${request.hostname}/`)) {
			return sendError(reply, 400, "The Host header is missing or malformed.");
		}
	});
	await app.register(cors, {
		origin:
			options.mode === "development"
				? [...options.cors, LOCALHOST]
				: [...options.cors],
		methods: ["GET", "POST"],
		// Without allowedHeaders any header that is asked for may come: clients have
		// some of their own. As no cookie is taken, the origin is all there is to guard.
		exposedHeaders: ["etag", "retry-after", "x-request-id"],
		maxAge: 600,
		strictPreflight: false,
	});
	// Before any body is read.
	app.addHook("onRequest", async (request, reply) => {
		if (!request.is404) return;
		const methods = allowed.get(request.url.split("?", 1)[0] ?? "");
		if (methods === undefined)
			return sendError(reply, 404, "There is nothing here.");
		reply.header("allow", methods.join(", "));
		return sendError(
			reply,
			405,
			`This address takes ${methods.join(" and ")} only.`,
		);
	});
	app.addHook("preParsing", async (request, reply) => {
		const fault = encodingError(request, reply);
		if (fault !== null) return sendError(reply, 415, fault);
	});
	if (options.compression) {
		await app.register(compress, {
			threshold: COMPRESSED_BYTES,
			encodings: ["br", "gzip"],
			globalDecompression: false,
		});
	}
	app.setNotFoundHandler((_request, reply) =>
		sendError(reply, 404, "There is nothing here."),
	);
	app.setErrorHandler(handleError);
	// A connection kept alive would outlast its answer, and the drain with it.
	app.addHook("onSend", async (_request, reply) => {
		if (draining) reply.header("connection", "close");
	});
	app.addHook("onResponse", async (request, reply) => {
		request.log.info(
			{
				method: request.method,
				// The pattern, not what the client wrote.
				route: request.routeOptions.url ?? null,
				status: reply.statusCode,
				ms: Math.round(reply.elapsedTime),
			},
			"request",
		);
	});
	return {
		app,
		drain() {
			draining = true;
		},
		get isDraining() {
			return draining;
		},
	};
}

/**
 * Each proxy adds to X-Forwarded-For on the right. What stands to the left of
 * what the nearest one wrote may be the client's own invention, so without a list
 * of proxies only that one is believed.
 */
function isNearest(_address: string, hop: number): boolean {
	return hop === 0;
}

/** Written to logs and headers, so one that could be mistaken for anything else is not taken. */
function requestId(given: string | string[] | undefined): string {
	return typeof given === "string" && /^[\w.:/+=-]{1,128}$/.test(given)
		? given
		: randomUUID();
}

/** What Fastify throws before Apollo is asked, or what broke outside of it. */
function handleError(
	error: FastifyError,
	request: FastifyRequest,
	reply: FastifyReply,
): FastifyReply {
	const status = error.statusCode ?? 500;
	if (error instanceof HttpError)
		return sendError(reply, status, error.message);
	if (status === 413) {
		return sendError(
			reply,
			413,
			`The body is larger than ${BODY_BYTES} bytes.`,
		);
	}
	if (status === 415) {
		return sendError(reply, 415, "The body must be of type application/json.");
	}
	if (status >= 400 && status < 500) {
		return sendError(
			reply,
			status,
			request.method === "POST" && status === 400
				? "The body is not a valid JSON text."
				: `${STATUS_CODES[status] ?? "Bad Request"}.`,
		);
	}
	return sendErrorBody(
		reply,
		500,
		JSON.stringify({ errors: [internalError(error, request.log)] }),
	);
}

/** Requests that Node could not make sense of, and those that came too slowly: there is no reply to write to. */
function rejectMalformedRequest(
	error: Error & { readonly code?: string },
	socket: Socket,
): void {
	if (error.code === "ECONNRESET" || socket.destroyed) return;
	if (socket.writable) {
		const [status, message] =
			error.code === "ERR_HTTP_REQUEST_TIMEOUT"
				? ([408, "The request came too slowly."] as const)
				: error.code === "HPE_HEADER_OVERFLOW"
					? ([431, "The request's headers are too large."] as const)
					: ([400, "This is not a valid HTTP request."] as const);
		const body = errorBody(status, message);
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

export function sendError(
	reply: FastifyReply,
	status: number,
	message: string,
	code: string = codeOf(status),
): FastifyReply {
	return sendErrorBody(reply, status, errorBody(status, message, code));
}

function sendErrorBody(
	reply: FastifyReply,
	status: number,
	body: string,
): FastifyReply {
	return reply.code(status).type(mediaTypeFor(reply.request)).send(body);
}

/** What may be asked again later, unchanged, is UNAVAILABLE. */
function codeOf(status: number): string {
	if (status === 404) return "NOT_FOUND";
	return status === 429 || status === 503 ? "UNAVAILABLE" : "BAD_REQUEST";
}

function errorBody(
	status: number,
	message: string,
	code: string = codeOf(status),
): string {
	return JSON.stringify({ errors: [{ message, extensions: { code } }] });
}
