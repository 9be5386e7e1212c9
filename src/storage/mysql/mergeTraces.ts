import type { StatementTrace } from "../../trace.ts";

/**
 * One trace of statements that several requests share: each gets all of them. Only
 * one of the sampled requests can be the parent that the server reads in the
 * statement's comment, the first. The others have a span that says which it is.
 */
export function mergeTraces(
	traces: readonly StatementTrace[],
): StatementTrace | undefined {
	const [only] = traces;
	if (traces.length <= 1) return only;
	const spans = traces.flatMap(({ span }) => span ?? []);
	const [first = null, ...others] = new Set(spans);
	return {
		span: first,
		isBrief: traces.every(({ isBrief }) => isBrief === true),
		statement(statement) {
			for (const trace of traces) trace.statement(statement);
			const { name, host, rows, ms, joined } = statement;
			if (first === null || joined) return;
			for (const other of others) {
				other
					.start(
						name,
						"client",
						{
							"server.address": host,
							"db.response.returned_rows": rows,
							"corkboard.merged.trace_id": first.traceId,
						},
						performance.now() - ms,
					)
					.end(null);
			}
		},
		failure(host, failure, ms) {
			for (const trace of traces) trace.failure?.(host, failure, ms);
		},
		retry(why) {
			for (const trace of traces) trace.retry?.(why);
		},
	};
}
