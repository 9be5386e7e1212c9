import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ERRORS, type ErrorCode } from "../../errors.ts";
import { internalError, RETRY_AFTER } from "./clientError.ts";
import { BODY_BYTES } from "./content/bodyReader.ts";
import { mediaTypeFor } from "./content/mediaType.ts";
import { type AllowedOrigins, corsLines } from "./cors.ts";
import { HttpError } from "./httpError.ts";

/** The body of a response outside GraphQL, in GraphQL's format. */
export function errorBody(code: ErrorCode, message: string): string {
	return JSON.stringify({ errors: [{ message, extensions: { code } }] });
}

/** Messages of what is rejected by its form, by status. */
const REJECTIONS: Readonly<Record<string | number, string>> = {
	invalidJson: "The body is not valid JSON.",
	413: `The body is larger than ${BODY_BYTES} bytes.`,
	415: "The body must be of type application/json.",
};

export function messageOf(reason: "invalidJson" | number): string {
	return (
		REJECTIONS[reason] ?? `${STATUS_CODES[reason as number] ?? "Bad Request"}.`
	);
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

/** What Fastify or one of its routes throws. */
export function handleError(
	error: FastifyError,
	request: FastifyRequest,
	reply: FastifyReply,
): FastifyReply {
	const status = error.statusCode ?? 500;
	if (error instanceof HttpError) {
		return sendError(reply, error.code, error.message, status);
	}
	if (status >= 400 && status < 500) {
		const code = status === 404 ? "NOT_FOUND" : "BAD_REQUEST";
		return sendError(reply, code, messageOf(status), status);
	}
	return sendErrorBody(
		reply,
		500,
		JSON.stringify({ errors: [internalError(error, request.log)] }),
	);
}

/** What Node says of a request that it could not parse. */
interface MalformedRequest extends Error {
	readonly code?: string;
	/** What was read last, a Buffer. Fastify's types have it as its JSON. */
	readonly rawPacket?: unknown;
}

/** The origin that a request names, as far as it was read. */
function originOf(
	{ rawPacket }: MalformedRequest,
	socket: Socket,
): string | undefined {
	const { parser } = socket as unknown as {
		readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
	};
	return (
		parser?.incoming?.headers.origin ??
		/^origin:[ \t]*(\S+)[ \t]*\r?$/im.exec(
			Buffer.isBuffer(rawPacket) ? rawPacket.toString("latin1") : "",
		)?.[1]
	);
}

const TOO_SLOW = "ERR_HTTP_REQUEST_TIMEOUT";

/**
 * Requests that Node cannot parse or that arrive too slowly: there is no reply
 * object for them. While the response to an earlier request of the connection is
 * due, the client would take this one for it. A page of another origin reads the
 * status only if it may read the response.
 */
export function rejectMalformedRequest(
	error: MalformedRequest,
	socket: Socket,
	isResponding: boolean,
	origins: AllowedOrigins,
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
				...corsLines(origins, originOf(error, socket)),
				"",
				body,
			].join("\r\n"),
		);
	}
	socket.destroy(error);
}
