import { asCorkboardError } from "../../errors.ts";
import type { ErrorCount } from "./explainOutput.ts";

/** By code and host. */
export type ErrorCounts = Map<string, ErrorCount>;

/** Keeps only the code and the host: the message may hold what a client sent. */
export function countError(
	counts: ErrorCounts,
	thrown: unknown,
	times: number,
): void {
	const { code, details } = asCorkboardError(thrown);
	const host = typeof details.host === "string" ? details.host : null;
	const key = `${code} ${host}`;
	const count = (counts.get(key)?.count ?? 0) + times;
	counts.set(key, { code, host, count });
}
