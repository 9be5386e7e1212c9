import { CorkboardError } from "../../errors.ts";
import type { OutboxKey } from "../../storage/rows.ts";
import { Batcher } from "../../util/batcher.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import type { EntryJob, JobQueue } from "./jobQueue.ts";
import type { OutboxDeletions } from "./outboxDeletions.ts";

/** Entries that wait here at most; more are left to the outbox workers. */
const MAX_WAITING = 10_000;
/**
 * An entry that has waited for so long here may have been delivered by an outbox
 * worker, and its job may have moved to another bucket since, which one does two
 * minutes after its making at the earliest. Milliseconds.
 */
const REPEAT_MS = 60_000;
/** How long the end of the process waits for what is left. Milliseconds. */
const END_MS = 2_000;
/** Jobs of one call. */
const MAX_JOBS = 500;

/** An entry of which nothing is left but its jobs. */
export interface EntryOfJobs extends OutboxKey {
	readonly jobs: readonly EntryJob[];
}

interface WaitingEntry {
	readonly entry: EntryOfJobs;
	/** By `performance.now()`. */
	readonly since: number;
}

/**
 * Enqueues the jobs of the writes of this process, and then deletes their outbox
 * entries. No write waits for it: nothing that a response shows depends on a job.
 * While one call is under way, the jobs of later writes gather for the next. What
 * fails stays in the outbox, for the outbox workers.
 */
export class JobDeliveries implements AsyncDisposable {
	readonly #queue: JobQueue;
	readonly #deletions: OutboxDeletions;
	readonly #waiting = new Batcher<WaitingEntry>({
		send: (entries) => this.#enqueue(entries),
		countOf: countOfNext,
	});
	#isDisposed = false;

	constructor(queue: JobQueue, deletions: OutboxDeletions) {
		this.#queue = queue;
		this.#deletions = deletions;
	}

	/** After its end nothing is added: the entries stay. */
	add(entries: readonly EntryOfJobs[]): void {
		if (this.#isDisposed) return;
		if (this.#waiting.waiting + entries.length > MAX_WAITING) return;
		const since = performance.now();
		this.#waiting.add(...entries.map((entry) => ({ entry, since })));
	}

	/** Resolves when everything that was added is enqueued, or has failed to be. */
	flush(): Promise<void> {
		return this.#waiting.untilIdle();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isDisposed = true;
		await withDeadline(this.flush(), deadlineIn(END_MS)).catch(() => {});
		// A queue that does not answer. The entries are in the outbox.
		this.#waiting.clear();
	}

	async #enqueue(waiting: readonly WaitingEntry[]): Promise<void> {
		const entries = waiting.map(({ entry }) => entry);
		const jobs = entries.flatMap((entry) => entry.jobs);
		const longAgo = performance.now() - REPEAT_MS;
		const isRepeat = waiting.some(({ since }) => since < longAgo);
		try {
			const results = await this.#queue.enqueue(jobs, isRepeat);
			let at = 0;
			const enqueued = entries.filter((entry) => {
				const own = results.slice(at, at + entry.jobs.length);
				at += entry.jobs.length;
				return !own.some((result) => result instanceof CorkboardError);
			});
			if (enqueued.length > 0) this.#deletions.add(enqueued);
		} catch {
			// The entries are in the outbox, whose workers report what fails.
		}
	}
}

/** How many of the entries go into a call: at least one. */
function countOfNext(waiting: readonly WaitingEntry[]): number {
	let jobs = 0;
	const end = waiting.findIndex(({ entry }) => {
		jobs += entry.jobs.length;
		return jobs > MAX_JOBS;
	});
	return end < 0 ? waiting.length : Math.max(1, end);
}
