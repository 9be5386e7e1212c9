/** An entry of a `RecencyList`. Only the list writes these. */
export interface Listed<E> {
	older: E | null;
	newer: E | null;
}

/** Entries from the oldest to the newest: a linked list through the entries themselves, so that each operation takes constant time and no memory. */
export class RecencyList<E extends Listed<E>> {
	#newest: E | null = null;
	#oldest: E | null = null;

	get oldest(): E | null {
		return this.#oldest;
	}

	/** The entry must be in no list. */
	add(entry: E): void {
		entry.older = this.#newest;
		if (this.#newest === null) this.#oldest = entry;
		else this.#newest.newer = entry;
		this.#newest = entry;
	}

	/** The entry must be in this list. */
	remove(entry: E): void {
		const { older, newer } = entry;
		if (older === null) this.#oldest = newer;
		else older.newer = newer;
		if (newer === null) this.#newest = older;
		else newer.older = older;
		entry.older = null;
		entry.newer = null;
	}

	/** The entry must be in this list. */
	renew(entry: E): void {
		if (entry === this.#newest) return;
		this.remove(entry);
		this.add(entry);
	}

	clear(): void {
		this.#newest = null;
		this.#oldest = null;
	}
}
