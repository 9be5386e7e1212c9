import type { IncomingMessage } from "node:http";
import { askForBody } from "../expectedBodies.ts";
import { HttpError } from "../httpError.ts";
import type { Refusals } from "../refusals.ts";

/** The largest body. */
export const BODY_BYTES = 1_000_000;

/** The part of each body that does not count towards the limit of all: as much as nearly every GraphQL request needs, so that a few senders of large bodies do not keep out the small ones. */
const UNCOUNTED_BYTES = 16_384;

/**
 * Chunks of one body, and bytes for each further one. A chunk costs Node much
 * more time and memory than the byte that it may hold. TCP and TLS bring at
 * least a kilobyte at a time if a client sends a large body.
 */
const CHUNKS = 4_096;
const CHUNK_BYTES = 64;

interface BodyLimits {
	/** The largest body. */
	readonly bodyBytes: number;
	/** Most bytes of all bodies that are being read, without their first 16 KB. */
	readonly maxBytes: number;
	readonly refusals: Refusals;
}

type Done = (error: Error | null, body: Buffer) => void;

/** Reads the bodies of requests into memory, with limits on each and on all together. */
export class BodyReader {
	readonly #limits: BodyLimits;
	/** Bytes of all bodies that are being read, as in `maxBytes`. */
	#held = 0;

	constructor(limits: BodyLimits) {
		this.#limits = limits;
	}

	/** Calls `done` once: with the body, or with the error that fails the request. */
	read(message: IncomingMessage, done: Done): void {
		const { bodyBytes, maxBytes, refusals } = this.#limits;
		let buffer: Buffer = EMPTY;
		let length = 0;
		let chunks = 0;
		let held = 0;

		const end = (error: Error | null) => {
			message.off("data", onData);
			message.off("end", onEnd);
			message.off("error", onError);
			this.#held -= held;
			done(error, buffer.subarray(0, length));
		};
		const onEnd = () => end(null);
		const onError = (error: Error) =>
			end(Object.assign(error, { statusCode: 400 }));
		const onData = (chunk: Buffer) => {
			chunks++;
			const needed = length + chunk.length;
			if (needed > bodyBytes) return end(tooLarge(bodyBytes));
			if (chunks > CHUNKS + needed / CHUNK_BYTES) return end(tooManyChunks());
			// The body is one chunk, mostly.
			if (length === 0) buffer = chunk;
			else if (needed > buffer.length)
				buffer = enlarge(buffer, needed, bodyBytes);
			if (length > 0) chunk.copy(buffer, length);
			length = needed;
			const holds = Math.max(0, buffer.length - UNCOUNTED_BYTES);
			this.#held += holds - held;
			held = holds;
			if (this.#held > maxBytes && held > 0) {
				refusals.count("bodies");
				end(
					new HttpError(
						"UNAVAILABLE",
						"Too many large bodies are arriving. Retry in 1 s.",
					),
				);
			}
		};
		if (Number(message.headers["content-length"]) > bodyBytes) {
			done(tooLarge(bodyBytes), EMPTY);
			return;
		}
		askForBody(message);
		message.on("data", onData);
		message.on("end", onEnd);
		message.on("error", onError);
	}
}

const EMPTY = Buffer.alloc(0);

/** Doubled: so each byte is copied about twice, whatever the size of the chunks. */
function enlarge(buffer: Buffer, needed: number, limit: number): Buffer {
	const doubled = Math.max(2 * buffer.length, UNCOUNTED_BYTES);
	const larger = Buffer.allocUnsafeSlow(
		Math.max(needed, Math.min(doubled, limit)),
	);
	buffer.copy(larger);
	return larger;
}

function tooLarge(limit: number): HttpError {
	return new HttpError(
		"BAD_REQUEST",
		`The body is larger than ${limit} bytes.`,
		413,
	);
}

function tooManyChunks(): HttpError {
	return new HttpError(
		"BAD_REQUEST",
		"The body comes in too many small chunks.",
	);
}
