import {
	createCipheriv,
	createDecipheriv,
	createHmac,
	hkdfSync,
	timingSafeEqual,
} from "node:crypto";
import { type Id, parseStoredId } from "./ids.ts";

/** A position in a list, as a cursor holds it. */
export interface CursorPosition {
	/** Below 2^53. */
	readonly sequence: number;
	readonly to: Id;
	/** The list's epoch when the cursor was encoded, modulo 65,536. */
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
 *     version 1 | tag 12 | encrypted: sequence 7, to 8, epoch 2     (bytes, base64url)
 */
export interface CursorCodec {
	encode(list: string, place: CursorPosition): string;
	/** Null for any text that `encode` did not return for this list. */
	decode(list: string, cursor: string): CursorPosition | null;
}

const VERSION = 1;
const TAG = 12;
const PLACE = 17;
const LENGTH = 1 + TAG + PLACE;
const ENCODED = /^[A-Za-z0-9_-]{40}$/; // 30 bytes in base64url

export function createCursorCodec(secret: Uint8Array): CursorCodec {
	const macKey = derive(secret, "cursor mac", 32);
	const cipherKey = derive(secret, "cursor cipher", 16);

	function tagOf(list: string, place: Buffer): Buffer {
		return createHmac("sha256", macKey)
			.update(list)
			.update("\0")
			.update(place)
			.digest()
			.subarray(0, TAG);
	}

	return {
		encode(list, { sequence, to, epoch }) {
			const place = Buffer.alloc(PLACE);
			place.writeUIntBE(Math.floor(sequence / 2 ** 32), 0, 3);
			place.writeUInt32BE(sequence % 2 ** 32, 3);
			place.writeBigUInt64BE(BigInt(to), 7);
			place.writeUInt16BE(epoch % 2 ** 16, 15);
			const tag = tagOf(list, place);
			const cipher = createCipheriv("aes-128-ctr", cipherKey, vector(tag));
			return Buffer.concat([
				Buffer.of(VERSION),
				tag,
				cipher.update(place),
			]).toString("base64url");
		},

		decode(list, cursor) {
			if (!ENCODED.test(cursor)) return null;
			const bytes = Buffer.from(cursor, "base64url");
			if (bytes.length !== LENGTH || bytes[0] !== VERSION) return null;
			const tag = bytes.subarray(1, 1 + TAG);
			const place = createDecipheriv(
				"aes-128-ctr",
				cipherKey,
				vector(tag),
			).update(bytes.subarray(1 + TAG));
			if (!timingSafeEqual(tag, tagOf(list, place))) return null;
			return {
				sequence: place.readUIntBE(0, 3) * 2 ** 32 + place.readUInt32BE(3),
				to: parseStoredId(String(place.readBigUInt64BE(7))),
				epoch: place.readUInt16BE(15),
			};
		},
	};
}

function derive(secret: Uint8Array, purpose: string, length: number): Buffer {
	return Buffer.from(
		hkdfSync("sha256", secret, "corkboard", purpose, length) as ArrayBuffer,
	);
}

/** CTR needs 16 bytes: the tag and a counter from zero. */
function vector(tag: Buffer): Buffer {
	return Buffer.concat([tag, Buffer.alloc(16 - TAG)]);
}
