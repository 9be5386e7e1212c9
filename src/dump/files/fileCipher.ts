import {
	createCipheriv,
	createDecipheriv,
	createHash,
	randomBytes,
} from "node:crypto";
import { readFileSync } from "node:fs";
import { CorkboardError } from "../../errors.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { damaged } from "../manifest.ts";

/** Bytes of one frame before it is encrypted. */
const FRAME_BYTES = 1024 * 1024;
const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
/** How the first byte of a frame says that it is the last one. */
const LAST = 1;
const NOT_LAST = 0;

/**
 * Encrypts files with a key that the operator keeps (AES-256-GCM). A file is a row
 * of frames, each with its length, an initialization vector, its text and a tag; its number in the
 * file, and whether it is the last one, are authenticated with it, so that frames
 * can be neither left out nor put in another order.
 */
export class FileCipher {
	readonly #key: Buffer;

	constructor(key: Buffer) {
		this.#key = key;
	}

	async *encrypt(
		chunks: AsyncIterable<Uint8Array>,
	): AsyncGenerator<Uint8Array> {
		let nth = 0;
		let waiting: Buffer = Buffer.alloc(0);
		for await (const chunk of chunks) {
			waiting = Buffer.concat([waiting, chunk]);
			while (waiting.length > FRAME_BYTES) {
				yield this.#seal(waiting.subarray(0, FRAME_BYTES), nth++, NOT_LAST);
				waiting = waiting.subarray(FRAME_BYTES);
			}
		}
		yield this.#seal(waiting, nth, LAST);
	}

	/** Throws BAD_DATA if the key is another one, or the file is not whole. */
	async *decrypt(
		chunks: AsyncIterable<Uint8Array>,
		name: string,
	): AsyncGenerator<Uint8Array> {
		const failed = () =>
			damaged(
				{ name: "the dump" },
				name,
				"it cannot be decrypted: it was encrypted with another key, or is cut short",
			);
		let nth = 0;
		let isLast = false;
		let waiting: Buffer = Buffer.alloc(0);
		for await (const chunk of chunks) {
			waiting = Buffer.concat([waiting, chunk]);
			for (;;) {
				if (waiting.length < LENGTH_BYTES) break;
				const length = waiting.readUInt32BE();
				if (length > FRAME_BYTES + 1) throw failed();
				const bytes = LENGTH_BYTES + IV_BYTES + length + TAG_BYTES;
				if (waiting.length < bytes) break;
				if (isLast) throw failed();
				const frame = this.#open(waiting.subarray(0, bytes), nth++);
				if (frame === null) throw failed();
				isLast = frame[0] === LAST;
				yield frame.subarray(1);
				waiting = waiting.subarray(bytes);
			}
		}
		if (!isLast || waiting.length > 0) throw failed();
	}

	#seal(text: Buffer, nth: number, kind: number): Buffer {
		const iv = randomBytes(IV_BYTES);
		const cipher = createCipheriv(ALGORITHM, this.#key, iv);
		cipher.setAAD(numberOf(nth));
		const length = Buffer.alloc(LENGTH_BYTES);
		length.writeUInt32BE(text.length + 1);
		return Buffer.concat([
			length,
			iv,
			cipher.update(Buffer.of(kind)),
			cipher.update(text),
			cipher.final(),
			cipher.getAuthTag(),
		]);
	}

	/** Null if the tag is not right. */
	#open(frame: Buffer, nth: number): Buffer | null {
		const from = LENGTH_BYTES + IV_BYTES;
		const decipher = createDecipheriv(
			ALGORITHM,
			this.#key,
			frame.subarray(LENGTH_BYTES, from),
			{ authTagLength: TAG_BYTES },
		);
		decipher.setAAD(numberOf(nth));
		decipher.setAuthTag(frame.subarray(-TAG_BYTES));
		try {
			return Buffer.concat([
				decipher.update(frame.subarray(from, -TAG_BYTES)),
				decipher.final(),
			]);
		} catch {
			return null;
		}
	}
}

/** A key from a file that has at least 32 bytes, such as `openssl rand -base64 48` makes. Throws BAD_CONFIG. */
export function readCipher(path: string): FileCipher {
	let bytes: Buffer;
	try {
		bytes = readFileSync(path);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`The key file ${path} cannot be read: ${reasonOf(cause)}.`,
			{ cause },
		);
	}
	const text = bytes.toString("latin1").trim();
	if (text.length < KEY_BYTES) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`The key file ${path} has ${text.length} bytes, and needs ${KEY_BYTES} or more. Make one with: openssl rand -base64 48.`,
		);
	}
	return new FileCipher(createHash("sha256").update(text, "latin1").digest());
}

function numberOf(nth: number): Buffer {
	const bytes = Buffer.alloc(8);
	bytes.writeBigUInt64BE(BigInt(nth));
	return bytes;
}
