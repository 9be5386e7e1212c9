import {
	type Attributes,
	type HrTime,
	type SpanContext,
	SpanKind,
	SpanStatusCode,
	TraceFlags,
} from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
	RandomIdGenerator,
	type ReadableSpan,
	type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import type { Span, SpanAttributes } from "../trace.ts";
import { sqlComment } from "./sqlComment.ts";

const KINDS = {
	server: SpanKind.SERVER,
	client: SpanKind.CLIENT,
	internal: SpanKind.INTERNAL,
} as const;

const OK = { code: SpanStatusCode.UNSET };
const FAILED = { code: SpanStatusCode.ERROR };
const NONE: never[] = [];
const UNKNOWN: HrTime = [0, 0];

/** What all spans of a process share. */
export interface Spans {
	readonly processor: Pick<SpanProcessor, "onEnd">;
	readonly resource: Resource;
	readonly scope: ReadableSpan["instrumentationScope"];
}

const ids = new RandomIdGenerator();

/**
 * A span of OpenTelemetry that is sampled, in the form in which the SDK's
 * processor takes and its exporter reads it. The SDK's own tracer checks and
 * copies all that it is given, as anybody may call it, which took as long again
 * as what it is for. Its context is passed on explicitly: an AsyncLocalStorage
 * would cost every request.
 */
export class OtelSpan implements Span, ReadableSpan {
	readonly name: string;
	readonly kind: SpanKind;
	readonly parentSpanContext?: SpanContext;
	readonly startTime: HrTime;
	readonly attributes: Attributes = {};
	readonly links = NONE;
	readonly events = NONE;
	readonly resource: Resource;
	readonly instrumentationScope: Spans["scope"];
	readonly droppedAttributesCount = 0;
	readonly droppedEventsCount = 0;
	readonly droppedLinksCount = 0;
	endTime = UNKNOWN;
	status = OK;
	ended = false;
	readonly #context: SpanContext;
	readonly #spans: Spans;
	readonly #toTime: ToTime;

	constructor(
		spans: Spans,
		name: string,
		kind: keyof typeof KINDS,
		parent: SpanContext | undefined,
		toTime: ToTime,
		/** Milliseconds of `performance.now()`. */
		startedAt: number,
	) {
		this.name = name;
		this.kind = KINDS[kind];
		if (parent !== undefined) this.parentSpanContext = parent;
		this.startTime = toTime(startedAt);
		this.resource = spans.resource;
		this.instrumentationScope = spans.scope;
		this.#spans = spans;
		this.#toTime = toTime;
		this.#context = {
			traceId: parent?.traceId ?? ids.generateTraceId(),
			spanId: ids.generateSpanId(),
			traceFlags: TraceFlags.SAMPLED,
			...(parent?.traceState && { traceState: parent.traceState }),
		};
	}

	spanContext(): SpanContext {
		return this.#context;
	}

	get traceId(): string {
		return this.#context.traceId;
	}

	get sqlComment(): string {
		const { traceId, spanId, traceState } = this.#context;
		return sqlComment({
			traceparent: `00-${traceId}-${spanId}-01`,
			tracestate: traceState?.serialize() || null,
		});
	}

	/** For exporters; ours does not ask. */
	get duration(): HrTime {
		const seconds = this.endTime[0] - this.startTime[0];
		const nanoseconds = this.endTime[1] - this.startTime[1];
		return nanoseconds < 0
			? [seconds - 1, nanoseconds + 1_000_000_000]
			: [seconds, nanoseconds];
	}

	start(
		name: string,
		kind: "client" | "internal",
		attributes?: SpanAttributes,
		startedAt: number = performance.now(),
	): Span {
		const span = new OtelSpan(
			this.#spans,
			name,
			kind,
			this.#context,
			this.#toTime,
			startedAt,
		);
		if (attributes !== undefined) span.#add(attributes);
		return span;
	}

	end(failure: string | null, attributes?: SpanAttributes): void {
		if (this.ended) return;
		if (attributes !== undefined) this.#add(attributes);
		if (failure !== null) {
			this.attributes["error.type"] = failure;
			this.status = FAILED;
		}
		this.endTime = this.#toTime(performance.now());
		this.ended = true;
		this.#spans.processor.onEnd(this);
	}

	#add(attributes: SpanAttributes): void {
		for (const name in attributes) {
			const value = attributes[name];
			if (value !== undefined) this.attributes[name] = value;
		}
	}
}

/** From `performance.now()`. */
type ToTime = (milliseconds: number) => HrTime;

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
