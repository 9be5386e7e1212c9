import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BodyReader } from "./bodyReader.ts";
import { HttpError } from "./httpError.ts";
import type { Refusals } from "./refusals.ts";

/** Of one body. */
export const BODY_BYTES = 1_000_000;

/**
 * Accept only JSON in UTF-8 (RFC 8259 §8.1). Fastify's own parser treats any
 * charset as UTF-8 and replaces invalid bytes by U+FFFD, so that the stored
 * text would not be the text sent.
 */
export function registerJsonParser(
	app: FastifyInstance,
	{
		maxBytes,
		refusals,
	}: {
		/** Of all bodies that are arriving. */
		readonly maxBytes: number;
		readonly refusals: Refusals;
	},
): void {
	const parse = app.getDefaultJsonParser("error", "error");
	const reader = new BodyReader({ bodyBytes: BODY_BYTES, maxBytes, refusals });
	app.removeAllContentTypeParsers();
	app.addContentTypeParser("application/json", (request, payload, done) => {
		reader.read(payload, (error, body) => {
			if (error !== null) return done(error, undefined);
			let text: string;
			try {
				text = UTF_8.decode(body);
			} catch {
				done(
					new HttpError("BAD_REQUEST", "The body is not valid UTF-8."),
					undefined,
				);
				return;
			}
			parse(request, text, done);
		});
	});
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Why a body is rejected, by its headers alone; null if it is not. Compressed
 * bodies are rejected, because a kilobyte can expand to a megabyte and a query
 * takes a few kilobytes.
 */
export function encodingError(
	request: FastifyRequest,
	reply: FastifyReply,
): string | null {
	const { "content-encoding": encoding, "content-type": type } =
		request.headers;
	if (
		encoding !== undefined &&
		!/^(?:\s*identity\s*(?:,|$))*$/i.test(encoding)
	) {
		// RFC 9110 §12.5.3: the encodings that would be accepted.
		reply.header("accept-encoding", "identity");
		return "The body must not be compressed.";
	}
	const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type ?? "")?.[1];
	return charset === undefined || /^utf-?8$/i.test(charset)
		? null
		: "The body must be in UTF-8.";
}
