import { ERRORS, type ErrorCode } from "../../errors.ts";

/** Rejects a request from within Fastify: the client gets its message. */
export class HttpError extends Error {
	readonly code: ErrorCode;
	readonly statusCode: number;

	constructor(
		code: ErrorCode,
		message: string,
		statusCode: number = ERRORS[code].status,
	) {
		super(message);
		this.code = code;
		this.statusCode = statusCode;
	}
}
