import { channelOf } from "../diagnostics.ts";

export const WORKER_CHANNELS = {
	/** A start of a job ended. */
	jobEnded: channelOf<JobEnded>("corkboard.queue.end"),
	/** Claims ended unfinished. */
	jobsExpired: channelOf<JobsExpired>("corkboard.queue.expire"),
	/** A worker cannot do its work, or can again. */
	workerProblem: channelOf<WorkerProblem>("corkboard.queue.worker"),
};

interface JobEnded {
	readonly queue: string;
	/** As a job store and its operators name it. */
	readonly id: string;
	/**
	 * - `succeeded`
	 * - `retried`: failed, and there is another attempt.
	 * - `failed`: for good.
	 * - `later`: the handler asked for a later start.
	 * - `released`: given back, because the worker stops or was too busy to begin it.
	 * - `lost`: its claim had ended, or its end could not be reported in time; it runs again.
	 */
	readonly outcome: JobOutcome;
	/** From due to start. */
	readonly waitMs: number;
	/** Null if it was not started. */
	readonly runMs: number | null;
	/** The error of `retried` and `failed`. */
	readonly error: unknown;
}

export const JOB_OUTCOMES = [
	"succeeded",
	"retried",
	"failed",
	"later",
	"released",
	"lost",
] as const;

export type JobOutcome = (typeof JOB_OUTCOMES)[number];

interface JobsExpired {
	readonly queue: string;
	readonly shard: number;
	/** Jobs that are pending again. */
	readonly again: number;
	/** Jobs that had no attempt left. */
	readonly failed: number;
}

export interface WorkerProblem {
	/**
	 * - `shard`: it cannot be asked for jobs.
	 * - `renewals`: claims are not renewed.
	 */
	readonly kind: "shard" | "renewals";
	readonly shard: number | null;
	/** Null: it is over. */
	readonly error: unknown;
}
