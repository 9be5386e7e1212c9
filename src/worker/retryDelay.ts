/** How long a failed job waits for its next attempt. */
export interface Backoff {
	readonly firstMs: number;
	readonly factor: number;
	readonly mostMs: number;
	/** 0.2: up to 20 % more or less, so that jobs that failed together do not come back together. */
	readonly jitter: number;
}

/** Milliseconds until the next attempt, after the attempt with this number (from 1) has failed. */
export function retryDelayMs(
	attempt: number,
	{ firstMs, factor, mostMs, jitter }: Backoff,
	random: () => number = Math.random,
): number {
	const delayMs = Math.min(
		mostMs,
		firstMs * factor ** Math.max(0, attempt - 1),
	);
	return Math.round(delayMs * (1 + jitter * (2 * random() - 1)));
}
