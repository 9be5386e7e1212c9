import { asCorkboardError } from "../errors.ts";
import type { Span, SpanAttributes } from "../trace.ts";

interface Part {
	readonly span: Span;
	/** Whether each step that is done in it is a span as well. */
	readonly showsSteps: boolean;
	/** When the step before was done. On the clock of `performance.now()`. */
	since: number;
}

export interface PartOptions {
	/** How many rows it has done. */
	readonly rows?: () => number;
	readonly showsSteps?: boolean;
}

/** One run of something long as a trace: a span for it, and below it one for each part. */
export class RunTrace {
	/** Null: it is not traced. */
	readonly #root: Span | null;
	/** That is being done: the innermost. */
	#part: Part | null = null;

	constructor(root: Span | null) {
		this.#root = root;
	}

	/** Does all of it. */
	async run<T>(attributes: SpanAttributes, body: () => Promise<T>): Promise<T> {
		return ended(this.#root, body, () => attributes);
	}

	/** Does a part. */
	async part<T>(
		name: string,
		attributes: SpanAttributes,
		body: () => Promise<T>,
		{ rows, showsSteps = false }: PartOptions = {},
	): Promise<T> {
		const outer = this.#part;
		const parent = outer?.span ?? this.#root;
		if (parent === null) return body();
		const span = parent.start(name, "internal", attributes);
		this.#part = { span, showsSteps, since: performance.now() };
		try {
			return await ended(span, body, () => ({ "corkboard.rows": rows?.() }));
		} finally {
			this.#part = outer;
		}
	}

	/** A step is done. */
	step(what: string): void {
		const part = this.#part;
		if (part === null || !part.showsSteps) return;
		part.span.start(what, "internal", undefined, part.since).end(null);
		part.since = performance.now();
	}
}

async function ended<T>(
	span: Span | null,
	body: () => Promise<T>,
	attributes: () => SpanAttributes,
): Promise<T> {
	try {
		const result = await body();
		span?.end(null, attributes());
		return result;
	} catch (thrown) {
		span?.end(asCorkboardError(thrown).code, attributes());
		throw thrown;
	}
}
