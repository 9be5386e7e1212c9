/**
 * Gathers items and sends them together: those of one turn of the event loop,
 * and those that come while as many batches are on their way as may be. An item
 * that comes alone waits for nothing else.
 */
export class Batcher<T> {
	readonly #maxRunning: number;
	readonly #gathersTurn: boolean;
	readonly #countOf: (waiting: readonly T[]) => number;
	readonly #send: (batch: readonly T[]) => Promise<void>;
	#waiting: T[] = [];
	#running = 0;
	#isStarting = false;
	#idle: PromiseWithResolvers<void> | null = null;

	constructor(options: {
		/** Never rejects. */
		readonly send: (batch: readonly T[]) => Promise<void>;
		/** How many of the waiting items, of which there are some, go into the next batch: at least one. Absent: all. */
		readonly countOf?: (waiting: readonly T[]) => number;
		/** Batches that are on their way at a time. */
		readonly maxRunning?: number;
		/** Whether the first batch waits for the end of the turn. If not, it is sent at once, and only later items gather. */
		readonly gathersTurn?: boolean;
	}) {
		this.#send = options.send;
		this.#countOf = options.countOf ?? (({ length }) => length);
		this.#maxRunning = options.maxRunning ?? 1;
		this.#gathersTurn = options.gathersTurn ?? true;
	}

	/** Items that are not on their way yet. */
	get waiting(): number {
		return this.#waiting.length;
	}

	add(...items: readonly T[]): void {
		this.#waiting.push(...items);
		if (this.#isStarting || this.#running >= this.#maxRunning) return;
		if (!this.#gathersTurn) {
			this.#start();
			return;
		}
		this.#isStarting = true;
		setImmediate(() => {
			this.#isStarting = false;
			this.#start();
		});
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

	#start(): void {
		while (this.#running < this.#maxRunning && this.#waiting.length > 0) {
			this.#running++;
			const batch = this.#waiting.splice(0, this.#countOf(this.#waiting));
			void this.#send(batch).finally(() => {
				this.#running--;
				this.#start();
			});
		}
		if (this.#waiting.length + this.#running > 0) return;
		this.#idle?.resolve();
		this.#idle = null;
	}
}
