import { isAscii } from "node:buffer";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BodyReader } from "./bodyReader.ts";
import { HttpError } from "./httpError.ts";
import { workDoneOn } from "./workDone.ts";

/**
 * Accept only JSON in UTF-8 (RFC 8259 §8.1). Fastify's own parser treats any
 * charset as UTF-8 and replaces invalid bytes by U+FFFD, so that the stored
 * text would not be the text sent.
 */
export function registerJsonParser(
	app: FastifyInstance,
	bodies: BodyReader,
): void {
	const parse = app.getDefaultJsonParser("error", "error");
	app.removeAllContentTypeParsers();
	app.addContentTypeParser("application/json", (request, payload, done) => {
		const accept = (error: Error | null, body: Buffer) => {
			if (error !== null) return done(error, undefined);
			let text: string;
			try {
				text = decodeBody(body);
			} catch {
				done(
					new HttpError("BAD_REQUEST", "The body is not valid UTF-8."),
					undefined,
				);
				return;
			}
			parse(request, text, done);
		};
		const read = workDoneOn(request.raw)?.body;
		if (read) accept(read.error, read.bytes);
		else bodies.read(payload, accept);
	});
}

/** Throws for bytes that are not UTF-8. */
export function decodeBody(body: Buffer): string {
	return isAscii(body) ? body.toString("latin1") : UTF_8.decode(body);
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
