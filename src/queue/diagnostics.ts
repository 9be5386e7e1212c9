import { channelOf, Levels } from "../diagnostics.ts";

export const QUEUE_CHANNELS = {
	/** Jobs were enqueued. */
	jobsEnqueued: channelOf<JobsEnqueued>("corkboard.queue.enqueue"),
	/** Jobs were not enqueued, because their queue was full. */
	jobsRefused: channelOf<JobsRefused>("corkboard.queue.refuse"),
	/** A worker claimed jobs, or found none. */
	jobsClaimed: channelOf<JobsClaimed>("corkboard.queue.claim"),
	/** Rotation of a queue did a statement, or ended a round. */
	queueRotation: channelOf<QueueRotation>("corkboard.queue.rotate"),
};

/** Processes that run jobs answer, soon and without an error. */
export const QUEUE_LEVELS = new Levels<Promise<readonly QueueLevel[]>>();

interface JobsEnqueued {
	readonly queue: string;
	readonly shard: number;
	readonly added: number;
	/** Into pending jobs with the same key. */
	readonly merged: number;
}

interface JobsRefused {
	readonly queue: string;
	readonly jobs: number;
}

interface JobsClaimed {
	readonly queue: string;
	readonly shard: number;
	/** 0: others had claimed them. */
	readonly jobs: number;
	readonly ms: number;
}

/** The jobs of one queue on all shards, each number up to a limit for each shard. */
export interface QueueLevel {
	readonly queue: string;
	readonly jobs: Readonly<
		Record<"ready" | "delayed" | "running" | "failed", number>
	>;
	/** How long the job that was due first has been due; 0 if none is. Milliseconds. */
	readonly oldestMs: number;
	readonly isPaused: boolean;
}

export type QueueRotation = QueueRotationStep | QueueRotationRound;

/** A statement of rotation. The process may end after any of them. */
interface QueueRotationStep {
	readonly kind: "step";
	readonly queue: string;
	readonly shard: number;
	readonly host: string;
	/** One of `ROTATION_STEPS`. */
	readonly step: string;
	/** False if the server refused it, because others kept using the table. */
	readonly isDone: boolean;
	/** How long statements on the queue's jobs may have waited for it; null for one that keeps none waiting. */
	readonly stallMs: number | null;
}

interface QueueRotationRound {
	readonly kind: "round";
	readonly queue: string;
	readonly shard: number;
	readonly host: string;
	readonly ms: number;
	/** The size of files that are gone. */
	readonly bytes: number;
	/** Jobs that were moved to a later span, or had to be taken out of one that was being given back. */
	readonly moved: number;
	/** The size of past spans that are kept because their jobs are too many to move. */
	readonly heldBytes: number;
	/** Why the table could not be changed; null if it was, or nothing was tried. */
	readonly refused: string | null;
	/** How long it has been refused; 0 if it is not. */
	readonly refusedForMs: number;
	readonly error?: unknown;
}
