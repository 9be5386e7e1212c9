/** Waiting jobs per job that runs at the same time. */
const BUFFER_FACTOR = 1.5;
/** Ended jobs that are not reported yet: beyond that none is claimed. */
const MAX_UNREPORTED = 1_000;

interface Counted {
	readonly size: number;
}

/**
 * How many jobs a worker has room for: those that run, those that wait here to
 * be run, and those that claims under way may bring. The worker starts jobs by
 * it, and the claim loop claims by it.
 */
export class Capacity {
	/** Jobs that run at the same time. */
	readonly running: number;
	/** Jobs that wait here. */
	readonly waiting: number;
	/** Jobs that claims under way may bring. */
	#reserved = 0;
	readonly #jobs: {
		readonly running: Counted;
		readonly waiting: Counted;
		readonly held: Counted;
	};

	constructor(
		concurrency: number,
		jobs: {
			readonly running: Counted;
			readonly waiting: Counted;
			/** Those that were claimed and are not reported. */
			readonly held: Counted;
		},
	) {
		this.running = concurrency;
		this.waiting = Math.ceil(concurrency * BUFFER_FACTOR);
		this.#jobs = jobs;
	}

	/** How many jobs there is room for while there are none. */
	get total(): number {
		return this.running + this.waiting;
	}

	/** How many more may be claimed. */
	get room(): number {
		const { running, waiting } = this.#jobs;
		const free = this.running - running.size;
		const freeWaiting = Math.max(0, this.waiting - waiting.size);
		return Math.max(0, freeWaiting + free - this.#reserved);
	}

	/** Whether a job may start. */
	get canStart(): boolean {
		return this.#jobs.running.size < this.running;
	}

	/** Whether so few jobs wait here that more are to be claimed, and not few at a time. */
	get wants(): boolean {
		const { running, waiting, held } = this.#jobs;
		return (
			waiting.size <= this.waiting / 2 &&
			this.room >= this.waiting / 2 &&
			held.size - running.size < MAX_UNREPORTED
		);
	}

	/** Reserves room for a claim that begins. The function returned ends that: call it before the jobs are counted otherwise. */
	reserve(jobs: number): () => void {
		this.#reserved += jobs;
		return () => {
			this.#reserved -= jobs;
		};
	}
}
