/** A job that was claimed and has not begun. */
export interface Buffered {
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
export class JobBuffer<Entry extends Buffered> {
	readonly #byPriority = new Map<number, Entry[]>();
	#size = 0;

	get size(): number {
		return this.#size;
	}

	add(entries: readonly Entry[]): void {
		for (const entry of entries) {
			const waiting = this.#byPriority.get(entry.priority);
			if (waiting === undefined) this.#byPriority.set(entry.priority, [entry]);
			else waiting.push(entry);
		}
		this.#size += entries.length;
	}

	take(): Entry | undefined {
		let first: Entry[] | undefined;
		let least = Number.POSITIVE_INFINITY;
		for (const [priority, waiting] of this.#byPriority) {
			if (waiting.length === 0 || priority >= least) continue;
			least = priority;
			first = waiting;
		}
		const entry = first?.shift();
		if (entry !== undefined) this.#size--;
		return entry;
	}

	/** Removes those that should have begun by now, or all that the condition names. */
	remove(isRemoved: (entry: Entry) => boolean): readonly Entry[] {
		const removed: Entry[] = [];
		for (const [priority, waiting] of this.#byPriority) {
			const kept = waiting.filter((entry) => {
				if (!isRemoved(entry)) return true;
				removed.push(entry);
				return false;
			});
			this.#byPriority.set(priority, kept);
		}
		this.#size -= removed.length;
		return removed;
	}
}
