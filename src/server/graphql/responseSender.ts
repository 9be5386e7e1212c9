import type { FastifyBaseLogger } from "fastify";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import {
	COMPRESSED_BYTES,
	compressBody,
	type Encoding,
} from "../http/content/compression.ts";
import { GRAPHQL_PATH } from "../http/content/mediaType.ts";
import {
	type AllowedOrigins,
	allowedOrigin,
	allowsAll,
	EXPOSED_HEADERS,
} from "../http/cors.ts";
import type { Shutdown } from "../http/httpApp.ts";
import { cacheControlOf, etagOf, isNotModified } from "../http/httpCache.ts";
import { logRequest } from "../http/requestOutcome.ts";
import type { Status } from "../http/status.ts";
import { unpooled } from "./body.ts";
import type { GraphqlRequest, Reply } from "./request.ts";

interface SenderOptions {
	readonly log: FastifyBaseLogger;
	readonly shutdown: Shutdown;
	readonly origins: AllowedOrigins;
	/** Whether responses are compressed for clients that accept it. */
	readonly compression: boolean;
	/** Seconds that shared caches may keep a public response. */
	readonly httpMaxAge: number;
}

/** Sends the response to each GraphQL request: caching headers, compression, one line of the log. */
export class ResponseSender {
	readonly #options: SenderOptions;
	readonly #varyOfGet: string;
	readonly #varyOfPost: string;

	constructor(options: SenderOptions) {
		this.#options = options;
		const byOrigin = allowsAll(options.origins) ? "" : ", Origin";
		// Also of what is not compressed, and of 304: a cache gives its copy the Vary of
		// the latest response, and would send a compressed copy to everybody.
		const byEncoding = options.compression ? ", Accept-Encoding" : "";
		this.#varyOfGet = `Accept, Authorization${byOrigin}${byEncoding}`;
		this.#varyOfPost = `Accept${byOrigin}`;
	}

	/** A promise while a long body is compressed. */
	send(request: GraphqlRequest, reply: Reply): MaybePromise<void> {
		const { status, headers, cacheScope, body } = reply;
		if (cacheScope === null || status.code !== 200) {
			return this.#compress(
				request,
				reply,
				headers,
				reply.cacheControl ?? "no-store",
			);
		}
		body.etag ??= etagOf(body.content);
		const cacheControl = cacheControlOf(cacheScope, this.#options.httpMaxAge);
		const all = [...headers, "etag", body.etag];
		if (isNotModified(body.etag, request.message.headers["if-none-match"])) {
			const none = { ...reply, status: { code: 304 } };
			return this.#write(request, none, all, cacheControl, null, null);
		}
		return this.#compress(request, reply, all, cacheControl);
	}

	#compress(
		request: GraphqlRequest,
		reply: Reply,
		headers: readonly string[],
		cacheControl: string,
	): MaybePromise<void> {
		const { encoding } = request;
		const { content, length, compressed } = reply.body;
		const write = (sent: string | Buffer, by: Encoding | null) =>
			this.#write(request, reply, headers, cacheControl, sent, by);
		if (encoding === null || length < COMPRESSED_BYTES) {
			return write(content, null);
		}
		const known = compressed?.[encoding];
		if (known !== undefined) return write(known, encoding);
		return andThen(
			compressBody(Buffer.from(content as string), encoding),
			(shorter) => {
				if (compressed !== null) compressed[encoding] = unpooled(shorter);
				write(shorter, encoding);
			},
		);
	}

	#write(
		request: GraphqlRequest,
		{ status, mediaType, body }: Reply,
		headers: readonly string[],
		cacheControl: string,
		content: string | Buffer | null,
		encoding: Encoding | null,
	): void {
		const { shutdown, origins } = this.#options;
		const { message, response, isGet, id } = request;
		const vary = isGet ? this.#varyOfGet : this.#varyOfPost;
		const lines = [
			"x-request-id",
			id,
			"x-content-type-options",
			"nosniff",
			"cache-control",
			cacheControl,
			"vary",
			isGet || encoding === null ? vary : `${vary}, Accept-Encoding`,
			"access-control-expose-headers",
			EXPOSED_HEADERS,
		];
		const origin = allowedOrigin(origins, message.headers.origin);
		if (origin !== null) lines.push("access-control-allow-origin", origin);
		for (const part of request.levels.headers) lines.push(part);
		for (const part of headers) lines.push(part);
		if (encoding !== null) lines.push("content-encoding", encoding);
		if (request.isLast || shutdown.isDraining)
			lines.push("connection", "close");
		if (content !== null) {
			lines.push("content-type", mediaType);
			const { length } = typeof content === "string" ? body : content;
			lines.push("content-length", String(length));
		}
		if (status.message === undefined) response.writeHead(status.code, lines);
		else response.writeHead(status.code, status.message, lines);
		if (content === null) response.end();
		else response.end(content, body.charset);
		this.#log(request, status);
	}

	#log(request: GraphqlRequest, status: Status): void {
		const { id, message, arrivedAt, span, outcome } = request;
		logRequest(
			this.#options.log,
			{
				id,
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
