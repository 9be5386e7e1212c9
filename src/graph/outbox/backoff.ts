import { CorkboardError } from "../../errors.ts";
import { HostSkipped } from "./hostBreakers.ts";

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
/** A cache that answers again shows an old value until the invalidation is delivered. */
const MAX_INVALIDATION_DELAY_MS = 4_000;

/**
 * How long after a failed delivery the next is tried, in milliseconds:
 * exponential, bounded, and with jitter so that entries that failed together do
 * not come back together. `attempts` is how often delivery failed before.
 */
export function retryDelayMs(
	attempts: number,
	error: unknown,
	random: () => number = Math.random,
): number {
	if (error instanceof HostSkipped) {
		return error.retryInMs + random() * FIRST_DELAY_MS;
	}
	const max = isInvalidation(error) ? MAX_INVALIDATION_DELAY_MS : MAX_DELAY_MS;
	const delayMs = Math.min(max, FIRST_DELAY_MS * 2 ** Math.min(attempts, 20));
	return delayMs * (0.5 + random() / 2);
}

export function isInvalidation(error: unknown): boolean {
	return (
		error instanceof CorkboardError && error.details.kind === "invalidation"
	);
}

/** The error in a few words for `last_error`: codes only, since messages may hold values. */
export function errorCode(error: unknown): string {
	if (error instanceof HostSkipped) return "UNAVAILABLE skipped";
	if (!(error instanceof CorkboardError)) {
		return error instanceof Error ? error.name : "unknown";
	}
	const { host, kind, errno } = error.details;
	return [error.code, kind, errno, host]
		.filter((part) => typeof part === "string" || typeof part === "number")
		.join(" ");
}
