import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { CorkboardError } from "../../errors.ts";
import { BYTE_ORDER_MARK } from "../../util/textFile.ts";
import { formatProblem, HEAD_BYTES } from "./fileFormat.ts";

/** A line's text, or what is wrong with its bytes. */
export type RawLine = string | UnreadLine | RevisedLine;

/** The line of an object. It is not read if its object has this revision: most lines of a migration are such. */
interface RevisedLine {
	/** The import key. */
	readonly key: string;
	/** The `rev` of the line, or `DELETED`. */
	readonly rev: string;
	text(): string;
}

/** Bytes, lines, or pages of lines: of many lines, each alone costs a turn. */
export type LineSource = Readable | AsyncIterable<RawLine | readonly RawLine[]>;

export interface UnreadLine {
	readonly problem: string;
}

interface RawBatch {
	readonly lines: readonly RawLine[];
	/** Bytes read so far; undefined if the source is lines, not bytes. */
	readonly bytes: number | undefined;
}

/** Characters, as in the body of a request. Bounds the memory, and no object is nearly as long. */
export const MAX_LINE = 1_000_000;

/** UTF-8 has at most three bytes for a UTF-16 code unit. */
const MAX_BYTES = 3 * MAX_LINE;

export const TOO_LONG: UnreadLine = {
	problem: `The line is longer than ${MAX_LINE} characters.`,
};

/** Its bytes must not become U+FFFD: keys that differ in such bytes alone would be one key. */
export const NOT_UTF_8: UnreadLine = {
	problem:
		"The line is not UTF-8. Convert the file, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE > utf8.ndjson",
};

/**
 * The lines of the source, `size` at a time. Reads only as far as needed. When
 * the signal is aborted, reading stops, also a read that waits, and lines that
 * do not make a whole batch are dropped. Throws BAD_DATA for bytes that are not
 * lines of JSON at all.
 */
export async function* readBatches(
	source: LineSource,
	size: number,
	signal?: AbortSignal,
): AsyncGenerator<RawBatch> {
	const splitter = source instanceof Readable ? new LineSplitter() : null;
	type Given = RawLine | readonly RawLine[] | Uint8Array;
	const iterator = (source as AsyncIterable<Given>)[Symbol.asyncIterator]();
	let stopWaiting = () => {};
	const abort = () => stopWaiting();
	signal?.addEventListener("abort", abort, { once: true });
	// `Promise.race` with one promise for all waits would keep every chunk in memory.
	const nextOrNull = () =>
		new Promise<IteratorResult<Given> | null>((resolve, reject) => {
			stopWaiting = () => resolve(null);
			iterator.next().then(resolve, reject);
		});
	let lines: RawLine[] = [];
	let isDone = false;
	try {
		while (signal?.aborted !== true) {
			const next = await nextOrNull();
			if (next === null) return;
			isDone = next.done === true;
			if (isDone) lines.push(...(splitter?.rest() ?? []));
			else {
				const read = splitter?.split(next.value as Uint8Array) ?? next.value;
				if (Array.isArray(read)) for (const line of read) lines.push(line);
				else lines.push(read as RawLine);
			}
			while (lines.length >= size || (isDone && lines.length > 0)) {
				const batch = lines.slice(0, size);
				lines = lines.slice(size);
				yield { lines: batch, bytes: splitter?.bytes };
				if (signal?.aborted) return;
			}
			if (isDone) return;
		}
	} finally {
		signal?.removeEventListener("abort", abort);
		if (!isDone) {
			if (source instanceof Readable) source.destroy();
			// Not awaited: it may be waiting for a line that is no longer needed.
			else iterator.return?.()?.catch(() => {});
		}
	}
}

const LINE_FEED = 0x0a;

/** Splits bytes into lines, at LF or CRLF. Keeps an incomplete line, up to MAX_BYTES. */
class LineSplitter {
	bytes = 0;
	/** The first bytes, until there are enough to recognize a format by; then null. */
	#head: Buffer | null = Buffer.alloc(0);
	/** The incomplete line. */
	#partial: Buffer[] = [];
	#partialBytes = 0;

	split(chunk: Uint8Array): readonly RawLine[] {
		const bytes = Buffer.from(chunk);
		this.bytes += bytes.length;
		if (this.#head === null) return this.#complete(bytes);
		const head = Buffer.concat([this.#head, bytes]);
		this.#head = head;
		const isEnough = head.length >= HEAD_BYTES || head.includes(LINE_FEED);
		return isEnough ? this.#begin(head) : [];
	}

	rest(): readonly RawLine[] {
		const lines = this.#head === null ? [] : this.#begin(this.#head);
		return this.#partialBytes === 0 ? lines : [...lines, ...this.#end()];
	}

	#begin(head: Buffer): readonly RawLine[] {
		this.#head = null;
		const problem = formatProblem(head);
		if (problem !== null) throw new CorkboardError("BAD_DATA", problem);
		return this.#complete(head);
	}

	#complete(bytes: Buffer): readonly RawLine[] {
		const last = bytes.lastIndexOf(LINE_FEED);
		if (last === -1) {
			this.#keep(bytes);
			return [];
		}
		const first = bytes.indexOf(LINE_FEED);
		this.#keep(bytes.subarray(0, first));
		const lines = this.#end();
		if (last > first) {
			for (const line of linesIn(bytes.subarray(first + 1, last))) {
				lines.push(line);
			}
		}
		this.#keep(bytes.subarray(last + 1));
		return lines;
	}

	#keep(bytes: Buffer): void {
		this.#partialBytes += bytes.length;
		if (this.#partialBytes > MAX_BYTES) this.#partial = [];
		else if (bytes.length > 0) this.#partial.push(bytes);
	}

	#end(): RawLine[] {
		const isTooLong = this.#partialBytes > MAX_BYTES;
		const lines = isTooLong
			? [TOO_LONG]
			: linesIn(Buffer.concat(this.#partial));
		this.#partial = [];
		this.#partialBytes = 0;
		return lines;
	}
}

/** The lines of bytes that end where a line ends. Decodes them together, unless one of them is not UTF-8. */
function linesIn(bytes: Buffer): RawLine[] {
	if (isUtf8(bytes)) return bytes.toString("utf8").split("\n").map(lineOf);
	const lines: RawLine[] = [];
	for (let start = 0; start <= bytes.length; ) {
		const found = bytes.indexOf(LINE_FEED, start);
		const end = found === -1 ? bytes.length : found;
		const line = bytes.subarray(start, end);
		lines.push(isUtf8(line) ? lineOf(line.toString("utf8")) : NOT_UTF_8);
		start = end + 1;
	}
	return lines;
}

/** Files that were joined may have a byte order mark on any line. */
function lineOf(text: string): RawLine {
	const start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
	const end = text.endsWith("\r") ? text.length - 1 : text.length;
	return end - start > MAX_LINE ? TOO_LONG : text.slice(start, end);
}
