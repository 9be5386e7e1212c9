import { createCipheriv, hash, hkdfSync, timingSafeEqual } from "node:crypto";
import { type Id, parseStoredId } from "./ids.ts";
import { splitId } from "./idWords.ts";

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
 * A call of Node's crypto takes half a microsecond or more, whatever it is given. So
 * all cursors of a page go through each of four calls together, and both
 * ciphers are kept: in ECB they have no state, while a new MAC costs 10 to 20 µs
 * a cursor, and a new cipher for each vector 80 to 110 µs.
 */
function createCodecOf(secret: Uint8Array): CursorCodec {
	const macCipher = createBlockCipher(derive(secret, "cursor mac", BLOCK));
	const cipher = createBlockCipher(derive(secret, "cursor cipher", BLOCK));
	const macOf = createMac(derive(secret, "cursor list", 32));
	const cursor = Buffer.alloc(LENGTH, VERSION);
	// The cursors of a page, and mostly of a request, are of few lists.
	let lastList: string | null = null;
	let lastMac = "";

	/** The first block of CBC-MAC, a letter for each byte. */
	function firstOf(list: string): string {
		if (list !== lastList) {
			lastMac = macOf(list).slice(0, BLOCK);
			lastList = list;
		}
		return lastMac;
	}

	/** A tag in each block, of which 12 bytes count. Of positions one after another. */
	function tagsOf(list: string, positions: Buffer): Buffer {
		const count = positions.length / POSITION;
		const state = macCipher.update(firstOf(list), "latin1");
		const blocks = Buffer.allocUnsafe(count * BLOCK);
		for (let at = 0; at < count; at++) {
			blocks.set(state, at * BLOCK);
			xor(blocks, at * BLOCK, positions, at * POSITION, BLOCK);
		}
		const second = macCipher.update(blocks);
		// The rest of the last block is zero.
		for (let at = 0; at < count; at++) {
			const from = at * POSITION + BLOCK;
			xor(second, at * BLOCK, positions, from, POSITION - BLOCK);
		}
		return macCipher.update(second);
	}

	/** Encrypts or decrypts in place: XOR with AES-128-CTR of each tag and a counter from zero. */
	function applyKeystream(tags: Buffer, bytes: Buffer): void {
		const count = bytes.length / POSITION;
		const vectors = Buffer.alloc(count * 2 * BLOCK);
		for (let at = 0; at < count; at++) {
			xor(vectors, at * 2 * BLOCK, tags, at * BLOCK, TAG);
			xor(vectors, (at * 2 + 1) * BLOCK, tags, at * BLOCK, TAG);
			vectors[(at + 1) * 2 * BLOCK - 1] = 1;
		}
		const keystream = cipher.update(vectors);
		for (let at = 0; at < count; at++) {
			xor(bytes, at * POSITION, keystream, at * 2 * BLOCK, POSITION);
		}
	}

	function encodeAll(
		list: string,
		positions: readonly CursorPosition[],
	): readonly string[] {
		const bytes = Buffer.allocUnsafe(positions.length * POSITION);
		let start = 0;
		for (const { sequence, to, epoch } of positions) {
			if (!splitId(to, WORDS)) {
				throw new TypeError(`A cursor leads to ${to}, which is no id.`);
			}
			bytes.writeUIntBE(Math.floor(sequence / 2 ** 32), start, 3);
			bytes.writeUInt32BE(sequence % 2 ** 32, start + 3);
			bytes.writeUInt32BE(WORDS[0] as number, start + 7);
			bytes.writeUInt32BE(WORDS[1] as number, start + 11);
			bytes.writeUIntBE(epoch % 2 ** 40, start + 15, 5);
			start += POSITION;
		}
		const tags = tagsOf(list, bytes);
		applyKeystream(tags, bytes);
		return positions.map((_, at) => {
			tags.copy(cursor, 1, at * BLOCK, at * BLOCK + TAG);
			bytes.copy(cursor, 1 + TAG, at * POSITION, (at + 1) * POSITION);
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
			const position = bytes.subarray(1 + TAG);
			applyKeystream(tag, position);
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

/**
 * HMAC-SHA256 (RFC 2104) of two hashes: Node's own prepares its key for each MAC, a
 * tenth of a request for one page (measured). A letter for each byte, because a
 * hash takes three times as long if it becomes a buffer.
 */
function createMac(key: Buffer): (text: string) => string {
	let inner = Buffer.alloc(HASH_BLOCK);
	const outer = Buffer.alloc(HASH_BLOCK + HASH);
	for (let at = 0; at < HASH_BLOCK; at++) {
		inner[at] = (key[at] ?? 0) ^ 0x36;
		outer[at] = (key[at] ?? 0) ^ 0x5c;
	}
	return (text) => {
		// A letter of UTF-16 has three bytes at most.
		const most = text.length * 3;
		if (inner.length < HASH_BLOCK + most) {
			inner = Buffer.concat([inner, Buffer.alloc(most)]);
		}
		const end = HASH_BLOCK + inner.write(text, HASH_BLOCK);
		const digest = hash("sha256", inner.subarray(0, end), "binary");
		outer.write(digest, HASH_BLOCK, "latin1");
		return hash("sha256", outer, "binary");
	};
}

function xor(
	into: Buffer,
	at: number,
	other: Buffer,
	from: number,
	length: number,
): void {
	for (let byte = 0; byte < length; byte++) {
		into[at + byte] =
			(into[at + byte] as number) ^ (other[from + byte] as number);
	}
}

/** The block size of SHA-256, in bytes. Keys are shorter. */
const HASH_BLOCK = 64;
const HASH = 32;

function derive(secret: Uint8Array, purpose: string, length: number): Buffer {
	return Buffer.from(
		hkdfSync("sha256", secret, "corkboard", purpose, length) as ArrayBuffer,
	);
}

/** The upper and the lower half of an id. */
const WORDS = new Uint32Array(2);
