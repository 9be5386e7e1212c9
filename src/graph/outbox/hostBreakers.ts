import { CorkboardError } from "../../errors.ts";

/** How long a host is skipped after its first failure; each further failure in a row doubles it. Milliseconds. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** A cache that answers again shows old values until the invalidations are delivered. Milliseconds. */
const MAX_CACHE_PAUSE_MS = 2_000;

interface Breaker {
	failures: number;
	/** On the clock of `performance.now()`. */
	openUntil: number;
	isProbed: boolean;
}

/**
 * One circuit breaker for each destination of outbox entries: hosts of shards and
 * mod shards, and hosts of shared caches. A host that failed is skipped until its
 * next probe, so that a process waits for a host that it cannot reach once, not
 * once for each entry. Breakers are of one process: what it cannot reach, another
 * one may.
 */
export class HostBreakers {
	readonly #breakers = new Map<string, Breaker>();
	readonly #now: () => number;

	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	/** Throws HostSkipped while the host's breaker is open, and after its pause unless the caller may probe. */
	check(host: string | null, mayProbe = true): void {
		const breaker = this.#breakers.get(host ?? "");
		if (breaker === undefined) return;
		const leftMs = breaker.openUntil - this.#now();
		if (leftMs > 0 || !mayProbe) throw new HostSkipped(host ?? "", leftMs);
	}

	/** Whether its last call failed. */
	isOpen(host: string): boolean {
		return this.#breakers.has(host);
	}

	/** Whether to try the host again now. After true, the caller does and then calls `endProbe`. */
	startProbe(host: string): boolean {
		const breaker = this.#breakers.get(host);
		if (breaker === undefined || breaker.isProbed) return false;
		if (breaker.openUntil > this.#now()) return false;
		breaker.isProbed = true;
		return true;
	}

	endProbe(host: string): void {
		const breaker = this.#breakers.get(host);
		if (breaker !== undefined) breaker.isProbed = false;
	}

	succeeded(host: string | null): void {
		this.#breakers.delete(host ?? "");
	}

	/** Opens the host's breaker if the error says that the host did not answer. */
	failed(host: string | null, error: unknown): void {
		const isCache = isInvalidation(error);
		if (!isCache && !isUnreachable(error)) return;
		const { failures: before = 0, isProbed = false } =
			this.#breakers.get(host ?? "") ?? {};
		const failures = before + 1;
		const pauseMs = Math.min(
			isCache ? MAX_CACHE_PAUSE_MS : MAX_PAUSE_MS,
			FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10),
		);
		this.#breakers.set(host ?? "", {
			failures,
			openUntil: this.#now() + pauseMs,
			isProbed,
		});
	}
}

/** Nothing was sent: the host's breaker is open. */
export class HostSkipped extends CorkboardError {
	readonly host: string;

	constructor(host: string, retryInMs: number) {
		super(
			"UNAVAILABLE",
			"The host did not answer before, and is not asked again yet.",
			{ details: { kind: "skipped", host, retryInMs } },
		);
		this.host = host;
	}
}

/** Failures of a storage port's call that say nothing of what was asked, only that this process and the host did not talk. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
	"connectionLost",
	"timeout",
	"hostDown",
	"poolExhausted",
	"unsupported",
	"readOnly",
	"diskFull",
	"stopped",
]);

/** Whether the error is that a host did not answer, rather than that it refused. */
function isUnreachable(error: unknown): boolean {
	return (
		error instanceof CorkboardError &&
		error.code === "UNAVAILABLE" &&
		UNREACHABLE.has(error.details.kind)
	);
}

/** Whether the error is that a shared cache did not acknowledge. */
export function isInvalidation(error: unknown): boolean {
	return (
		error instanceof CorkboardError && error.details.kind === "invalidation"
	);
}

/** What an error names that does not name the cache's host. */
const SHARED_CACHES = "shared caches";

/**
 * The host that this process could not reach, if a delivery failed because
 * of that; null for a failure that any other process would meet too.
 */
export function unreachedHost(error: unknown): string | null {
	if (error instanceof HostSkipped) return error.host;
	if (!isUnreachable(error) && !isInvalidation(error)) return null;
	const { host } = (error as CorkboardError).details;
	return typeof host === "string" ? host : SHARED_CACHES;
}
