import { CorkboardError } from "../../errors.ts";

/** How long a host is skipped after its first failure; each further failure in a row doubles it. Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

interface Breaker {
	failures: number;
	/** On the clock of `performance.now()`. */
	openUntil: number;
}

/**
 * One circuit breaker per destination host. A host that failed is skipped until
 * its next probe, so that a delivery pass waits for an unreachable host once,
 * not once for each entry.
 */
export class HostBreakers {
	readonly #breakers = new Map<string, Breaker>();
	readonly #now: () => number;

	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	/** Throws HostSkipped while the host's breaker is open. */
	check(host: string | null): void {
		const breaker = this.#breakers.get(host ?? "");
		if (breaker === undefined) return;
		const leftMs = breaker.openUntil - this.#now();
		if (leftMs > 0) throw new HostSkipped(leftMs);
	}

	succeeded(host: string | null): void {
		this.#breakers.delete(host ?? "");
	}

	/** Opens the host's breaker if the error says that the host did not answer. */
	failed(host: string | null, error: unknown): void {
		if (!isUnreachable(error)) return;
		const failures = (this.#breakers.get(host ?? "")?.failures ?? 0) + 1;
		const pauseMs = Math.min(
			MAX_PAUSE_MS,
			FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10),
		);
		this.#breakers.set(host ?? "", {
			failures,
			openUntil: this.#now() + pauseMs,
		});
	}
}

/** Nothing was sent: the host's breaker is open. */
export class HostSkipped extends CorkboardError {
	/** Until the next probe. */
	readonly retryInMs: number;

	constructor(retryInMs: number) {
		super(
			"UNAVAILABLE",
			"The host did not answer before and is not asked yet.",
		);
		this.retryInMs = retryInMs;
	}
}

/** Whether the error is that a host did not answer, rather than that it refused. */
export function isUnreachable(error: unknown): boolean {
	return (
		error instanceof CorkboardError &&
		error.code === "UNAVAILABLE" &&
		error.details.kind !== "invalidation" &&
		!(error instanceof HostSkipped)
	);
}
