import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";

/**
 * A job that a write enqueues, as its outbox entry holds it. Its id, its shard of
 * the queue and its bucket are chosen before the transaction, so that one job is
 * enqueued, however often the entry is delivered and by however many processes
 * (docs/consistency.md "Jobs of a write").
 */
export interface EntryJob {
	readonly queue: string;
	readonly shard: number;
	/** A UUIDv7 as 32 lower case hexadecimal digits. */
	readonly local: string;
	/** The hour that the job is stored under. */
	readonly bucket: number;
	/** 1 is taken first. */
	readonly priority: 1 | 2 | 3;
	/** Microseconds since 1970. */
	readonly due: number;
	/** How often it may be started. */
	readonly allowed: number;
	/** Microseconds since 1970. */
	readonly createdAt: number;
	/** While a job with the same key is pending, this one is merged into it. */
	readonly key: string | null;
	/** JSON of at most MAX_ENTRY_BODY characters. */
	readonly body: string;
}

/** The outbox is no store: a job of a write names things, it does not carry them. */
const MAX_ENTRY_BODY = 4_096;

/** A job to enqueue with a write. */
export interface WantedJob {
	readonly queue: string;
	readonly body: string;
	/** Milliseconds since 1970; at once if absent. */
	readonly dueMs?: number;
	/** 2 if absent. */
	readonly priority?: 1 | 2 | 3;
	readonly allowed: number;
	readonly key?: string;
}

/**
 * Jobs that writes of requests enqueue because of what they change. Synchronous
 * and without side effects, for `decide`, which may be called again.
 */
export interface WriteEvents {
	/** Whether new objects of this type have any. */
	ofType(type: string): boolean;
	created(type: string, id: Id, data: JsonObject): readonly WantedJob[];
	/** Whether changes of the edges of this mapping have any. */
	ofMapping(mapping: string): boolean;
	/** Edges that were made present or removed, and were not before. */
	edgesChanged(
		mapping: string,
		from: Id,
		changes: readonly { readonly to: Id; readonly isPresent: boolean }[],
	): readonly WantedJob[];
}

/** The queue, as writes use it. */
export interface JobQueue {
	/**
	 * Chooses places and times for jobs of one write, before its transaction. The
	 * function that it resolves to is synchronous, for `decide`: each call makes
	 * new jobs. It resolves soon even if the queue's hosts do not answer; to
	 * null if no shard of the queue takes jobs: the write then leaves none, as
	 * without a queue.
	 */
	prepare(): Promise<((job: WantedJob) => EntryJob) | null>;
	/** Enqueues jobs; those that are there already are not enqueued again. `isRepeat`: somebody may have tried before. */
	enqueue(
		jobs: readonly EntryJob[],
		isRepeat: boolean,
	): Promise<readonly KeyResult<null>[]>;
	/** The host of a shard of the queue, as errors name it. */
	hostOf(shard: number): string | null;
}

/** For entries with jobs if the topology has no queues any more. */
export function noQueue(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"The entry holds jobs, but no queue is configured. Give the topology its queues again.",
		// Another process may have one: the entry is given back.
		{ details: { kind: "unsupported", host: "queue" } },
	);
}

/** Throws a TypeError for a body that does not belong into an outbox. */
export function checkEntryBody(body: string): string {
	if (body.length <= MAX_ENTRY_BODY) return body;
	throw new TypeError(
		`The body of a job of a write must have at most ${MAX_ENTRY_BODY} characters, got ${body.length}.`,
	);
}
