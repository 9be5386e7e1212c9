import assert from "node:assert/strict";
import { test } from "node:test";
import { startOtlpServer, treeOf } from "../helpers/otlpServer.ts";
import { startWhole } from "../helpers/wholeServer.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test("a request is a span below the client's, on each way", async () => {
	await using collector = await startOtlpServer();
	const { spans } = collector;
	await using server = await startWhole({
		OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
	});
	const query = "query One { interests(first: 1) { nodes { slug } } }";
	const headers = { traceparent: `00-${TRACE}-${SPAN}-01` };
	for (let n = 0; n < 4; n++) await server.ask({ query }, headers);
	const r = await server.ask(
		{
			query:
				'mutation M { createUser(input: {username: "ada_lovelace", name: "Ada", email: "ada@example.com"}) { user { id name } } }',
		},
		headers,
	);
	console.log(r.text);
	await server[Symbol.asyncDispose]();
	const roots = spans.filter(({ name }) => name === "POST /graphql");
	assert.deepEqual(
		roots
			.map(({ traceId, parentSpanId, kind, attributes }) => [
				traceId,
				parentSpanId,
				kind,
				attributes["graphql.operation.name"],
			])
			.slice(0, 4),
		Array(4).fill([TRACE, SPAN, 2, "One"]),
	);
	for (const r of roots) console.log(treeOf(spans, r).join("\n"));
	console.log(
		spans.map((s) => [s.name, s.attributes, Number(s.end - s.start) / 1e6]),
	);
});
