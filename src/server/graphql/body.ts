import type { Encoding } from "../http/compression.ts";

/** A body, with what is computed of it once, however often it is sent. */
export interface Body {
	/**
	 * Text where it is ASCII, as most is: Node then writes it with the headers in
	 * one piece, and nobody copies it before. Else its bytes. Both have the same
	 * length as what is sent.
	 */
	readonly content: string | Buffer;
	etag: string | null;
	/** Null for a body that is sent once. */
	readonly compressed: Partial<Record<Encoding, Buffer>> | null;
}

export function newBody(text: string): Body {
	const isAscii = Buffer.byteLength(text) === text.length;
	const content = isAscii ? text : Buffer.from(text);
	return { content, etag: null, compressed: null };
}

/** The same body to be sent again. It keeps no memory but its own. */
export function keptBody({ content, etag }: Body): Body {
	return {
		content: typeof content === "string" ? content : unpooled(content),
		etag,
		compressed: {},
	};
}

/** Small buffers are parts of a larger one, which lives as long as any of them. */
export function unpooled(bytes: Buffer): Buffer {
	const own = Buffer.allocUnsafeSlow(bytes.length);
	bytes.copy(own);
	return own;
}
