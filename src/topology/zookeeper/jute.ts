/** Writes ZooKeeper's records: integers of 4 and 8 bytes, and texts and buffers with their length before them. */
export class JuteWriter {
	readonly #parts: Buffer[] = [];

	int(value: number): this {
		const part = Buffer.allocUnsafe(4);
		part.writeInt32BE(value);
		this.#parts.push(part);
		return this;
	}

	long(value: bigint): this {
		const part = Buffer.allocUnsafe(8);
		part.writeBigInt64BE(value);
		this.#parts.push(part);
		return this;
	}

	boolean(value: boolean): this {
		this.#parts.push(Buffer.of(value ? 1 : 0));
		return this;
	}

	buffer(value: Buffer): this {
		this.int(value.length);
		this.#parts.push(value);
		return this;
	}

	text(value: string): this {
		return this.buffer(Buffer.from(value));
	}

	/** With its length before it. */
	frame(): Buffer {
		const body = Buffer.concat(this.#parts);
		const length = Buffer.allocUnsafe(4);
		length.writeInt32BE(body.length);
		return Buffer.concat([length, body]);
	}
}

/** Reads one record. Throws RangeError if it ends before what it should hold. */
export class JuteReader {
	readonly #bytes: Buffer;
	#at = 0;

	constructor(bytes: Buffer) {
		this.#bytes = bytes;
	}

	int(): number {
		const value = this.#bytes.readInt32BE(this.#at);
		this.#at += 4;
		return value;
	}

	long(): bigint {
		const value = this.#bytes.readBigInt64BE(this.#at);
		this.#at += 8;
		return value;
	}

	boolean(): boolean {
		return this.#bytes.readUInt8(this.#at++) !== 0;
	}

	/** A length of -1 stands for none. */
	buffer(): Buffer {
		const length = Math.max(0, this.int());
		const end = this.#at + length;
		if (end > this.#bytes.length) {
			throw new RangeError(`a text of ${length} bytes does not end`);
		}
		const value = this.#bytes.subarray(this.#at, end);
		this.#at = end;
		return value;
	}

	text(): string {
		return this.buffer().toString("utf8");
	}
}
