import { promisify } from "node:util";
import {
	brotliCompress,
	brotliCompressSync,
	constants,
	gzip,
	gzipSync,
} from "node:zlib";
import type { MaybePromise } from "../../util/maybePromise.ts";

/** A smaller response fits into one packet uncompressed. */
export const COMPRESSED_BYTES = 1_400;

/**
 * Up to here a response is compressed at once: 60 µs for 8 KB. The thread pool
 * would add about as much to hand it over and back. A larger one would keep
 * other requests waiting.
 */
const AT_ONCE_BYTES = 65_536;

/**
 * The fastest levels: a response is compressed for one client, so each byte that
 * a higher level saves costs more than to send it. Brotli at level 1 takes as
 * long as gzip at level 1, a quarter of level 4, and makes a tenth more bytes.
 */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
/** With less memory to prepare than by default. */
const GZIP = { level: 1, windowBits: 14, memLevel: 7 };

export type Encoding = "br" | "gzip";

/** Of an Accept-Encoding header without weights: what is sent, null for neither; undefined for a header that takes more to understand. */
export function encodingFor(
	accepted: string | undefined,
): Encoding | null | undefined {
	if (accepted === undefined) return null;
	if (!/^[a-z, \t-]*$/.test(accepted)) return undefined;
	const encodings = accepted.split(/[, \t]+/);
	if (encodings.includes("br")) return "br";
	return encodings.includes("gzip") ? "gzip" : null;
}

/** A promise for a large body. */
export function compressBody(
	body: Buffer,
	encoding: Encoding,
): MaybePromise<Buffer> {
	if (body.length > AT_ONCE_BYTES) {
		return encoding === "br"
			? compressByBrotli(body, BROTLI)
			: compressByGzip(body, GZIP);
	}
	return encoding === "br"
		? brotliCompressSync(body, BROTLI)
		: gzipSync(body, GZIP);
}

const compressByBrotli = promisify<Buffer, typeof BROTLI, Buffer>(
	brotliCompress,
);
const compressByGzip = promisify<Buffer, typeof GZIP, Buffer>(gzip);
