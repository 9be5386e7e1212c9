const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const ERRORS = Buffer.from('"errors":');

export interface ReadResponse {
	readonly status: number;
	/** The status line and the headers. */
	readonly head: string;
	/** The length of the body. */
	readonly length: number;
	/** The beginning of a body with errors. */
	readonly errors: string | null;
	/** Null if bodies are not kept. */
	readonly body: string | null;
}

/** Finds the end of each response; one at a time is under way. */
export class ResponseReader {
	readonly #onResponse: (response: ReadResponse) => void;
	/** Null if bodies are not kept. */
	readonly #bodies: Buffer[] | null;
	#head: Buffer = Buffer.alloc(0);
	#headText = "";
	#status = 0;
	/** Bytes of the body that are left; -1 while the head is read, Infinity for a chunked body. */
	#left = -1;
	#length = 0;
	#errors: string | null = null;
	#tail: Buffer = Buffer.alloc(0);

	constructor(
		onResponse: (response: ReadResponse) => void,
		keepsBodies = false,
	) {
		this.#onResponse = onResponse;
		this.#bodies = keepsBodies ? [] : null;
	}

	add(chunk: Buffer): void {
		let body = chunk;
		if (this.#left < 0) {
			const all =
				this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
			const end = all.indexOf(HEAD_END);
			if (end < 0) {
				this.#head = all;
				return;
			}
			const head = all.toString("latin1", 0, end);
			this.#headText = head;
			this.#status = Number(head.slice(9, 12));
			const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
			this.#left =
				length === undefined ? Number.POSITIVE_INFINITY : Number(length);
			this.#length = 0;
			this.#errors = null;
			body = all.subarray(end + 4);
		}
		this.#length += body.length;
		this.#bodies?.push(body);
		if (this.#status !== 200 || body.includes(ERRORS)) {
			this.#errors = body.toString().slice(0, 1_000);
		}
		if (this.#left === Number.POSITIVE_INFINITY) {
			this.#tail = Buffer.concat([this.#tail.subarray(-5), body]);
			if (!this.#tail.subarray(-5).equals(LAST_CHUNK)) return;
			this.#tail = Buffer.alloc(0);
		} else {
			this.#left -= body.length;
			if (this.#left > 0) return;
		}
		const isChunked = this.#left === Number.POSITIVE_INFINITY;
		this.#left = -1;
		this.#head = Buffer.alloc(0);
		this.#onResponse({
			status: this.#status,
			head: this.#headText,
			length: this.#length,
			errors: this.#errors,
			body: this.#takeBody(isChunked),
		});
	}

	#takeBody(isChunked: boolean): string | null {
		if (this.#bodies === null) return null;
		const whole = Buffer.concat(this.#bodies.splice(0));
		return (isChunked ? unchunked(whole) : whole).toString();
	}
}

/** A body without the lines that give the lengths of its chunks. */
function unchunked(body: Buffer): Buffer {
	const chunks: Buffer[] = [];
	for (let at = 0; ; ) {
		const end = body.indexOf("\r\n", at);
		const length = Number.parseInt(body.toString("latin1", at, end), 16);
		if (end < 0 || !(length > 0)) return Buffer.concat(chunks);
		chunks.push(body.subarray(end + 2, end + 2 + length));
		at = end + 2 + length + 2;
	}
}
