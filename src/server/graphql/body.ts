import type { Encoding } from "../http/content/compression.ts";

/** A body, with what is computed of it once, however often it is sent. */
export interface Body {
	/** Text that is sent once is encoded as it is sent: Node writes it with the headers in one piece, and nobody copies it before. */
	readonly content: string | Buffer;
	/** The charset of the text. ASCII, the usual case, takes the shorter way. */
	readonly charset: "latin1" | "utf8";
	/** In bytes. */
	readonly length: number;
	etag: string | null;
	/** Null for a body that is sent once. */
	readonly compressed: Partial<Record<Encoding, Buffer>> | null;
}

export function newBody(text: string): Body {
	const length = Buffer.byteLength(text);
	const charset = length === text.length ? "latin1" : "utf8";
	return { content: text, charset, length, etag: null, compressed: null };
}

/** The same body to be sent again: as its bytes, unless each character is one. */
export function keptBody(body: Body): Body {
	const { content, charset } = body;
	return {
		...body,
		content:
			charset === "latin1" ? content : unpooled(Buffer.from(content as string)),
		compressed: {},
	};
}

/** Small buffers are parts of a larger one, which lives as long as any of them. */
export function unpooled(bytes: Buffer): Buffer {
	const own = Buffer.allocUnsafeSlow(bytes.length);
	bytes.copy(own);
	return own;
}
