/** What a job of the benchmark carries. */
export interface BenchJob {
	/** Its number: each is run once, or the benchmark says so. */
	readonly n: number;
	/** Fills the body to the size that is measured. */
	readonly pad: string;
	/** The handler keeps the event loop busy for so long. */
	readonly blockMs?: number;
}

/** What a process of the benchmark needs to reach a queue. */
export interface QueueTarget {
	/** The URL of the database. */
	readonly url: string;
	/** For hints; null: without. Only Corkboard uses it. */
	readonly redis: string | null;
	readonly queues: readonly string[];
	/** Whether claims and acks are batched, where that can be set. */
	readonly isBatched: boolean;
	/** Hours that finished jobs are kept; absent: as long as the system does. */
	readonly keepHours?: number;
}

export interface EnqueueOptions {
	readonly delayMs?: number;
	/** 1 is first, 2 is usual. */
	readonly priority?: 1 | 2;
}

export interface Producer extends AsyncDisposable {
	/** Resolves when all of them are acknowledged. Many are stored as the system stores many. */
	enqueue(
		queue: string,
		jobs: readonly BenchJob[],
		options?: EnqueueOptions,
	): Promise<void>;
}

export type Handler = (job: BenchJob) => void;

/** Bytes that a server has written to its logs so far. */
export interface LogBytes {
	/** By which it recovers: InnoDB's redo log, PostgreSQL's WAL, Redis's append-only file. */
	readonly log: number;
	/** MySQL's binary log, which PostgreSQL has in its WAL. */
	readonly binlog: number;
}

/** A queue that is measured: one module each, loaded by the processes that need it. */
export interface QueueSystem {
	/** Removes what an earlier measurement left, and creates the queues, empty. */
	prepare(target: QueueTarget): Promise<void>;
	openProducer(target: QueueTarget): Promise<Producer>;
	/** Runs jobs of all queues until it is disposed of, which waits until what has run is acknowledged. */
	startWorker(target: QueueTarget, run: Handler): Promise<AsyncDisposable>;
	logBytes(target: QueueTarget): Promise<LogBytes>;
	/** A transaction that sees the queue as it is now, as a backup's does, until it is disposed of. Systems in memory have none. */
	holdSnapshot?(target: QueueTarget): Promise<AsyncDisposable>;
	/** Gives back what it can of jobs that ended longer than `keepHours` ago. Only layouts on MySQL are asked. */
	expire?(target: QueueTarget): Promise<void>;
	/** Stores many jobs, numbered from `first`, the fastest way there is. */
	fill(
		target: QueueTarget,
		count: number,
		options: EnqueueOptions & { readonly first: number },
	): Promise<void>;
}
