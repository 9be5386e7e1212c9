import { isAscii } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { HttpError } from "../httpError.ts";

/**
 * The text of a body. Only UTF-8 is accepted (RFC 8259 §8.1): to replace invalid
 * bytes by U+FFFD would store another text than was sent.
 */
export function decodeBody(body: Buffer): string {
	if (isAscii(body)) return body.toString("latin1");
	try {
		return UTF_8.decode(body);
	} catch {
		throw new HttpError("BAD_REQUEST", "The body is not valid UTF-8.");
	}
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/** Parses the text of a body. Throws for what is not JSON, and for keys that would change a prototype if somebody copies them. */
export function parseJson(text: string): unknown {
	const parsed: unknown = JSON.parse(text);
	if (SUSPICIOUS.test(text)) rejectPoison(parsed);
	return parsed;
}

/** A key may be spelled with escapes. */
const SUSPICIOUS = /__proto__|constructor|\\u/;

function rejectPoison(value: unknown): void {
	const pending = [value];
	for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
		if (typeof next !== "object" || next === null) continue;
		const { constructor: named } = next as Record<string, unknown>;
		if (
			Object.hasOwn(next, "__proto__") ||
			(Object.hasOwn(next, "constructor") &&
				typeof named === "object" &&
				named !== null &&
				Object.hasOwn(named, "prototype"))
		) {
			throw new HttpError(
				"BAD_REQUEST",
				"The body must not have a key __proto__, or a key prototype below constructor.",
			);
		}
		for (const inner of Object.values(next)) pending.push(inner);
	}
}

/** Whether a POST has a body, or says of which type it is. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
	return (
		headers["content-type"] !== undefined ||
		headers["transfer-encoding"] !== undefined ||
		(headers["content-length"] ?? "0") !== "0"
	);
}

export function isJson(type: string | undefined): boolean {
	return type !== undefined && /^\s*application\/json\s*(?:;|$)/i.test(type);
}

/** Why a body is rejected, by its headers alone, with headers that say what is accepted. */
interface EncodingError {
	readonly message: string;
	/** Names and values in turn. */
	readonly accepted: readonly string[];
}

/**
 * Null if the body is not rejected by its headers. Compressed bodies are
 * rejected, because a kilobyte can expand to a megabyte and a query takes a few
 * kilobytes.
 */
export function encodingError({
	"content-encoding": encoding,
	"content-type": type,
}: IncomingHttpHeaders): EncodingError | null {
	if (
		encoding !== undefined &&
		!/^(?:\s*identity\s*(?:,|$))*$/i.test(encoding)
	) {
		return {
			message: "The body must not be compressed.",
			// RFC 9110 §12.5.3: the encodings that would be accepted.
			accepted: ["accept-encoding", "identity"],
		};
	}
	const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type ?? "")?.[1];
	return charset === undefined || /^utf-?8$/i.test(charset)
		? null
		: { message: "The body must be in UTF-8.", accepted: [] };
}
