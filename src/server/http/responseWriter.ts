import type { ServerResponse } from "node:http";
import type { Encoding } from "./compression.ts";
import {
	type AllowedOrigins,
	allowedOrigin,
	allowsAll,
	EXPOSED_HEADERS,
} from "./cors.ts";
import type { Status } from "./status.ts";

/** A response of the short way. */
export interface DirectResponse {
	readonly requestId: string;
	/** Of the request. */
	readonly origin: string | undefined;
	readonly isGet: boolean;
	readonly mediaType: string;
	readonly status: Status;
	readonly cacheControl: string;
	/** Names and values in turn. */
	readonly headers: readonly string[];
	/** A character for each byte; null for 304. */
	readonly body: string | null;
	/** Of the body; null for none. */
	readonly encoding: Encoding | null;
	/** Whether the connection ends after it. */
	readonly isLast: boolean;
}

/** Writes the headers that Fastify's hooks set, and the body, in one piece. */
export class ResponseWriter {
	readonly #origins: AllowedOrigins;
	readonly #varyByOrigin: string;

	constructor(origins: AllowedOrigins) {
		this.#origins = origins;
		this.#varyByOrigin = allowsAll(origins) ? "" : ", Origin";
	}

	write(response: ServerResponse, direct: DirectResponse): void {
		const { body, encoding, status } = direct;
		const headers = [
			"x-request-id",
			direct.requestId,
			"x-content-type-options",
			"nosniff",
			"cache-control",
			direct.cacheControl,
			"vary",
			`${direct.isGet ? "Accept, Authorization" : "Accept"}${this.#varyByOrigin}${encoding === null ? "" : ", accept-encoding"}`,
			"access-control-expose-headers",
			EXPOSED,
		];
		const origin = allowedOrigin(this.#origins, direct.origin);
		if (origin !== null) headers.push("access-control-allow-origin", origin);
		for (const part of direct.headers) headers.push(part);
		if (encoding !== null) headers.push("content-encoding", encoding);
		if (direct.isLast) headers.push("connection", "close");
		if (body !== null) {
			headers.push(
				"content-type",
				direct.mediaType,
				"content-length",
				String(body.length),
			);
		}
		if (status.message === undefined) response.writeHead(status.code, headers);
		else response.writeHead(status.code, status.message, headers);
		if (body === null) response.end();
		else response.end(body, "latin1");
	}
}

const EXPOSED = EXPOSED_HEADERS.join(", ");
