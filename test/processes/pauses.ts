/** A step of a process, held by a test until the test releases it. */
export interface Held {
	/** Resolves when the process reaches the step. */
	readonly reached: Promise<void>;
	release(): void;
}

/** How long a step may be awaited, or held (ms), before the test fails. */
const LIMIT_MS = 60_000;

/**
 * Named steps at which a process can be held, so that a test produces a rare
 * interleaving every time.
 *
 * - `objects read`, `heads read`: the database has answered; no cache is filled yet.
 * - `filling …`, `filled …`, `deleting …`, each with the layer's name: before or
 *   after the command to it.
 * - `transacting`: nothing is locked or read yet.
 * - `decided`: rows are locked, COMMIT is not sent. Nothing waits there: see `stopAt`.
 * - `committed`: COMMIT was acknowledged; no key is deleted, no entry delivered.
 * - `enqueuing jobs`, `enqueued jobs`: before and after jobs of writes are enqueued; their outbox entries are not deleted yet.
 * - `changing lookups`, `changed lookups`: before and after lookup rows are changed.
 */
export class Pauses {
	readonly #held = new Map<
		string,
		{ reach(): void; released: Promise<void> }
	>();

	readonly #stops = new Map<string, () => void>();

	/** Holds every arrival at the step until it is released. */
	hold(step: string): Held {
		const reached = Promise.withResolvers<void>();
		const released = Promise.withResolvers<void>();
		const timer = setTimeout(() => {
			reached.reject(
				new Error(`expected ${step} to be reached but got: nothing`),
			);
			released.resolve();
		}, LIMIT_MS);
		reached.promise.catch(() => {});
		this.#held.set(step, {
			reach: () => reached.resolve(),
			released: released.promise,
		});
		return {
			reached: reached.promise,
			release: () => {
				clearTimeout(timer);
				this.#held.delete(step);
				released.resolve();
			},
		};
	}

	/** What happens at the next arrival at a step where nothing can wait. */
	stopAt(step: string, stop: () => void): void {
		this.#stops.set(step, stop);
	}

	pass(step: string): void {
		const stop = this.#stops.get(step);
		this.#stops.delete(step);
		stop?.();
	}

	holds(step: string): boolean {
		return this.#held.has(step);
	}

	async at(step: string): Promise<void> {
		const held = this.#held.get(step);
		held?.reach();
		await held?.released;
	}
}
