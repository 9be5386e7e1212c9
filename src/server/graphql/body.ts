import type { Encoding } from "../http/compression.ts";

/** A body, with what is computed of it once, however often it is sent. */
export interface Body {
	readonly bytes: Buffer;
	etag: string | null;
	/** Null for a body that is sent once. */
	readonly compressed: Partial<Record<Encoding, Buffer>> | null;
}

export function newBody(text: string): Body {
	return { bytes: Buffer.from(text), etag: null, compressed: null };
}

/** The same body to be sent again. It keeps no memory but its own. */
export function keptBody({ bytes, etag }: Body): Body {
	return { bytes: unpooled(bytes), etag, compressed: {} };
}

/** Small buffers are parts of a larger one, which lives as long as any of them. */
export function unpooled(bytes: Buffer): Buffer {
	const own = Buffer.allocUnsafeSlow(bytes.length);
	bytes.copy(own);
	return own;
}
