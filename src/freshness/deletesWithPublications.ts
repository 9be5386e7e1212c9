import type { SharedCache } from "../cache/sharedCache.ts";
import type { SharedCaches } from "./sharedCaches.ts";

export interface DeletedAndPublished {
	readonly isDeleted: boolean;
	readonly isPublished: boolean;
}

interface Together {
	readonly heads: Set<string>;
	readonly published: Set<string>;
	readonly done: Promise<DeletedAndPublished>;
}

/**
 * Deletes of heads, each with its publication right behind it on one connection, so
 * a write waits once for both. Redis executes the commands of a connection in their
 * order: a process that receives the keys finds no head that was there before. Those
 * of writes that come together are sent together.
 */
export class DeletesWithPublications {
	readonly #heads: SharedCache;
	#open: Together | null = null;

	constructor(heads: SharedCache) {
		this.#heads = heads;
	}

	/** Never rejects. What is not deleted was published all the same, and has to be published again, as not deleted. */
	add(
		heads: readonly string[],
		published: readonly string[],
		/** Sends before it returns. */
		publish: SharedCaches["publish"],
	): Promise<DeletedAndPublished> {
		this.#open ??= this.#begin(publish);
		for (const key of heads) this.#open.heads.add(key);
		for (const key of published) this.#open.published.add(key);
		return this.#open.done;
	}

	#begin(publish: SharedCaches["publish"]): Together {
		const heads = new Set<string>();
		const published = new Set<string>();
		const done = new Promise<DeletedAndPublished>((resolve) => {
			// When all that is to be done now is done, and before anything is received.
			process.nextTick(async () => {
				this.#open = null;
				// Nothing may come between the two, such as another connection.
				const deleting = this.#heads.delete([...heads]);
				const publishing = publish([...published]);
				resolve({
					isDeleted: await deleting,
					isPublished: await publishing,
				});
			});
		});
		return { heads, published, done };
	}
}
