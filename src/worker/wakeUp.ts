/** Lets one loop wait until something wakes it. A wake-up while it does not wait ends its next wait at once. */
export class WakeUp {
	#isDue = false;
	#resolve: (() => void) | undefined;

	wake(): void {
		this.#isDue = true;
		this.#resolve?.();
	}

	/** Resolves at a wake-up, or after so many milliseconds; with whether it was woken. */
	async wait(ms: number): Promise<boolean> {
		if (!this.#isDue) {
			let timer: NodeJS.Timeout | undefined;
			await new Promise<void>((resolve) => {
				this.#resolve = resolve;
				if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(resolve, ms);
			});
			clearTimeout(timer);
			this.#resolve = undefined;
		}
		const wasWoken = this.#isDue;
		this.#isDue = false;
		return wasWoken;
	}
}
