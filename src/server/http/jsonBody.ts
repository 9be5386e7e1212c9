import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { HttpError } from "./httpError.ts";

/**
 * Bodies are JSON texts in UTF-8 (RFC 8259 §8.1), and nothing else: Fastify by
 * itself takes any charset for UTF-8, and puts U+FFFD where bytes are none, so
 * that what is stored would not be what was sent.
 */
export function registerJsonParser(app: FastifyInstance): void {
	const parse = app.getDefaultJsonParser("error", "error");
	app.removeAllContentTypeParsers();
	app.addContentTypeParser(
		"application/json",
		{ parseAs: "buffer" },
		(request, body, done) => {
			let text: string;
			try {
				text = UTF_8.decode(body as Buffer);
			} catch {
				done(new HttpError(400, "The body is not valid UTF-8."), undefined);
				return;
			}
			parse(request, text, done);
		},
	);
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Why a body is not taken, by its headers alone; null if it may be. Compressed
 * ones are refused: a thousand bytes can unfold to a million, and a query is
 * no more than some kilobytes.
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
		// RFC 9110 §12.5.3: what would be taken.
		reply.header("accept-encoding", "identity");
		return "The body must not be compressed.";
	}
	const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type ?? "")?.[1];
	return charset === undefined || /^utf-?8$/i.test(charset)
		? null
		: "The body must be in UTF-8.";
}
