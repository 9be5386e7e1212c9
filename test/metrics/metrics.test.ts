import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openMetrics } from "../../src/metrics/metrics.ts";
import { startWhole } from "../helpers/wholeServer.ts";

const PAGE = readFileSync(
	join(import.meta.dirname, "../../docs/operations.md"),
	"utf8",
);
const DOCUMENTS = 2;

/** The value of one line of a scrape. */
function lineOf(text: string, line: string): number {
	const found = text.split("\n").find((one) => one.startsWith(`${line} `));
	return found === undefined ? 0 : Number(found.slice(line.length + 1));
}

test("metrics count what clients and shards did, and the documentation names each", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	await using server = await startWhole();
	const { registry } = metrics;

	const query = "query One { interests(first: 1) { nodes { slug } } }";
	for (let n = 0; n < 4; n++) await server.ask({ query });
	await server.ask({ query: "query Bad { nothing }" });
	await server.ask({
		query: 'query Missing { node(id: "1") { id } }',
	});
	for (const name of ["A", "B", "C"]) {
		await server.ask({ query: `query ${name} { __typename }` });
	}
	const text = await registry.metrics();

	const requests = (way: string, status: number, type = "query") =>
		lineOf(
			text,
			`corkboard_requests_total{way="${way}",operation_type="${type}",status="${status}"}`,
		);
	const executed =
		requests("long", 200) + requests("short", 200) + requests("reused", 200);
	// A document that is not valid has no operation.
	assert.equal(executed, 8);
	assert.ok(requests("short", 200) + requests("reused", 200) >= 2);
	assert.equal(
		lineOf(text, 'corkboard_errors_total{code="GRAPHQL_VALIDATION_FAILED"}'),
		1,
	);
	assert.ok(
		lineOf(text, 'corkboard_storage_calls_total{verb="scanLists"}') > 0,
	);
	assert.ok(
		lineOf(text, 'corkboard_local_cache_hits_total{cache="heads"}') > 0,
	);
	assert.equal(
		lineOf(text, 'corkboard_request_duration_seconds_count{way="long"}'),
		requests("long", 200) +
			requests("long", 200, "none") +
			requests("long", 400, "none"),
	);

	// Labels that clients choose are bounded.
	const documents = text.match(/^corkboard_document_requests_total\{.*$/gm);
	assert.equal(documents?.length, DOCUMENTS + 1);
	assert.match(documents.join("\n"), /document="other",operation="other"/);

	const names = registry
		.getMetricsAsArray()
		.map(({ name }) => name)
		.filter((name) => name.startsWith("corkboard_"));
	const documented = new Set(PAGE.match(/`corkboard_\w+`/g));
	assert.deepEqual(
		names.map((name) => `\`${name}\``).sort(),
		[...documented].sort(),
	);

	const lines = server.lines.filter(({ msg }) => msg === "request completed");
	assert.deepEqual(
		lines.map(({ operation, codes }) => [operation, codes]).slice(3, 5),
		[
			["One", undefined],
			[undefined, ["GRAPHQL_VALIDATION_FAILED"]],
		],
	);
});
