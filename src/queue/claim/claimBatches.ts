import type { JobHints } from "../hints.ts";
import type { Acked, JobStore } from "../jobStore.ts";
import type { LiveSettings } from "../liveSettings.ts";
import {
	type ClaimedOnShard,
	type ClaimOptions,
	claimJobs,
} from "./claimJobs.ts";
import { DueProbe } from "./dueProbe.ts";

/** Jobs that were claimed together. Their claims end after the queue's `claimMs`, unless they are renewed. */
export interface ClaimedBatch {
	readonly jobs: readonly ClaimedOnShard[];
	/** They are done. In their order: `lost` if the claim had ended before. */
	succeed(jobs: readonly ClaimedOnShard[]): Promise<readonly (Acked | Error)[]>;
	/** They failed: each is tried again after `delayMs`, while it has attempts left. */
	fail(
		jobs: readonly ClaimedOnShard[],
		options: { readonly delayMs: number; readonly status?: string },
	): Promise<readonly (Acked | Error)[]>;
}

/** Pause after a claim that found nothing, doubled after each further one. Milliseconds. */
const FIRST_IDLE_MS = 50;
const MOST_IDLE_MS = 1_000;

/**
 * Batches of claimed jobs, for programs that bring their own loop, until the
 * signal aborts. It is not the loop of a worker (`ClaimLoop`): that one claims ahead
 * of its handlers, by the room they have, and sends acks with its claims. Here
 * the program asks when it wants more, so there is no room to count and nothing to
 * buffer. Both look for due jobs with a `DueProbe`. Waits while nothing is due. A shard that does not answer
 * counts as one that has nothing.
 */
export async function* claimBatches(
	{
		store,
		settings,
		hints,
	}: {
		readonly store: JobStore;
		readonly settings: LiveSettings;
		readonly hints: JobHints;
	},
	queue: string,
	{
		signal,
		...options
	}: Pick<ClaimOptions, "limit" | "claimMs" | "coverage"> & {
		readonly signal?: AbortSignal;
	} = {},
): AsyncGenerator<ClaimedBatch, void> {
	// A queue that was created a moment ago.
	if (settings.settingsOf(queue) === null) await settings.refresh();
	const probe = new DueProbe(store);
	let idleMs = FIRST_IDLE_MS;
	let isHinted = false;
	let wake = () => {};
	const onHint = () => {
		isHinted = true;
		wake();
	};
	const unsubscribe = hints.subscribe(
		(name) => {
			if (name === queue) onHint();
		},
		[queue],
	);
	signal?.addEventListener("abort", onHint);
	try {
		while (signal?.aborted !== true) {
			isHinted = false;
			const { claimed, waitMs } = await claimJobs(
				store,
				settings,
				queue,
				options,
				probe,
			);
			if (claimed.length > 0) {
				idleMs = FIRST_IDLE_MS;
				yield batchOf(claimed, (acks) =>
					claimJobs(store, settings, queue, { acks, limit: 0 }),
				);
				continue;
			}
			if (isHinted) continue;
			const pauseMs = waitMs ?? idleMs;
			idleMs = Math.min(MOST_IDLE_MS, idleMs * 2);
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, pauseMs);
				wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
	} finally {
		unsubscribe();
		signal?.removeEventListener("abort", onHint);
	}
}

function batchOf(
	jobs: readonly ClaimedOnShard[],
	send: (
		acks: NonNullable<ClaimOptions["acks"]>,
	) => Promise<{ readonly acked: readonly (Acked | Error)[] }>,
): ClaimedBatch {
	return {
		jobs,
		async succeed(done) {
			const acks = done.map(({ shard, local, bucket, claim }) => ({
				shard,
				ack: { kind: "succeed" as const, local, bucket, claim },
			}));
			return (await send(acks)).acked;
		},
		async fail(failed, { delayMs, status }) {
			const acks = failed.map(({ shard, local, bucket, claim }) => ({
				shard,
				ack: {
					kind: "fail" as const,
					local,
					bucket,
					claim,
					delayMs,
					...(status !== undefined && { status }),
				},
			}));
			return (await send(acks)).acked;
		},
	};
}
