import { QUEUE_CHANNELS } from "../diagnostics.ts";
import { newClaim } from "../jobId.ts";
import type { Ack, Acked, ClaimedJob, JobStore } from "../jobStore.ts";
import type { ShardLimit } from "../rateLimit.ts";
import type { DueBucket, DueProbe } from "./dueProbe.ts";

/** Claims jobs where a probe found them. */
export class ClaimSource {
	readonly #store: JobStore;
	readonly #probe: DueProbe;

	constructor(store: JobStore, probe: DueProbe) {
		this.#store = store;
		this.#probe = probe;
	}

	/**
	 * Claims at most `limit` jobs, and reports `acks` in the same transaction.
	 * Throws as `JobStore.turn` does; the acks may be sent again then.
	 */
	async claim(
		place: DueBucket,
		options: {
			readonly limit: number;
			readonly claimMs: number;
			readonly limits: ShardLimit | null;
			readonly acks: readonly Ack[];
		},
	): Promise<{
		readonly claimed: readonly ClaimedJob[];
		readonly acked: readonly Acked[];
		/** Until the rate lets another job start; null where it does now, or that is not known. */
		readonly waitMs: number | null;
	}> {
		const { queue, shard, bucket, priority, oldestAt } = place;
		const started = performance.now();
		const turned = await this.#store.turn(
			{ queue, shard },
			{
				acks: options.acks,
				claim: {
					bucket,
					priority,
					floor: oldestAt,
					limit: options.limit,
					claim: newClaim(),
					claimMs: options.claimMs,
					limits: options.limits,
				},
			},
		);
		const last = turned.claimed.at(-1);
		if (last !== undefined) {
			// The shard is not asked: if that failed, nobody would know of the claim.
			const now = last.until - options.claimMs * 1_000;
			this.#probe.claimed(place, last.dueAt, now);
		}
		if (QUEUE_CHANNELS.jobsClaimed.hasSubscribers) {
			QUEUE_CHANNELS.jobsClaimed.publish({
				queue,
				shard,
				jobs: turned.claimed.length,
				ms: performance.now() - started,
			});
		}
		return { ...turned, waitMs: turned.waitMs ?? null };
	}
}
