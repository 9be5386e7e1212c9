import type { ShardOfQueue } from "./jobStore.ts";

/**
 * Gives back the disk of finished jobs: the part of the job store that rotation
 * uses. When to call what is decided above it (./rotation.ts). No call deletes a
 * job that is to be kept, whatever is enqueued, claimed or acknowledged meanwhile,
 * and any process may be killed between any two of its statements: what is
 * left over is found by `spans` and finished by `giveBack`.
 */
export interface RotationStore {
	/**
	 * Takes the next round of a queue for this process, unless another has taken
	 * it: rounds of one queue and shard are at least `everyMs` apart. Null if it is
	 * not due. What happens twice all the same is harmless.
	 */
	takeRound(at: ShardOfQueue, everyMs: number): Promise<Round | null>;

	/** Stores how a round ended, for the next one. */
	endRound(at: ShardOfQueue, round: Round): Promise<void>;

	/** The spans of the past, oldest first, and those that are swapped out. */
	spans(at: ShardOfQueue, keep: Keep): Promise<readonly Span[]>;

	/** Makes spans for so many hours from now where they are missing; returns how many it made. */
	ahead(at: ShardOfQueue, hours: number): Promise<Made>;

	/**
	 * Moves at most `limit` jobs that are to be kept, and are not running, out of a
	 * span: pending ones to the bucket of their time, finished ones to one that is
	 * given back when they need not be kept any more. Returns how many it moved.
	 */
	moveOn(
		at: ShardOfQueue,
		span: Span,
		keep: Keep,
		limit: number,
	): Promise<number>;

	/** Gives back the disk of a span. Jobs in it that are to be kept are stored again first. */
	giveBack(at: ShardOfQueue, span: Span, keep: Keep): Promise<GivenBack>;

	/** Removes some of the spans of the past that are empty; returns how many. Small each, they add up. */
	dropEmpty(at: ShardOfQueue): Promise<Made>;
}

/** Finished jobs are kept if they ended after these moments. Microseconds since 1970. */
export interface Keep {
	readonly succeededAfter: number;
	readonly failedAfter: number;
}

/** What is stored of the rounds of a queue on a shard. */
export interface Round {
	/** By the shard's clock, microseconds. */
	readonly now: number;
	/** How many rounds in a row the server refused to change the table, and since when; 0 and null if the last one did not. */
	readonly refusals: number;
	readonly refusedSince: number | null;
	/** Before, the table is not to be changed again; 0 if the last round was not refused. */
	readonly changesAt: number;
}

/** Jobs whose disk is given back together. */
export interface Span {
	/** The last hour since 1970 that belongs to it. */
	readonly bucket: number;
	/** Its jobs are in a table of their own, which nobody but rotation writes: the process that swapped it out was ended. */
	readonly isSwappedOut: boolean;
	/** The size of files. */
	readonly bytes: number;
	/** All of its jobs, by the server's own estimate. */
	readonly rows: number;
	/** Whether there is no job at all. */
	readonly isEmpty: boolean;
	/** Jobs to be kept, counted up to one more than `keptCap`. */
	readonly pending: number;
	readonly running: number;
	readonly succeeded: number;
	readonly failed: number;
}

/** More jobs to be kept in a span than this, and than MOVE_SHARE of its rows, are not moved. */
const MOVE_LIMIT = 10_000;
const MOVE_SHARE = 0.1;

/** A span with at most so many jobs that have to be kept is emptied by moving them. */
export function keptCap(rows: number): number {
	return Math.max(MOVE_LIMIT, Math.floor(rows * MOVE_SHARE));
}

/** The server did not change the table, because somebody else uses it, or another process rotates it. Nothing was done. */
export interface Refused {
	readonly refused: string;
	/** Another process rotates the queue: nobody keeps it from that. */
	readonly isUnderWay?: true;
}

/** How many spans were made or removed. */
export type Made = { readonly spans: number } | Refused;

export type GivenBack =
	| {
			/** The size of files that are gone. */
			readonly bytes: number;
			/** Jobs that had to be kept, and were stored again. */
			readonly rescued: number;
			/** Whether the span has more to give back: SQLite gives back in small steps. */
			readonly isDone: boolean;
	  }
	| Refused;

export function isRefused(outcome: object): outcome is Refused {
	return "refused" in outcome;
}

/** Between any two of these statements the process may end. */
export const ROTATION_STEPS = [
	"made spans ahead",
	"selected jobs to move",
	"stored moved jobs",
	"deleted moved jobs",
	"committed moved jobs",
	"created out table",
	"exchanged partition",
	"selected jobs to rescue",
	"stored rescued jobs",
	"deleted rescued jobs",
	"committed rescued jobs",
	"dropped out table",
	"locked table",
	"looked into empty partitions",
	"dropped empty partitions",
	"unlocked table",
	"deleted finished jobs",
	"gave back pages",
] as const;
export type RotationStep = (typeof ROTATION_STEPS)[number];
