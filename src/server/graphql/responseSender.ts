import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import type { Span } from "../../diagnostics.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import {
	COMPRESSED_BYTES,
	compressBody,
	type Encoding,
} from "../http/compression.ts";
import { type HttpApp, requestId } from "../http/httpApp.ts";
import { cacheControlOf, etagOf, isNotModified } from "../http/httpCache.ts";
import { GRAPHQL_PATH } from "../http/mediaType.ts";
import type { RequestHead } from "../http/requestHead.ts";
import { logRequest, type RequestOutcome } from "../http/requestOutcome.ts";
import type { ResponseSummary } from "../http/responseSummary.ts";
import type { ResponseWriter } from "../http/responseWriter.ts";
import type { Status } from "../http/status.ts";
import type { CountedRequest } from "../http/workDone.ts";

/** One request and its response. */
export interface Exchange {
	readonly message: IncomingMessage;
	readonly response: ServerResponse;
	readonly head: RequestHead;
	/** In milliseconds of `performance.now()`. */
	readonly arrivedAt: number;
	/** Towards its address's rate limit; null where there is none. */
	readonly counted: CountedRequest | null;
	readonly outcome: RequestOutcome;
	/** Null where it is not sampled. */
	readonly span: Span | null;
}

/**
 * A body with what is computed of it once, however often it is sent. It is a
 * string with a character for each byte of UTF-8: Node writes headers and body
 * in one piece and need not encode it, and V8 keeps it in a byte a character.
 */
export interface Body {
	readonly bytes: string;
	etag: string | null;
	readonly compressed: Partial<Record<Encoding, string>>;
}

export function newBody(text: string): Body {
	const isAscii = Buffer.byteLength(text) === text.length;
	const bytes = isAscii ? text : Buffer.from(text).toString("latin1");
	return { bytes, etag: null, compressed: {} };
}

export interface SenderOptions {
	readonly http: HttpApp;
	readonly writer: ResponseWriter;
	readonly log: FastifyBaseLogger;
	readonly requestIdHeader: string | null;
	/** Seconds that shared caches may keep a public response. */
	readonly httpMaxAge: number;
}

/** Sends responses of the short way: caching headers, compression, one line of the log. */
export class ResponseSender {
	readonly #options: SenderOptions;

	constructor(options: SenderOptions) {
		this.#options = options;
	}

	/** A promise while a long body is compressed. `headers` are names and values in turn. */
	send(
		exchange: Exchange,
		status: Status,
		cacheScope: ResponseSummary["cacheScope"],
		headers: readonly string[],
		body: Body,
	): MaybePromise<void> {
		const { message } = exchange;
		if (cacheScope === null || status.code !== 200) {
			return this.#compress(exchange, status, headers, "no-store", body);
		}
		body.etag ??= etagOf(Buffer.from(body.bytes, "latin1"));
		const cacheControl = cacheControlOf(cacheScope, this.#options.httpMaxAge);
		const all = [...headers, "etag", body.etag];
		if (isNotModified(body.etag, message.headers["if-none-match"])) {
			this.#write(exchange, { code: 304 }, all, cacheControl, null, null);
			return undefined;
		}
		return this.#compress(exchange, status, all, cacheControl, body);
	}

	#compress(
		exchange: Exchange,
		status: Status,
		headers: readonly string[],
		cacheControl: string,
		{ bytes, compressed }: Body,
	): MaybePromise<void> {
		const { encoding } = exchange.head;
		const write = (content: string, by: Encoding | null) =>
			this.#write(exchange, status, headers, cacheControl, content, by);
		if (encoding === null || bytes.length < COMPRESSED_BYTES) {
			return write(bytes, null);
		}
		const known = compressed[encoding];
		if (known !== undefined) return write(known, encoding);
		const whole = Buffer.from(bytes, "latin1");
		return andThen(compressBody(whole, encoding), (shorter) => {
			const content = shorter.toString("latin1");
			compressed[encoding] = content;
			write(content, encoding);
		});
	}

	#write(
		{ message, response, head, counted, arrivedAt, outcome, span }: Exchange,
		status: Status,
		headers: readonly string[],
		cacheControl: string,
		body: string | null,
		encoding: Encoding | null,
	): void {
		const { writer, http, log, requestIdHeader } = this.#options;
		const reqId = requestId(
			requestIdHeader === null ? undefined : message.headers[requestIdHeader],
		);
		writer.write(response, {
			requestId: reqId,
			origin: message.headers.origin,
			isGet: head.isGet,
			mediaType: head.mediaType,
			status,
			cacheControl,
			headers: counted === null ? headers : [...counted.headers, ...headers],
			body,
			encoding,
			isLast: http.shutdown.isDraining,
		});
		logRequest(
			log,
			{
				id: reqId,
				hasId: false,
				method: message.method,
				route: GRAPHQL_PATH,
				status: status.code,
				ms: performance.now() - arrivedAt,
				span,
				headers: message.headers,
			},
			outcome,
		);
	}
}
