import type { Announcement } from "../store.ts";

/** A node that ends with the session, and is made again in the next. */
export class NodeAnnouncement implements Announcement {
	readonly #put: (text: string, isNew: boolean) => Promise<void>;
	readonly #remove: () => Promise<void>;
	#text: string | null = null;
	#isThere = false;
	#running: Promise<void> = Promise.resolve();

	constructor(
		put: (text: string, isNew: boolean) => Promise<void>,
		remove: () => Promise<void>,
	) {
		this.#put = put;
		this.#remove = remove;
	}

	set(text: string): Promise<void> {
		this.#text = text;
		return this.#write();
	}

	/** On a new connection, whose session may be another one. */
	restore(): void {
		if (this.#text === null) return;
		this.#write().catch(() => {});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#text = null;
		await this.#running;
		await this.#remove();
	}

	#write(): Promise<void> {
		const text = this.#text ?? "";
		// The first is sent at once, before the reads that follow it.
		const write = async () => {
			await this.#put(text, !this.#isThere);
			this.#isThere = true;
		};
		const done = this.#isThere ? this.#running.then(write) : write();
		this.#running = done.catch(() => {});
		return done;
	}
}
