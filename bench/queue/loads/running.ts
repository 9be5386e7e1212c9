import { setTimeout as sleep } from "node:timers/promises";
import type { AgentProcess, Runs } from "../agentProcess.ts";

/** Waits until so many different jobs have been started, or so long. */
export async function untilRun(
	worker: AgentProcess,
	{ jobs, seconds }: { readonly jobs: number; readonly seconds: number },
	signal: AbortSignal,
): Promise<void> {
	const over = new AbortController();
	const either = AbortSignal.any([over.signal, signal]);
	const isRun = worker.call("untilRun", jobs, signal);
	isRun.catch(() => {});
	try {
		await Promise.race([
			isRun,
			sleep(1_000 * seconds, undefined, { signal: either }),
		]);
	} finally {
		over.abort();
	}
}

/** The rate of starts. */
export function perSecond({ distinct, firstAt, lastAt }: Runs): number {
	return (1_000 * distinct) / Math.max(1, lastAt - firstAt);
}

/** The value below which this part of them is. */
export function percentile(values: readonly number[], part: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	const at = Math.min(sorted.length - 1, Math.floor(sorted.length * part));
	return sorted[at] ?? Number.NaN;
}
