import { setTimeout as sleep } from "node:timers/promises";
import type { Id } from "../../id/ids.ts";
import type { PulledProducer, PulledStore } from "../pools/pools.ts";

/** Between two reads of the list. Another process may push for so long after a change. Milliseconds. */
const REFRESH_MS = 60_000;
/** How long the items of a producer are still read at visits after they are pushed again: those made before are in no pool. */
const BOTH_MS = 14 * 86_400_000;

/** What becomes of the items of a producer with so many followers. */
export type Delivery = "push" | "pull";

/**
 * Producers with so many followers that their items are not pushed to each, but
 * read by those who look at their feeds. The list is in the pools, and each
 * process has it in memory. A producer is pushed again when it has lost half
 * of the followers that are the limit, so that none goes back and forth.
 */
export class PulledProducers implements Disposable {
	readonly #pools: PulledStore;
	readonly #pushLimit: number;
	readonly #now: () => number;
	readonly #stop = new AbortController();
	#producers: ReadonlyMap<Id, PulledProducer> = new Map();

	constructor(options: {
		readonly pools: PulledStore;
		/** Followers. */
		readonly pushLimit: number;
		/** Milliseconds since 1970. */
		readonly now: () => number;
	}) {
		this.#pools = options.pools;
		this.#pushLimit = options.pushLimit;
		this.#now = options.now;
	}

	/** Reads the list, and again each minute. Never rejects: what is known stays while the pools do not answer. */
	async follow(refreshMs: number = REFRESH_MS): Promise<void> {
		const { signal } = this.#stop;
		while (!signal.aborted) {
			await this.refresh().catch(() => {});
			await sleep(refreshMs, undefined, { signal, ref: false }).catch(() => {});
		}
	}

	/** Throws UNAVAILABLE. */
	async refresh(): Promise<void> {
		const rows = await this.#pools.pulled();
		this.#producers = new Map(rows.map((row) => [row.producer, row]));
	}

	get size(): number {
		return this.#producers.size;
	}

	/** Whether items of this producer have to be read at visits. */
	has(producer: Id): boolean {
		return this.#producers.has(producer);
	}

	/** Decides about the next item of a producer, and stores a change of the list. Throws UNAVAILABLE. */
	async deliveryTo(producer: Id, followers: number): Promise<Delivery> {
		const known = this.#producers.get(producer);
		const now = this.#now();
		if (known === undefined || known.pushedSince > 0) {
			if (followers > this.#pushLimit) {
				await this.#put(producer, {
					since: known?.since ?? now,
					pushedSince: 0,
				});
				return "pull";
			}
			if (known !== undefined && now - known.pushedSince > BOTH_MS) {
				await this.#put(producer, { since: null, pushedSince: 0 });
			}
			return "push";
		}
		if (followers > this.#pushLimit / 2) return "pull";
		await this.#put(producer, { since: known.since, pushedSince: now });
		return "push";
	}

	[Symbol.dispose](): void {
		this.#stop.abort();
	}

	async #put(
		producer: Id,
		times: Parameters<PulledStore["putPulled"]>[1],
	): Promise<void> {
		await this.#pools.putPulled(producer, times);
		const next = new Map(this.#producers);
		const { since, pushedSince } = times;
		if (since === null) next.delete(producer);
		else next.set(producer, { producer, since, pushedSince });
		this.#producers = next;
	}
}
