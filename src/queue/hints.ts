import type { Priority } from "./jobStore.ts";

/**
 * A job may be due on a shard of a queue. With a priority it was enqueued a
 * moment ago, to be claimed at once; without, it has to be looked for.
 */
type OnHint = (queue: string, shard: number, priority?: Priority) => void;

/**
 * Says where jobs may be due. A hint saves the time until the next probe, and
 * may be lost: nothing relies on it.
 */
export interface JobHints {
	readonly publish: OnHint;
	/** Calls back with each hint of this process, and with those of others for these queues, which some of those get who subscribe. The function returned ends that. */
	subscribe(onHint: OnHint, queues: readonly string[]): () => void;
	/**
	 * Whether hints of other processes arrive, so that idle processes need not
	 * probe each for itself.
	 */
	readonly isConnected: boolean;
	/**
	 * Whether this process has the lease of a task that one process does for all
	 * that serve the same queues. It takes the lease if nobody has it, and makes
	 * its own one longer.
	 */
	leads(queues: readonly string[], lease: Lease): Promise<boolean>;
}

interface Lease {
	/** The task. */
	readonly name: string;
	/** From the last time that it was asked for. */
	readonly ms: number;
}

/** Hints within one process, which owns all of its queues, or has no Redis. */
export class LocalHints implements JobHints {
	readonly isConnected: boolean = false;
	readonly #listeners = new Set<OnHint>();

	publish(queue: string, shard: number, priority?: Priority): void {
		for (const onHint of this.#listeners) onHint(queue, shard, priority);
	}

	subscribe(onHint: OnHint): () => void {
		this.#listeners.add(onHint);
		return () => void this.#listeners.delete(onHint);
	}

	async leads(): Promise<boolean> {
		return true;
	}
}
