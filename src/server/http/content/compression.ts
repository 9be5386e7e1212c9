import { promisify } from "node:util";
import {
	brotliCompress,
	brotliCompressSync,
	constants,
	gzip,
	gzipSync,
} from "node:zlib";
import type { FastifyInstance } from "fastify";
import type { MaybePromise } from "../../../util/maybePromise.ts";
import { addVary } from "../cors.ts";

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

/** The encoding that a client prefers, by its Accept-Encoding header; null for none. Of those that it likes equally, brotli. */
export function encodingFor(accepted: string | undefined): Encoding | null {
	let best: Encoding | null = null;
	let bestWeight = 0;
	for (const part of accepted?.toLowerCase().split(",") ?? []) {
		const [name = "", ...parameters] = part.split(";");
		const encoding = NAMES.get(name.trim());
		if (encoding === undefined) continue;
		const weight = weightIn(parameters);
		if (weight > bestWeight || (weight === bestWeight && encoding === "br")) {
			best = weight > 0 ? encoding : best;
			bestWeight = weight;
		}
	}
	return best;
}

/** A client that accepts any encoding gets the one that everybody understands. */
const NAMES: ReadonlyMap<string, Encoding> = new Map([
	["br", "br"],
	["gzip", "gzip"],
	["x-gzip", "gzip"],
	["*", "gzip"],
]);

function weightIn(parameters: readonly string[]): number {
	for (const parameter of parameters) {
		const weight = /^\s*q\s*=\s*([\d.]+)\s*$/.exec(parameter)?.[1];
		if (weight !== undefined) return Number.parseFloat(weight) || 0;
	}
	return 1;
}

/** Compresses what Fastify's routes send: text. */
export function registerCompression(app: FastifyInstance): void {
	app.addHook("onSend", async ({ headers }, reply, payload) => {
		if (typeof payload !== "string" && !Buffer.isBuffer(payload))
			return payload;
		if (headers["x-no-compression"] !== undefined) return payload;
		const bytes = Buffer.from(payload as string);
		if (bytes.length < COMPRESSED_BYTES) return payload;
		addVary(reply, "Accept-Encoding");
		const encoding = encodingFor(headers["accept-encoding"] as string);
		if (encoding === null) return payload;
		reply.header("content-encoding", encoding);
		return compressBody(bytes, encoding);
	});
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
