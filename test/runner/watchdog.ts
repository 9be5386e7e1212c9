const STEPS = 20;

/**
 * Calls back once nothing has been reported for some time. The time is counted in
 * steps, so that a machine that was suspended counts as one. Keeps no process
 * running.
 */
export class Watchdog implements Disposable {
	readonly #timer: NodeJS.Timeout;
	#steps = 0;

	constructor(ms: number, onStall: () => void) {
		this.#timer = setInterval(() => {
			// The first step began before the time did.
			if (++this.#steps <= STEPS) return;
			clearInterval(this.#timer);
			onStall();
		}, ms / STEPS).unref();
	}

	/** Something happened: the time starts again. */
	progress(): void {
		this.#steps = 0;
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}
}
