import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Span } from "../../../src/trace.ts";
import { ADA, startToy, tokens } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";

/** A span that says how it ended. */
function spanThat(end: Span["end"]): Span {
	return {
		traceId: "0".repeat(32),
		sqlComment: "",
		start: () => spanThat(() => {}),
		end,
	};
}

suite("a GraphQL request", () => {
	test("ends the span that it began, whichever step replies", async () => {
		let began = 0;
		const ended: unknown[] = [];
		await using toy = await startToy({
			startSpan: () => {
				began++;
				return spanThat((_failure, attributes) =>
					ended.push(attributes?.["http.response.status_code"]),
				);
			},
		});
		const authorization = `Bearer ${await tokens.sign(ADA)}`;
		const statuses: number[] = [];
		for (const [body, headers] of [
			['{"query": "{ viewer }"}', { authorization }],
			['{"query": "{ viewer }"}', { authorization }],
			['{"query": "{ viewer }"}', { authorization: "Bearer none" }],
			['{"documentId": 7}', {}],
			["{", {}],
			["{", { "content-type": "text/plain" }],
			["{", { "content-encoding": "gzip" }],
			[" ".repeat(1_000_001), {}],
		] as const) {
			const response = await toy.post(body, headers);
			statuses.push(response.status);
		}
		assert.deepEqual(statuses, [200, 200, 401, 400, 400, 415, 415, 413]);
		await until("all ended", () => ended.length === statuses.length);
		assert.equal(began, statuses.length);
		assert.deepEqual(ended, statuses);
	});
});
