/** Times and sizes of a worker. Tests make them short. */
export interface WorkerLimits {
	/** From the first signal to stop: running jobs may end. */
	readonly drainMs: number;
	/** Then their signals abort, and they may end. */
	readonly abortMs: number;
	/** Then those that are left are released, and what is to be reported is sent. */
	readonly releaseMs: number;
	/** While a handler keeps the event loop busy for longer, claims are not renewed. */
	readonly maxBlockMs: number;
	/** Pause after a probe that found nothing, doubled after each further one. */
	readonly firstIdleMs: number;
	readonly mostIdleMs: number;
	/** After claims that hints led to: what they passed over, since another had locked it, is looked for so soon. */
	readonly missedMs: number;
	/** The same where hints say that there is something to do. */
	readonly hintedIdleMs: number;
	/** A worker that leaves probing to another one probes by itself so often all the same: the other one may not reach a shard. */
	readonly followingMs: number;
	/** How often claims of the present are looked at that have ended, and those of the past. */
	readonly expireMs: number;
	readonly expirePastMs: number;
	/** How often rounds of rotation are looked for that are due; each is taken by one worker. */
	readonly rotateMs: number;
}

/** A worker ends within 30 s. */
export const WORKER_LIMITS: WorkerLimits = {
	drainMs: 25_000,
	abortMs: 3_000,
	releaseMs: 1_500,
	maxBlockMs: 300_000,
	firstIdleMs: 50,
	mostIdleMs: 1_000,
	missedMs: 250,
	hintedIdleMs: 2_000,
	followingMs: 30_000,
	expireMs: 5_000,
	expirePastMs: 30_000,
	rotateMs: 30_000,
};
