import { Readable } from "node:stream";

/** A line's text; null for a line that is too long. */
export type RawLine = string | null;

export interface RawBatch {
	readonly lines: readonly RawLine[];
	/** Bytes read so far; undefined where the source is lines, not bytes. */
	readonly bytes: number | undefined;
}

/** Characters, as in the body of a request. Bounds the memory, and no object is nearly as long. */
export const MAX_LINE = 1_000_000;

/**
 * The lines of the source, `size` at a time. Reads only as far as needed. When
 * the signal is aborted, reading stops, also a read that waits, and lines that
 * do not make a whole batch are dropped.
 */
export async function* readBatches(
	source: AsyncIterable<string> | Readable,
	size: number,
	signal?: AbortSignal,
): AsyncGenerator<RawBatch> {
	const splitter = source instanceof Readable ? new LineSplitter() : null;
	const iterator = (source as AsyncIterable<string | Uint8Array>)[
		Symbol.asyncIterator
	]();
	let stopWaiting = () => {};
	const abort = () => stopWaiting();
	signal?.addEventListener("abort", abort, { once: true });
	// `Promise.race` with one promise for all waits would keep every chunk in memory.
	const nextOrNull = () =>
		new Promise<IteratorResult<string | Uint8Array> | null>(
			(resolve, reject) => {
				stopWaiting = () => resolve(null);
				iterator.next().then(resolve, reject);
			},
		);
	let lines: RawLine[] = [];
	let isDone = false;
	try {
		while (signal?.aborted !== true) {
			const next = await nextOrNull();
			if (next === null) return;
			isDone = next.done === true;
			if (isDone) lines.push(...(splitter?.rest() ?? []));
			else if (splitter === null) lines.push(next.value as string);
			else for (const line of splitter.split(next.value)) lines.push(line);
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

/** Splits bytes into lines, at LF or CRLF. Keeps an incomplete line, up to MAX_LINE. */
class LineSplitter {
	readonly #decoder = new TextDecoder();
	bytes = 0;
	#partial = "";
	#isTooLong = false;

	split(chunk: string | Uint8Array): readonly RawLine[] {
		if (typeof chunk === "string") this.bytes += Buffer.byteLength(chunk);
		else this.bytes += chunk.length;
		return this.#complete(
			typeof chunk === "string"
				? chunk
				: this.#decoder.decode(chunk, { stream: true }),
		);
	}

	rest(): readonly RawLine[] {
		const lines = this.#complete(this.#decoder.decode());
		return this.#partial === "" && !this.#isTooLong
			? lines
			: [...lines, this.#end("")];
	}

	#complete(text: string): readonly RawLine[] {
		const parts = text.split("\n");
		const last = parts.pop() as string;
		const lines = parts.map((part) => this.#end(part));
		this.#begin(last);
		return lines;
	}

	#begin(text: string): void {
		if (!this.#isTooLong) this.#partial += text;
		if (this.#partial.length > MAX_LINE) {
			this.#isTooLong = true;
			this.#partial = "";
		}
	}

	#end(text: string): RawLine {
		const line = this.#isTooLong ? null : this.#partial + text;
		this.#isTooLong = false;
		this.#partial = "";
		if (line === null || line.length > MAX_LINE) return null;
		return line.endsWith("\r") ? line.slice(0, -1) : line;
	}
}
