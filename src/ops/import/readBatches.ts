import { Readable } from "node:stream";

/** A line as it came; null for one too long to be read. */
export type RawLine = string | null;

export interface RawBatch {
	readonly lines: readonly RawLine[];
	/** Bytes of the source read so far; undefined where it gives lines, not bytes. */
	readonly bytes: number | undefined;
}

/** As the body of a request: no object comes near it, and memory stays bounded whatever is fed in. */
export const MAX_LINE = 1_000_000;

/**
 * The source's lines, so many at a time. The source is read no further than
 * asked, and not at all once the signal was given: a wait for it ends then,
 * and lines that make no whole batch yet are dropped.
 */
export async function* readBatches(
	source: AsyncIterable<string> | Readable,
	size: number,
	signal?: AbortSignal,
): AsyncGenerator<RawBatch> {
	const cutter = source instanceof Readable ? new LineSplitter() : null;
	const iterator = (source as AsyncIterable<string | Uint8Array>)[
		Symbol.asyncIterator
	]();
	let stopWaiting = () => {};
	const abort = () => stopWaiting();
	signal?.addEventListener("abort", abort, { once: true });
	// Not `Promise.race` with one promise for all waits: that promise would hold
	// on to every chunk ever read.
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
			if (isDone) lines.push(...(cutter?.rest() ?? []));
			else if (cutter === null) lines.push(next.value as string);
			else for (const line of cutter.cut(next.value)) lines.push(line);
			while (lines.length >= size || (isDone && lines.length > 0)) {
				const batch = lines.slice(0, size);
				lines = lines.slice(size);
				yield { lines: batch, bytes: cutter?.bytes };
				if (signal?.aborted) return;
			}
			if (isDone) return;
		}
	} finally {
		signal?.removeEventListener("abort", abort);
		if (!isDone) {
			if (source instanceof Readable) source.destroy();
			// Not waited for: it may itself be waiting for the line that we no longer want.
			else iterator.return?.()?.catch(() => {});
		}
	}
}

/** Cuts bytes into lines, at LF or CRLF. What has no end yet is kept, up to a line's longest. */
class LineSplitter {
	readonly #decoder = new TextDecoder();
	bytes = 0;
	#begun = "";
	#isTooLong = false;

	cut(chunk: string | Uint8Array): readonly RawLine[] {
		if (typeof chunk === "string") this.bytes += Buffer.byteLength(chunk);
		else this.bytes += chunk.length;
		return this.#split(
			typeof chunk === "string"
				? chunk
				: this.#decoder.decode(chunk, { stream: true }),
		);
	}

	rest(): readonly RawLine[] {
		const lines = this.#split(this.#decoder.decode());
		return this.#begun === "" && !this.#isTooLong
			? lines
			: [...lines, this.#end("")];
	}

	#split(text: string): readonly RawLine[] {
		const parts = text.split("\n");
		const last = parts.pop() as string;
		const lines = parts.map((part) => this.#end(part));
		this.#begin(last);
		return lines;
	}

	#begin(text: string): void {
		if (!this.#isTooLong) this.#begun += text;
		if (this.#begun.length > MAX_LINE) {
			this.#isTooLong = true;
			this.#begun = "";
		}
	}

	#end(text: string): RawLine {
		const line = this.#isTooLong ? null : this.#begun + text;
		this.#isTooLong = false;
		this.#begun = "";
		if (line === null || line.length > MAX_LINE) return null;
		return line.endsWith("\r") ? line.slice(0, -1) : line;
	}
}
