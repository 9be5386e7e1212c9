/** A job that was claimed and has not begun. */
interface Buffered {
	/** In milliseconds of `monotonicMs`: not begun by then, it is given back rather than run late. */
	readonly startBy: number;
	/** 1 is first. */
	readonly priority: number;
}

/**
 * Claimed jobs that wait in this process until others end: so many that it always
 * runs as many as it may, also during the next claim, and so few that other workers
 * have something to do. The first priority goes first, then the first that came.
 */
export class JobBuffer<Job extends Buffered> {
	readonly #byPriority = new Map<number, Job[]>();
	#size = 0;

	get size(): number {
		return this.#size;
	}

	add(jobs: readonly Job[]): void {
		for (const job of jobs) {
			const waiting = this.#byPriority.get(job.priority);
			if (waiting === undefined) this.#byPriority.set(job.priority, [job]);
			else waiting.push(job);
		}
		this.#size += jobs.length;
	}

	take(): Job | undefined {
		let first: Job[] | undefined;
		let least = Number.POSITIVE_INFINITY;
		for (const [priority, waiting] of this.#byPriority) {
			if (waiting.length === 0 || priority >= least) continue;
			least = priority;
			first = waiting;
		}
		const job = first?.shift();
		if (job !== undefined) this.#size--;
		return job;
	}

	/** Removes those that should have begun by now, or all that the condition names. */
	remove(isRemoved: (job: Job) => boolean): readonly Job[] {
		const removed: Job[] = [];
		for (const [priority, waiting] of this.#byPriority) {
			const kept = waiting.filter((job) => {
				if (!isRemoved(job)) return true;
				removed.push(job);
				return false;
			});
			this.#byPriority.set(priority, kept);
		}
		this.#size -= removed.length;
		return removed;
	}
}
