/** One step of a process, held by a test until it is released. */
export interface Held {
	/** Resolves when something has come as far as that step. */
	readonly reached: Promise<void>;
	release(): void;
}

/** How long a step may be awaited, or held (ms), before the test fails. */
const LIMIT_MS = 60_000;

/**
 * Named steps at which a process can be stopped, so that an interleaving that
 * takes luck in life happens in a test every time.
 *
 * - `objects read`, `heads read`: the database has answered; nothing is filled yet.
 * - `filling …`, `filled …`, `burying …`, `buried …`, `clearing …`, each with the
 *   layer's name: before or after what is sent to it.
 * - `committed`: COMMIT was acknowledged; nothing is cleared, nothing paid.
 */
export class Pauses {
	readonly #held = new Map<
		string,
		{ reach(): void; released: Promise<void> }
	>();

	/** The next time, and every time until it is released. */
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

	async at(step: string): Promise<void> {
		const held = this.#held.get(step);
		held?.reach();
		await held?.released;
	}
}
