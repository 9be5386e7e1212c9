import type { Settings } from "../util/environment.ts";
import { parseInteger, parseList, parseOneOf } from "../util/settings.ts";

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

/** OpenTelemetry's variables that are honored. Its exporter and its resource read those that are not read below. */
export const OTEL_VARIABLES: readonly string[] = [
	"OTEL_SDK_DISABLED",
	"OTEL_TRACES_EXPORTER",
	"OTEL_TRACES_SAMPLER",
	"OTEL_TRACES_SAMPLER_ARG",
	"OTEL_PROPAGATORS",
	"OTEL_SERVICE_NAME",
	"OTEL_RESOURCE_ATTRIBUTES",
	"OTEL_BSP_SCHEDULE_DELAY",
	"OTEL_BSP_EXPORT_TIMEOUT",
	"OTEL_BSP_MAX_QUEUE_SIZE",
	"OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
	...[
		"ENDPOINT",
		"PROTOCOL",
		"HEADERS",
		"TIMEOUT",
		"COMPRESSION",
		"CERTIFICATE",
		"CLIENT_KEY",
		"CLIENT_CERTIFICATE",
	].map((name) => `OTEL_EXPORTER_OTLP_${name}`),
	"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
	"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
];

const SAMPLERS = [
	"always_on",
	"always_off",
	"traceidratio",
	"parentbased_always_on",
	"parentbased_always_off",
	"parentbased_traceidratio",
] as const;

const DEFAULT_ENDPOINT = "http://localhost:4318";

/**
 * Null unless an endpoint or the exporter `otlp` is named. A value that is not
 * supported is a problem: traces that silently do not arrive would be found out when they are needed.
 */
export function tracesOf({
	given,
	setting,
	problems,
}: Settings): TracesConfig | null {
	const isOff =
		given("OTEL_SDK_DISABLED")?.toLowerCase() === "true" ||
		given("OTEL_TRACES_EXPORTER") === "none";
	const endpoint = given("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
	const base = given("OTEL_EXPORTER_OTLP_ENDPOINT");
	const exporter = given("OTEL_TRACES_EXPORTER");
	if (isOff || (endpoint ?? base ?? exporter) === undefined) return null;

	setting(
		"OTEL_TRACES_EXPORTER",
		"otlp or none",
		(text) => parseOneOf(["otlp"], text),
		"otlp",
	);
	for (const name of [
		"OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
	]) {
		setting(
			name,
			"http/protobuf, the one protocol that is supported",
			(text) => parseOneOf(["http/protobuf"], text),
			"http/protobuf",
		);
	}
	const name = setting(
		"OTEL_TRACES_SAMPLER",
		`one of ${SAMPLERS.join(", ")}`,
		(text) => parseOneOf(SAMPLERS, text),
		"parentbased_always_on",
	);
	const argument = setting(
		"OTEL_TRACES_SAMPLER_ARG",
		"a number from 0 to 1, such as 0.01",
		parseRatio,
		1,
	);
	const propagators = parseList(given("OTEL_PROPAGATORS") ?? "tracecontext");
	const url =
		endpoint ?? `${(base ?? DEFAULT_ENDPOINT).replace(/\/$/, "")}/v1/traces`;
	if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
		problems.push(
			`${endpoint === undefined ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} must be an address such as ${DEFAULT_ENDPOINT}.`,
		);
	}
	const integer = (name: string, least: number, otherwise: number) =>
		setting(
			name,
			`an integer from ${least} to 10000000`,
			(text) => parseInteger(text, least, 10_000_000),
			otherwise,
		);
	const maxQueueSize = integer("OTEL_BSP_MAX_QUEUE_SIZE", 1, 2_048);
	return {
		url,
		timeoutMs: integer(
			"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
			1,
			integer("OTEL_EXPORTER_OTLP_TIMEOUT", 1, 3_000),
		),
		sampler: {
			ratio: name.endsWith("off") ? 0 : name.endsWith("ratio") ? argument : 1,
			followsParent: name.startsWith("parentbased"),
		},
		readsParent: propagators.includes("tracecontext"),
		batch: {
			scheduledDelayMillis: integer("OTEL_BSP_SCHEDULE_DELAY", 0, 5_000),
			exportTimeoutMillis: integer("OTEL_BSP_EXPORT_TIMEOUT", 1, 30_000),
			maxQueueSize,
			maxExportBatchSize: Math.min(
				maxQueueSize,
				integer("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1, 512),
			),
		},
	};
}

function parseRatio(text: string): number | undefined {
	const ratio = /^(?:\d+\.?\d*|\.\d+)(?:[eE]-?\d+)?$/.test(text)
		? Number(text)
		: Number.NaN;
	return ratio >= 0 && ratio <= 1 ? ratio : undefined;
}
