import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

/** A span as it arrived. */
export interface ReceivedSpan {
	readonly traceId: string;
	readonly spanId: string;
	/** Empty for none. */
	readonly parentSpanId: string;
	readonly traceState: string;
	readonly name: string;
	/** 1: internal, 2: server, 3: client. */
	readonly kind: number;
	/** Nanoseconds. */
	readonly start: bigint;
	readonly end: bigint;
	readonly attributes: Readonly<Record<string, unknown>>;
	/** 0: unset, 2: error. */
	readonly status: number;
	/** The attributes of its process. */
	readonly resource: Readonly<Record<string, unknown>>;
}

export interface OtlpServer extends AsyncDisposable {
	/** For OTEL_EXPORTER_OTLP_ENDPOINT. */
	readonly url: string;
	/** All that arrived. */
	readonly spans: ReceivedSpan[];
}

/** A collector: takes OTLP over HTTP in protobuf, as OpenTelemetry's own does on port 4318. */
export async function startOtlpServer(): Promise<OtlpServer> {
	const spans: ReceivedSpan[] = [];
	const server = createServer(async (request, response) => {
		const isTraces =
			request.method === "POST" &&
			request.url === "/v1/traces" &&
			request.headers["content-type"] === "application/x-protobuf";
		const sent = await buffer(request);
		if (isTraces) {
			const isZipped = request.headers["content-encoding"] === "gzip";
			spans.push(...spansIn(isZipped ? gunzipSync(sent) : sent));
		}
		response.writeHead(isTraces ? 200 : 404, {
			"content-type": "application/x-protobuf",
		});
		response.end();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		spans,
		async [Symbol.asyncDispose]() {
			server.close();
			server.closeAllConnections();
			await once(server, "close");
		},
	};
}

/** The spans below one, in the order in which they began. */
export function childrenOf(
	spans: readonly ReceivedSpan[],
	{ traceId, spanId }: Pick<ReceivedSpan, "traceId" | "spanId">,
): readonly ReceivedSpan[] {
	return spans
		.filter((one) => one.traceId === traceId && one.parentSpanId === spanId)
		.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
}

/** A trace as lines of names, indented by depth. */
export function treeOf(
	spans: readonly ReceivedSpan[],
	root: ReceivedSpan,
	depth = 0,
): readonly string[] {
	return [
		`${"  ".repeat(depth)}${root.name}`,
		...childrenOf(spans, root).flatMap((one) => treeOf(spans, one, depth + 1)),
	];
}

/** `opentelemetry/proto/trace/v1/trace.proto`, as far as it is used. */
function spansIn(bytes: Uint8Array): ReceivedSpan[] {
	return fieldsIn(bytes)
		.all(1)
		.flatMap((one) => {
			const resourceSpans = fieldsIn(one);
			const resource = attributesIn(fieldsIn(resourceSpans.bytes(1)).all(1));
			return resourceSpans.all(2).flatMap((scope) =>
				fieldsIn(scope)
					.all(2)
					.map((span) => toSpan(fieldsIn(span), resource)),
			);
		});
}

function toSpan(
	span: Fields,
	resource: ReceivedSpan["resource"],
): ReceivedSpan {
	return {
		traceId: hex(span.bytes(1)),
		spanId: hex(span.bytes(2)),
		traceState: text(span.bytes(3)),
		parentSpanId: hex(span.bytes(4)),
		name: text(span.bytes(5)),
		kind: Number(span.number(6)),
		start: span.number(7),
		end: span.number(8),
		attributes: attributesIn(span.all(9)),
		status: Number(fieldsIn(span.bytes(15)).number(3)),
		resource,
	};
}

function attributesIn(pairs: readonly Uint8Array[]): Record<string, unknown> {
	return Object.fromEntries(
		pairs.map((pair) => {
			const fields = fieldsIn(pair);
			return [text(fields.bytes(1)), valueIn(fieldsIn(fields.bytes(2)))];
		}),
	);
}

function valueIn(value: Fields): unknown {
	if (value.has(1)) return text(value.bytes(1));
	if (value.has(2)) return value.number(2) === 1n;
	if (value.has(3)) return Number(value.number(3));
	if (value.has(4)) {
		return new Float64Array(new BigUint64Array([value.number(4)]).buffer)[0];
	}
	return fieldsIn(value.bytes(5))
		.all(1)
		.map((one) => valueIn(fieldsIn(one)));
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

interface Fields {
	has(number: number): boolean;
	/** The content of a message, text or bytes field; empty if it is absent. */
	bytes(number: number): Uint8Array;
	all(number: number): readonly Uint8Array[];
	number(number: number): bigint;
}

/** The fields of one protobuf message: https://protobuf.dev/programming-guides/encoding/ */
function fieldsIn(bytes: Uint8Array): Fields {
	const found: [number, Uint8Array | bigint][] = [];
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	let at = 0;
	const varint = () => {
		let value = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = view[at++] as number;
			value |= BigInt(byte & 0x7f) << shift;
			if (byte < 0x80) return value;
		}
	};
	while (at < view.length) {
		const tag = Number(varint());
		const number = tag >>> 3;
		const kind = tag & 7;
		if (kind === 0) found.push([number, varint()]);
		else if (kind === 1) {
			found.push([number, view.readBigUInt64LE(at)]);
			at += 8;
		} else if (kind === 5) {
			found.push([number, BigInt(view.readUInt32LE(at))]);
			at += 4;
		} else {
			const length = Number(varint());
			found.push([number, view.subarray(at, at + length)]);
			at += length;
		}
	}
	const all = (wanted: number) =>
		found.flatMap(([number, value]) =>
			number === wanted && typeof value !== "bigint" ? [value] : [],
		);
	return {
		has: (wanted) => found.some(([number]) => number === wanted),
		all,
		bytes: (wanted) => all(wanted)[0] ?? new Uint8Array(),
		number: (wanted) =>
			found.flatMap(([number, value]) =>
				number === wanted && typeof value === "bigint" ? [value] : [],
			)[0] ?? 0n,
	};
}
