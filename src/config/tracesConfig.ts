import type { Settings } from "./readSettings.ts";

/** Where traces go and how many, by OpenTelemetry's own variables. */
export interface TracesConfig {
	/** Takes OTLP over HTTP, in protobuf. */
	readonly url: string;
	/** For one batch, with retries. The process ends no later after its last one. */
	readonly timeoutMs: number;
	readonly sampler: {
		/** Of requests that nobody has decided about: 0 to 1. */
		readonly ratio: number;
		/** Whether a client's decision, in `traceparent`, holds. */
		readonly followsParent: boolean;
	};
	/** Whether `traceparent` and `tracestate` of a request are read. */
	readonly readsParent: boolean;
	readonly batch: {
		readonly scheduledDelayMillis: number;
		readonly exportTimeoutMillis: number;
		readonly maxQueueSize: number;
		readonly maxExportBatchSize: number;
	};
}

const DEFAULT_ENDPOINT = "http://localhost:4318";

/**
 * Null unless an endpoint or the exporter `otlp` is named. A value that is not
 * supported is a problem: traces that silently do not arrive would be found out when they are needed.
 */
export function tracesOf({
	given,
	value,
	valueOr,
	problems,
}: Settings): TracesConfig | null {
	const isOff =
		given("OTEL_SDK_DISABLED")?.toLowerCase() === "true" ||
		given("OTEL_TRACES_EXPORTER") === "none";
	const endpoint = value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
	const base = given("OTEL_EXPORTER_OTLP_ENDPOINT");
	const exporter = given("OTEL_TRACES_EXPORTER");
	if (isOff || (endpoint === null && (base ?? exporter) === undefined))
		return null;

	// Of these, one value alone is supported.
	valueOr("OTEL_TRACES_EXPORTER", "otlp");
	value("OTEL_EXPORTER_OTLP_PROTOCOL");
	value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
	const name = value("OTEL_TRACES_SAMPLER");
	const argument = value("OTEL_TRACES_SAMPLER_ARG");
	const url =
		endpoint ?? `${(base ?? DEFAULT_ENDPOINT).replace(/\/$/, "")}/v1/traces`;
	if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
		problems.push(
			`${endpoint === null ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} must be an address such as ${DEFAULT_ENDPOINT}.`,
		);
	}
	const maxQueueSize = value("OTEL_BSP_MAX_QUEUE_SIZE");
	return {
		url,
		timeoutMs: valueOr(
			"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
			value("OTEL_EXPORTER_OTLP_TIMEOUT"),
		),
		sampler: {
			ratio: name.endsWith("off") ? 0 : name.endsWith("ratio") ? argument : 1,
			followsParent: name.startsWith("parentbased"),
		},
		readsParent: value("OTEL_PROPAGATORS").includes("tracecontext"),
		batch: {
			scheduledDelayMillis: value("OTEL_BSP_SCHEDULE_DELAY"),
			exportTimeoutMillis: value("OTEL_BSP_EXPORT_TIMEOUT"),
			maxQueueSize,
			maxExportBatchSize: Math.min(
				maxQueueSize,
				value("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
			),
		},
	};
}
