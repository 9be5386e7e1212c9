import {
	type Span as ApiSpan,
	type Attributes,
	type HrTime,
	ROOT_CONTEXT,
	SpanKind,
	SpanStatusCode,
	type Tracer,
	trace,
} from "@opentelemetry/api";
import type { Span, SpanAttributes } from "../diagnostics.ts";
import { sqlComment } from "./sqlComment.ts";

const KINDS = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** A span of OpenTelemetry that is sampled. Its context is passed on explicitly: an AsyncLocalStorage would cost every request. */
export class OtelSpan implements Span {
	readonly #tracer: Tracer;
	readonly #span: ApiSpan;
	readonly #toTime: ToTime;

	constructor(tracer: Tracer, span: ApiSpan, toTime: ToTime) {
		this.#tracer = tracer;
		this.#span = span;
		this.#toTime = toTime;
	}

	get traceId(): string {
		return this.#span.spanContext().traceId;
	}

	get sqlComment(): string {
		const { traceId, spanId, traceState } = this.#span.spanContext();
		return sqlComment({
			traceparent: `00-${traceId}-${spanId}-01`,
			tracestate: traceState?.serialize() || null,
		});
	}

	start(
		name: string,
		kind: keyof typeof KINDS,
		attributes: SpanAttributes = {},
		startedAt: number = performance.now(),
	): Span {
		const options = {
			kind: KINDS[kind],
			attributes: attributes as Attributes,
			startTime: this.#toTime(startedAt),
		};
		const parent = trace.setSpan(ROOT_CONTEXT, this.#span);
		return new OtelSpan(
			this.#tracer,
			this.#tracer.startSpan(name, options, parent),
			this.#toTime,
		);
	}

	end(failure: string | null, attributes: SpanAttributes = {}): void {
		this.#span.setAttributes(attributes as Attributes);
		if (failure !== null) {
			this.#span.setAttribute("error.type", failure);
			this.#span.setStatus({ code: SpanStatusCode.ERROR });
		}
		this.#span.end(this.#toTime(performance.now()));
	}
}

/** From `performance.now()`. */
export type ToTime = (milliseconds: number) => HrTime;

/**
 * One for all spans of a request: the SDK asks the clock for each, whose whole
 * milliseconds would mix up the order of short spans.
 */
export function clockOfRequest(): ToTime {
	const offset = Date.now() - performance.now();
	return (milliseconds) => {
		const time = offset + milliseconds;
		const seconds = Math.floor(time / 1_000);
		return [seconds, Math.round((time - seconds * 1_000) * 1_000_000)];
	};
}
