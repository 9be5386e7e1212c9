import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
	createTraceState,
	DiagLogLevel,
	diag,
	type SpanContext,
	TraceFlags,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
	defaultResource,
	detectResources,
	envDetector,
	resourceFromAttributes,
} from "@opentelemetry/resources";
import {
	BatchSpanProcessor,
	type SpanExporter,
} from "@opentelemetry/sdk-trace";
import type { Span } from "../trace.ts";
import { TRACE_CHANNELS } from "./diagnostics.ts";
import { clockOfRequest, OtelSpan, type Spans } from "./otelSpan.ts";
import { createSampler, type SamplerOptions } from "./sampler.ts";
import { parentOf, type RemoteParent } from "./traceparent.ts";

export interface TracesOptions {
	/** Takes OTLP over HTTP, in protobuf. */
	readonly url: string;
	/** For one batch, with retries: while it waits for one, the process does not end. */
	readonly timeoutMs: number;
	readonly sampler: SamplerOptions;
	/** Whether `traceparent` and `tracestate` of a request are read. */
	readonly readsParent: boolean;
	readonly batch: {
		readonly scheduledDelayMillis: number;
		readonly exportTimeoutMillis: number;
		readonly maxQueueSize: number;
		readonly maxExportBatchSize: number;
	};
}

/** The traces of this process. Disposing of it sends what is left, for at most some seconds. */
export interface Traces extends AsyncDisposable {
	/** The span of a request that arrived at this time of `performance.now()`; null if it is not sampled. */
	readonly start: (
		headers: IncomingHttpHeaders,
		arrivedAt: number,
	) => Span | null;
	/** The span of what nobody has asked for by a request, such as an operation: rare, so it is kept at any ratio but 0. */
	readonly begin: (name: string) => Span | null;
}

/** At shutdown. A collector that is away must not hold it up. */
const FLUSH_MS = 3_000;

/** About requests nobody names. */
const REQUEST = "POST /graphql";

/**
 * Sends traces to a collector, in batches beside the requests: where it is slow
 * or away, spans are dropped, reported on a diagnostics channel, and requests go
 * on. `OTEL_EXPORTER_OTLP_HEADERS`, `_COMPRESSION` and `_CERTIFICATE`
 * are read from the environment by the exporter, `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES` by the resource.
 */
export function openTraces(options: TracesOptions): Traces {
	const { url, timeoutMs, readsParent, batch } = options;
	const isSampled = createSampler(options.sampler);
	diag.setLogger(DROPPED_SPANS, {
		logLevel: DiagLogLevel.WARN,
		suppressOverrideMessage: true,
	});
	const exporter = new ReportingExporter(
		new OTLPTraceExporter({ url, timeoutMillis: timeoutMs }),
	);
	const processor = new BatchSpanProcessor({ ...batch, exporter });
	const spans: Spans = {
		processor,
		scope: { name: "corkboard" },
		resource: defaultResource()
			.merge(
				resourceFromAttributes({
					"service.name": "corkboard",
					"service.instance.id": randomUUID(),
					"process.pid": process.pid,
				}),
			)
			.merge(detectResources({ detectors: [envDetector] })),
	};
	return {
		start(headers, arrivedAt) {
			const parent = readsParent ? parentOf(headers) : null;
			if (!isSampled(parent)) return null;
			return new OtelSpan(
				spans,
				REQUEST,
				"server",
				parent === null ? undefined : contextOf(parent),
				clockOfRequest(),
				arrivedAt,
			);
		},
		begin(name) {
			if (options.sampler.ratio === 0) return null;
			const now = performance.now();
			return new OtelSpan(
				spans,
				name,
				"internal",
				undefined,
				clockOfRequest(),
				now,
			);
		},
		async [Symbol.asyncDispose]() {
			const done = new AbortController();
			await Promise.race([
				// What could not be sent was reported.
				processor.shutdown().catch(() => {}),
				sleep(FLUSH_MS, undefined, { signal: done.signal }).catch(() => {}),
			]);
			done.abort();
			exporter.giveUp();
		},
	};
}

function contextOf({
	traceId,
	spanId,
	isSampled,
	state,
}: RemoteParent): SpanContext {
	return {
		traceId,
		spanId,
		traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
		isRemote: true,
		...(state !== null && { traceState: createTraceState(state) }),
	};
}

/** Reports what could not be sent, and never throws. */
class ReportingExporter implements SpanExporter {
	readonly #exporter: SpanExporter;
	/** Spans that are being sent. */
	#sending = 0;

	constructor(exporter: SpanExporter) {
		this.#exporter = exporter;
	}

	export(...[spans, done]: Parameters<SpanExporter["export"]>): void {
		const { length } = spans;
		this.#sending += length;
		const end: typeof done = (result) => {
			this.#sending -= length;
			if (result.code !== SUCCESS) reportLost(length, result.error);
			done(result);
		};
		try {
			this.#exporter.export(spans, end);
		} catch (thrown) {
			end({ code: FAILED, error: thrown as Error });
		}
	}

	/** What is still being sent will not arrive: the process ends. */
	giveUp(): void {
		if (this.#sending === 0) return;
		reportLost(this.#sending, new Error("No answer before the shutdown."));
		this.#sending = 0;
	}

	shutdown(): Promise<void> {
		return this.#exporter.shutdown();
	}
}

/** Values of ExportResultCode. */
const SUCCESS = 0;
const FAILED = 1;

function reportLost(spans: number, error: unknown): void {
	TRACE_CHANNELS.spansLost.publish({ spans, error });
}

/** The processor says only here that its queue was full. */
const DROPPED_SPANS = {
	warn(message: string) {
		const [, count] = /^Dropped (\d+) spans/.exec(message) ?? [];
		if (count !== undefined) reportLost(Number(count), new Error(message));
	},
	error() {},
	info() {},
	debug() {},
	verbose() {},
};
