import { createCipheriv, hash, hkdfSync, timingSafeEqual } from "node:crypto";
import { type Id, parseStoredId } from "./ids.ts";

/** A position in a list, as a cursor holds it. */
interface CursorPosition {
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
 * vector of the encryption. So a position always has the same cursor. The MAC is
 * CBC-MAC over three blocks always, the first of them a MAC of the list's name.
 *
 *     version 1 | tag 12 | encrypted: sequence 7, to 8, epoch 5     (bytes, base64url)
 */
export interface CursorCodec {
	encode(list: string, position: CursorPosition): string;
	/** The cursors of a page, for a fraction of what as many calls of `encode` take. */
	encodeAll(
		list: string,
		positions: readonly CursorPosition[],
	): readonly string[];
	/** Null for any text that `encode` did not return for this list, with this secret or a former one. */
	decode(list: string, cursor: string): CursorPosition | null;
}

const VERSION = 3;
const TAG = 12;
const POSITION = 20;
/** The block size of AES; a position takes two blocks. */
const BLOCK = 16;
const LENGTH = 1 + TAG + POSITION;
/** 33 bytes in base64url. */
const ENCODED = /^[A-Za-z0-9_-]{44}$/;

/** Encodes by the first secret, and decodes what any of them encoded. */
export function createCursorCodec(
	secret: Uint8Array,
	...formerSecrets: readonly Uint8Array[]
): CursorCodec {
	const current = createCodecOf(secret);
	const former = formerSecrets.map(createCodecOf);
	return {
		...current,
		decode(list, cursor) {
			let position = current.decode(list, cursor);
			for (const codec of former) position ??= codec.decode(list, cursor);
			return position;
		},
	};
}

/**
 * A call of Node's crypto takes a microsecond or more, whatever it is given. So
 * all cursors of a page go through each of three calls together, and both
 * ciphers are kept: in ECB they have no state, while a new MAC costs 10 to 20 µs
 * a cursor, and a new cipher for each vector 80 to 110 µs.
 */
function createCodecOf(secret: Uint8Array): CursorCodec {
	const macCipher = createBlockCipher(derive(secret, "cursor mac", BLOCK));
	const cipher = createBlockCipher(derive(secret, "cursor cipher", BLOCK));
	const macOf = createMac(derive(secret, "cursor list", 32));
	// The cursors of a page, and mostly of a request, are of few lists.
	let lastList: string | null = null;
	let lastState = Buffer.alloc(BLOCK);

	/** CBC-MAC after the first block. */
	function stateOf(list: string): Buffer {
		if (list !== lastList) {
			lastState = macCipher.update(macOf(list).subarray(0, BLOCK));
			lastList = list;
		}
		return lastState;
	}

	/** A tag in each block, of which 12 bytes count. Of positions one after another. */
	function tagsOf(list: string, positions: Buffer): Buffer {
		const count = positions.length / POSITION;
		const state = stateOf(list);
		const blocks = Buffer.allocUnsafe(count * BLOCK);
		for (let at = 0; at < count; at++) {
			for (let byte = 0; byte < BLOCK; byte++) {
				blocks[at * BLOCK + byte] =
					(state[byte] as number) ^ (positions[at * POSITION + byte] as number);
			}
		}
		const second = macCipher.update(blocks);
		// The rest of the last block is zero.
		for (let at = 0; at < count; at++) {
			for (let byte = 0; byte < POSITION - BLOCK; byte++) {
				const place = at * BLOCK + byte;
				second[place] =
					(second[place] as number) ^
					(positions[at * POSITION + BLOCK + byte] as number);
			}
		}
		return macCipher.update(second);
	}

	/** Encrypts or decrypts: XOR with AES-128-CTR of each tag and a counter from zero. */
	function applyKeystream(tags: Buffer, bytes: Buffer): Buffer {
		const count = bytes.length / POSITION;
		const vectors = Buffer.allocUnsafe(count * 2 * BLOCK).fill(0);
		for (let at = 0; at < count; at++) {
			const from = at * BLOCK;
			tags.copy(vectors, at * 2 * BLOCK, from, from + TAG);
			tags.copy(vectors, (at * 2 + 1) * BLOCK, from, from + TAG);
			vectors[(at + 1) * 2 * BLOCK - 1] = 1;
		}
		const keystream = cipher.update(vectors);
		const result = Buffer.allocUnsafe(bytes.length);
		for (let at = 0; at < count; at++) {
			for (let byte = 0; byte < POSITION; byte++) {
				result[at * POSITION + byte] =
					(bytes[at * POSITION + byte] as number) ^
					(keystream[at * 2 * BLOCK + byte] as number);
			}
		}
		return result;
	}

	function encodeAll(
		list: string,
		positions: readonly CursorPosition[],
	): readonly string[] {
		const bytes = Buffer.allocUnsafe(positions.length * POSITION);
		for (const [at, { sequence, to, epoch }] of positions.entries()) {
			const start = at * POSITION;
			bytes.writeUIntBE(Math.floor(sequence / 2 ** 32), start, 3);
			bytes.writeUInt32BE(sequence % 2 ** 32, start + 3);
			bytes.writeBigUInt64BE(BigInt(to), start + 7);
			bytes.writeUIntBE(epoch % 2 ** 40, start + 15, 5);
		}
		const tags = tagsOf(list, bytes);
		const encrypted = applyKeystream(tags, bytes);
		const cursor = Buffer.allocUnsafe(LENGTH);
		cursor[0] = VERSION;
		return positions.map((_, at) => {
			tags.copy(cursor, 1, at * BLOCK, at * BLOCK + TAG);
			encrypted.copy(cursor, 1 + TAG, at * POSITION, (at + 1) * POSITION);
			return cursor.toString("base64url");
		});
	}

	return {
		encodeAll,
		encode: (list, position) => encodeAll(list, [position])[0] as string,

		decode(list, cursor) {
			if (!ENCODED.test(cursor)) return null;
			const bytes = Buffer.from(cursor, "base64url");
			if (bytes.length !== LENGTH || bytes[0] !== VERSION) return null;
			const tag = bytes.subarray(1, 1 + TAG);
			const position = applyKeystream(tag, bytes.subarray(1 + TAG));
			const expected = tagsOf(list, position).subarray(0, TAG);
			if (!timingSafeEqual(tag, expected)) return null;
			return {
				sequence:
					position.readUIntBE(0, 3) * 2 ** 32 + position.readUInt32BE(3),
				to: parseStoredId(String(position.readBigUInt64BE(7))),
				epoch: position.readUIntBE(15, 5),
			};
		},
	};
}

/** AES-128 of single blocks. */
function createBlockCipher(key: Buffer) {
	return createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
}

/** HMAC-SHA256 (RFC 2104) of two hashes: Node's own prepares its key for each MAC, a tenth of a request for one page (measured). */
function createMac(key: Buffer): (text: string) => Buffer {
	const inner = Buffer.alloc(HASH_BLOCK);
	const outer = Buffer.alloc(HASH_BLOCK);
	for (let at = 0; at < HASH_BLOCK; at++) {
		inner[at] = (key[at] ?? 0) ^ 0x36;
		outer[at] = (key[at] ?? 0) ^ 0x5c;
	}
	return (text) => {
		const digest = hash(
			"sha256",
			Buffer.concat([inner, Buffer.from(text)]),
			"buffer",
		);
		return hash("sha256", Buffer.concat([outer, digest]), "buffer");
	};
}

/** The block size of SHA-256, in bytes. Keys are shorter. */
const HASH_BLOCK = 64;

function derive(secret: Uint8Array, purpose: string, length: number): Buffer {
	return Buffer.from(
		hkdfSync("sha256", secret, "corkboard", purpose, length) as ArrayBuffer,
	);
}
