import {
	createCipheriv,
	createHmac,
	createSecretKey,
	hkdfSync,
	timingSafeEqual,
} from "node:crypto";
import { type Id, parseStoredId } from "./ids.ts";

/** A position in a list, as a cursor holds it. */
export interface CursorPosition {
	/** Below 2^53. */
	readonly sequence: number;
	readonly to: Id;
	/** The list's epoch in which the position was read. Below 2^40. */
	readonly epoch: number;
}

/**
 * Cursors that clients cannot read, change, or use on another list. The end
 * cursor of a page may be an edge that the viewer may not see, so its id is
 * encrypted and not only signed (docs/consistency.md, 5. Pages).
 *
 * This is SIV mode: the tag is a MAC over list and position, and the initial
 * vector of the encryption. So a position always has the same cursor.
 *
 *     version 1 | tag 12 | encrypted: sequence 7, to 8, epoch 5     (bytes, base64url)
 */
export interface CursorCodec {
	encode(list: string, position: CursorPosition): string;
	/** Null for any text that `encode` did not return for this list. */
	decode(list: string, cursor: string): CursorPosition | null;
}

const VERSION = 2;
const TAG = 12;
const POSITION = 20;
/** Of AES; a position takes two. */
const BLOCK = 16;
const LENGTH = 1 + TAG + POSITION;
/** 33 bytes in base64url. */
const ENCODED = /^[A-Za-z0-9_-]{44}$/;

export function createCursorCodec(secret: Uint8Array): CursorCodec {
	// A KeyObject, because Node imports the bytes of a key anew for each MAC: 50 to 60 µs a cursor.
	const macKey = createSecretKey(derive(secret, "cursor mac", 32));
	// CTR by hand: in ECB a cipher has no state and can be kept, while a new
	// one for each vector costs 80 to 110 µs a cursor.
	const blocks = createCipheriv(
		"aes-128-ecb",
		derive(secret, "cursor cipher", 16),
		null,
	);

	function tagOf(list: string, position: Buffer): Buffer {
		return createHmac("sha256", macKey)
			.update(list)
			.update("\0")
			.update(position)
			.digest()
			.subarray(0, TAG);
	}

	/** Encrypts or decrypts: XOR with AES-128-CTR of the tag and a counter from zero. */
	function applyKeystream(tag: Buffer, bytes: Buffer): Buffer {
		const vectors = Buffer.alloc(2 * BLOCK);
		tag.copy(vectors, 0);
		tag.copy(vectors, BLOCK);
		vectors[2 * BLOCK - 1] = 1;
		const keystream = blocks.update(vectors);
		const result = Buffer.alloc(POSITION);
		for (let at = 0; at < POSITION; at++) {
			result[at] = (bytes[at] as number) ^ (keystream[at] as number);
		}
		return result;
	}

	return {
		encode(list, { sequence, to, epoch }) {
			const position = Buffer.alloc(POSITION);
			position.writeUIntBE(Math.floor(sequence / 2 ** 32), 0, 3);
			position.writeUInt32BE(sequence % 2 ** 32, 3);
			position.writeBigUInt64BE(BigInt(to), 7);
			position.writeUIntBE(epoch % 2 ** 40, 15, 5);
			const tag = tagOf(list, position);
			return Buffer.concat([
				Buffer.of(VERSION),
				tag,
				applyKeystream(tag, position),
			]).toString("base64url");
		},

		decode(list, cursor) {
			if (!ENCODED.test(cursor)) return null;
			const bytes = Buffer.from(cursor, "base64url");
			if (bytes.length !== LENGTH || bytes[0] !== VERSION) return null;
			const tag = bytes.subarray(1, 1 + TAG);
			const position = applyKeystream(tag, bytes.subarray(1 + TAG));
			if (!timingSafeEqual(tag, tagOf(list, position))) return null;
			return {
				sequence:
					position.readUIntBE(0, 3) * 2 ** 32 + position.readUInt32BE(3),
				to: parseStoredId(String(position.readBigUInt64BE(7))),
				epoch: position.readUIntBE(15, 5),
			};
		},
	};
}

function derive(secret: Uint8Array, purpose: string, length: number): Buffer {
	return Buffer.from(
		hkdfSync("sha256", secret, "corkboard", purpose, length) as ArrayBuffer,
	);
}
