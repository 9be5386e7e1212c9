import { derived, fixed, optional } from "./declare.ts";
import { integer, list, oneOf, ratio, text } from "./kinds.ts";

const OF_OTEL = "as OpenTelemetry specifies it";
const ITS_DEFAULT = "its default";
const LISTENS = "where the collector listens; `/v1/traces` is appended";
const CALLED = "what the process is called in traces";
const PROTOCOL = oneOf("http/protobuf");
const ONE_PROTOCOL = "`http/protobuf`; another one stops the start";
const specified = text("a value of OpenTelemetry's specification");
const asSpecified = () => derived(specified, OF_OTEL, ITS_DEFAULT);
const count = (least: number) => integer(least, 10_000_000);

const SAMPLERS = [
	"always_on",
	"always_off",
	"traceidratio",
	"parentbased_always_on",
	"parentbased_always_off",
	"parentbased_traceidratio",
] as const;

/** OpenTelemetry's variables that are honored. Its exporter and its resource read those that have no default here. */
export const TRACES = {
	OTEL_SDK_DISABLED: derived(
		text("true or false"),
		"`true`: no traces, whatever else is set",
		"`false`",
	),
	OTEL_TRACES_EXPORTER: derived(
		oneOf("otlp", "none"),
		"`otlp` or `none`",
		"`otlp` with an endpoint, else none",
	),
	OTEL_EXPORTER_OTLP_ENDPOINT: derived(
		text("an address"),
		LISTENS,
		"`http://localhost:4318`",
	),
	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(
		text("an address"),
		"where the collector listens for traces alone, with its path",
		"none",
	),
	OTEL_EXPORTER_OTLP_PROTOCOL: fixed(PROTOCOL, "http/protobuf", ONE_PROTOCOL),
	OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: fixed(
		PROTOCOL,
		"http/protobuf",
		ONE_PROTOCOL,
	),
	OTEL_EXPORTER_OTLP_HEADERS: asSpecified(),
	OTEL_EXPORTER_OTLP_COMPRESSION: asSpecified(),
	OTEL_EXPORTER_OTLP_CERTIFICATE: asSpecified(),
	OTEL_EXPORTER_OTLP_CLIENT_KEY: asSpecified(),
	OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: asSpecified(),
	OTEL_EXPORTER_OTLP_TIMEOUT: fixed(
		count(1),
		3_000,
		"milliseconds for one batch with its retries, and for what is left at shutdown",
	),
	OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: derived(
		count(1),
		"the timeout for traces alone",
		"`OTEL_EXPORTER_OTLP_TIMEOUT`",
	),
	OTEL_TRACES_SAMPLER: fixed(
		oneOf(...SAMPLERS),
		"parentbased_always_on",
		"`always_on`, `always_off`, `traceidratio`, or one of these with `parentbased_` (`parentbased_traceidratio`). With that, a client that sends `traceparent` decides for itself",
	),
	OTEL_TRACES_SAMPLER_ARG: fixed(
		ratio,
		1,
		"the share of `traceidratio`, such as `0.01`",
	),
	OTEL_PROPAGATORS: fixed(
		list("names, separated by commas"),
		["tracecontext"],
		"if the list lacks `tracecontext`, as `none` does, `traceparent` and `tracestate` of clients are ignored",
		"`tracecontext`",
	),
	OTEL_SERVICE_NAME: derived(text("a name"), CALLED, "`corkboard`"),
	OTEL_RESOURCE_ATTRIBUTES: derived(specified, CALLED, "none"),
	OTEL_BSP_SCHEDULE_DELAY: fixed(
		count(0),
		5_000,
		"milliseconds that spans wait to be sent together",
	),
	OTEL_BSP_EXPORT_TIMEOUT: fixed(
		count(1),
		30_000,
		"milliseconds for sending a batch",
	),
	OTEL_BSP_MAX_QUEUE_SIZE: fixed(count(1), 2_048, "spans that wait at most"),
	OTEL_BSP_MAX_EXPORT_BATCH_SIZE: fixed(
		count(1),
		512,
		"spans of one batch at most",
	),
} as const;
