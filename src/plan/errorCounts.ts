import { asCorkboardError } from "../errors.ts";

export interface ErrorCount {
	readonly code: string;
	/** Null where no host is to blame. */
	readonly host: string | null;
	readonly count: number;
}

/** By code and host. */
export type ErrorCounts = Map<string, ErrorCount>;

/** Only the code and the host: an error's words may hold what a client sent. */
export function countError(
	failures: ErrorCounts,
	thrown: unknown,
	times: number,
): void {
	const { code, details } = asCorkboardError(thrown);
	const host = typeof details.host === "string" ? details.host : null;
	const key = `${code} ${host}`;
	const count = (failures.get(key)?.count ?? 0) + times;
	failures.set(key, { code, host, count });
}
