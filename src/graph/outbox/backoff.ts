import { CorkboardError } from "../../errors.ts";
import { isUnreadable } from "./decodeEntry.ts";
import { HostSkipped } from "./hostBreakers.ts";

const FIRST_DELAY_MS = 1_000;
/** Somebody else is at work on the same rows. */
const MAX_CONFLICT_DELAY_MS = 4_000;
const MAX_DELAY_MS = 60_000;
/** Only another version of the program, or an operator, makes the row readable. */
const MAX_UNREADABLE_DELAY_MS = 300_000;

/**
 * How long after a failed delivery the entry is left by every process, in
 * milliseconds, if the failure is the entry's own: exponential, bounded, and
 * with jitter so that entries that failed together do not come back together.
 * `attempts` is how often the entry itself failed before: backoff does not grow
 * while hosts are out of reach.
 */
export function retryDelayMs(
	attempts: number,
	error: unknown,
	random: () => number = Math.random,
): number {
	const delayMs = FIRST_DELAY_MS * 2 ** Math.min(attempts, 20);
	return Math.min(maxDelayMs(error), delayMs) * (0.5 + random() / 2);
}

function maxDelayMs(error: unknown): number {
	if (isUnreadable(error)) return MAX_UNREADABLE_DELAY_MS;
	return error instanceof CorkboardError && error.code === "UNAVAILABLE"
		? MAX_CONFLICT_DELAY_MS
		: MAX_DELAY_MS;
}

/** The error in a few words for `last_error`: codes only, since messages may hold values. */
export function errorCode(error: unknown): string {
	if (error instanceof HostSkipped) return `UNAVAILABLE skipped ${error.host}`;
	if (isUnreadable(error)) return (error as CorkboardError).message;
	if (!(error instanceof CorkboardError)) {
		return error instanceof Error ? error.name : "unknown";
	}
	const { host, kind, errno } = error.details;
	return [error.code, kind, errno, host]
		.filter((part) => typeof part === "string" || typeof part === "number")
		.join(" ");
}
