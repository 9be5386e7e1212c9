import { formatJobId } from "../queue/jobId.ts";
import type { ClaimedJob, ShardOfQueue } from "../queue/jobStore.ts";
import { monotonicMs } from "../util/monotonic.ts";
import type { AckResult } from "./acks.ts";
import { type JobOutcome, WORKER_CHANNELS } from "./diagnostics.ts";
import type { HeldClaims } from "./heldJobs.ts";
import type { AttemptOutcome } from "./runJob.ts";
import { Abortion } from "./runJob.ts";
import type { WorkerQueue } from "./workerQueue.ts";

/** A claimed job in this process, until its end is reported. */
export interface WorkerJob<Context> {
	readonly queue: WorkerQueue<Context>;
	readonly place: ShardOfQueue;
	readonly job: ClaimedJob;
	readonly priority: number;
	readonly startBy: number;
	readonly abortion: Abortion;
	/** How long it had been due when it was claimed. */
	readonly waitedMs: number;
	readonly claimedAt: number;
	/** When the claim ends, by `monotonicMs`. */
	until: number;
	/** Null: not started. */
	startedAt: number | null;
	isReleased: boolean;
}

/** A job has to begin within this part of its claim. */
const BEGIN_WITHIN = 0.25;

export function workerJobOf<Context>(
	queue: WorkerQueue<Context>,
	{
		place,
		job,
		claimMs,
		since,
	}: Omit<HeldClaims, "jobs"> & { readonly job: ClaimedJob },
): WorkerJob<Context> {
	queue.countBody(job.body);
	return {
		queue,
		place,
		job,
		priority: job.priority,
		startBy: since + claimMs * BEGIN_WITHIN,
		abortion: new Abortion(),
		waitedMs: Math.max(0, (job.until - job.dueAt) / 1_000 - claimMs),
		claimedAt: since,
		until: since + claimMs,
		startedAt: null,
		isReleased: false,
	};
}

function nameOf(
	outcome: AttemptOutcome,
	{ attempts, allowed }: ClaimedJob,
): JobOutcome {
	switch (outcome.kind) {
		case "succeed":
			return "succeeded";
		case "giveUp":
			return "failed";
		case "fail":
			return attempts < allowed ? "retried" : "failed";
		case "again":
			return "later";
		case "release":
			return "released";
		case "lost":
			return "lost";
	}
}

/** Reports that an attempt has ended. */
export function publishEnd<Context>(
	{ place, job, waitedMs, claimedAt, startedAt }: WorkerJob<Context>,
	/** Lost: its end was not reported in time. */
	result: AckResult,
	outcome: AttemptOutcome,
): void {
	if (!WORKER_CHANNELS.jobEnded.hasSubscribers) return;
	WORKER_CHANNELS.jobEnded.publish({
		queue: place.queue,
		id: formatJobId({ ...place, ...job }),
		outcome: result === "lost" ? "lost" : nameOf(outcome, job),
		waitMs: waitedMs + Math.max(0, (startedAt ?? claimedAt) - claimedAt),
		runMs: startedAt === null ? null : monotonicMs() - startedAt,
		error: outcome.kind === "lost" ? null : (outcome.error ?? null),
	});
}
