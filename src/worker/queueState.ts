import type { AnyJob } from "../queue/job.ts";
import type { LiveSettings } from "../queue/liveSettings.ts";
import { DEFAULT_SETTINGS } from "../queue/settings.ts";
import type { Backoff } from "./retryDelay.ts";

/** How much a new body counts for the mean. */
const WEIGHT = 0.05;
/** Of one claim. */
const MAX_CLAIM_BYTES = 1024 * 1024;

/** What a worker knows of one of its queues. */
export class QueueState<Context> {
	readonly kind: AnyJob<Context>;
	readonly #settings: LiveSettings;
	#meanBytes = 256;

	constructor(kind: AnyJob<Context>, settings: LiveSettings) {
		this.kind = kind;
		this.#settings = settings;
	}

	/** What an operator has set for the queue, or else what its kind says. */
	get claimMs(): number {
		const { claimMs } = this.#settings.set(this.kind.queue);
		return claimMs ?? this.kind.claimMs;
	}

	get backoff(): Backoff {
		const settings = this.#settings.of(this.kind.queue) ?? DEFAULT_SETTINGS;
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
