/**
 * Gathers items and sends them together: those of one turn of the event loop, or
 * of one step of it, and those that come while as many batches are on their way as may be. An item
 * that comes alone waits for nothing else.
 */
export class Batcher<T> {
	readonly #maxRunning: number;
	readonly #gathersTurn: boolean;
	readonly #apartMs: (() => number) | null;
	readonly #countOf: (waiting: readonly T[]) => number;
	readonly #send: (batch: readonly T[]) => Promise<void>;
	#waiting: T[] = [];
	#running = 0;
	#isStarting = false;
	/** When the latest batch began, until it has ended; null too where batches need not be apart. */
	#startedAt: number | null = null;
	#timer: NodeJS.Timeout | undefined;
	#idle: PromiseWithResolvers<void> | null = null;

	constructor(options: {
		/** Never rejects. */
		readonly send: (batch: readonly T[]) => Promise<void>;
		/** How many of the waiting items, of which there are some, go into the next batch: at least one. Absent: all. */
		readonly countOf?: (waiting: readonly T[]) => number;
		/** Batches that are on their way at a time. */
		readonly maxRunning?: number;
		/** The next begins when the one before has ended, or so long after its begin. Milliseconds. */
		readonly apartMs?: () => number;
		/** Whether the first batch waits for the end of the turn. If not, it is sent when all that is to be done now is done, and before anything is received. */
		readonly gathersTurn?: boolean;
	}) {
		this.#send = options.send;
		this.#countOf = options.countOf ?? (({ length }) => length);
		this.#maxRunning = options.maxRunning ?? 1;
		this.#gathersTurn = options.gathersTurn ?? true;
		this.#apartMs = options.apartMs ?? null;
	}

	/** Items that are not on their way yet. */
	get waiting(): number {
		return this.#waiting.length;
	}

	add(...items: readonly T[]): void {
		this.#waiting.push(...items);
		if (this.#isStarting || !this.#mayStart()) return;
		this.#isStarting = true;
		if (this.#gathersTurn) setImmediate(this.#start);
		else process.nextTick(this.#start);
	}

	/** Resolves when nothing is waiting or on its way. */
	async untilIdle(): Promise<void> {
		if (this.#waiting.length + this.#running === 0) return;
		this.#idle ??= Promise.withResolvers<void>();
		await this.#idle.promise;
	}

	/** Drops what is waiting. */
	clear(): void {
		this.#waiting = [];
	}

	/** If only time is missing, it starts then. */
	#mayStart(): boolean {
		if (this.#running >= this.#maxRunning) return false;
		if (this.#startedAt === null) return true;
		const left = this.#startedAt + (this.#apartMs?.() ?? 0) - performance.now();
		if (left <= 0) return true;
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			this.#start();
		}, left);
		return false;
	}

	readonly #start = (): void => {
		this.#isStarting = false;
		while (this.#waiting.length > 0 && this.#mayStart()) {
			this.#running++;
			const startedAt = this.#apartMs === null ? null : performance.now();
			this.#startedAt = startedAt;
			const batch = this.#waiting.splice(0, this.#countOf(this.#waiting));
			void this.#send(batch).finally(() => {
				this.#running--;
				if (this.#startedAt === startedAt) this.#startedAt = null;
				this.#start();
			});
		}
		if (this.#waiting.length > 0) return;
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#running > 0) return;
		this.#idle?.resolve();
		this.#idle = null;
	};
}
