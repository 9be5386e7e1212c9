import type { AnyJob } from "../queue/job.ts";
import type { LiveSettings } from "../queue/liveSettings.ts";
import { DEFAULT_SETTINGS } from "../queue/settings.ts";

/** How much a new body counts for the mean. */
const WEIGHT = 0.05;
/** The largest claim. */
const MAX_CLAIM_BYTES = 1024 * 1024;

/** What a worker knows of one of its queues. */
export class WorkerQueue<Context> {
	readonly kind: AnyJob<Context>;
	readonly #settings: LiveSettings;
	#meanBytes = 256;

	constructor(kind: AnyJob<Context>, settings: LiveSettings) {
		this.kind = kind;
		this.#settings = settings;
	}

	/** What an operator has set for the queue, or else what its kind says. */
	get claimMs(): number {
		const { claimMs } = this.#settings.overridesOf(this.kind.queue);
		return claimMs ?? this.kind.claimMs;
	}

	get backoff(): Backoff {
		const settings =
			this.#settings.settingsOf(this.kind.queue) ?? DEFAULT_SETTINGS;
		return {
			firstMs: settings.backoffFirstMs,
			factor: settings.backoffFactor,
			mostMs: settings.backoffMostMs,
			jitter: settings.backoffJitter,
		};
	}

	/** Jobs of one claim, so that their bodies are about a megabyte at most. */
	get mostJobs(): number {
		return Math.max(1, Math.floor(MAX_CLAIM_BYTES / this.#meanBytes));
	}

	countBody(body: string): void {
		this.#meanBytes += WEIGHT * (body.length - this.#meanBytes);
	}
}

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
