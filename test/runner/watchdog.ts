/** Calls back once nothing has been reported for some time. Keeps no process running. */
export class Watchdog implements Disposable {
	readonly #ms: number;
	readonly #onStall: () => void;
	#timer: NodeJS.Timeout;

	constructor(ms: number, onStall: () => void) {
		this.#ms = ms;
		this.#onStall = onStall;
		this.#timer = this.#start();
	}

	/** Something happened: the time starts again. */
	progress(): void {
		clearTimeout(this.#timer);
		this.#timer = this.#start();
	}

	[Symbol.dispose](): void {
		clearTimeout(this.#timer);
	}

	#start(): NodeJS.Timeout {
		return setTimeout(this.#onStall, this.#ms).unref();
	}
}
