import { CorkboardError } from "../errors.ts";
import {
	type Ack,
	type JobStore,
	MAX_JOBS,
	type ShardOfQueue,
} from "../queue/jobStore.ts";
import { monotonicMs } from "../util/monotonic.ts";

/** An ack waits so long for others, or for a claim of its place to ride on. Milliseconds. */
const GATHER_MS = 5;
/** So many do not wait. */
const MAX_GATHERED = 500;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;

/**
 * - `done`: the store has it.
 * - `lost`: the claim had ended before.
 */
export type AckResult = "done" | "lost";

interface PendingAck {
	readonly ack: Ack;
	/** Tried until then, in milliseconds of `monotonicMs`. */
	readonly until: () => number;
	resolve(result: AckResult): void;
}

/**
 * Reports to the store what became of jobs. Acks of a place gather for a few
 * milliseconds and share a transaction, which is that of the next claim there if
 * one comes. Each is repeated until its claim has ended: saying it again is
 * harmless.
 */
export class Acks {
	readonly #store: JobStore;
	readonly #places = new Map<string, PlaceAcks>();
	readonly #running = new Set<Promise<void>>();

	constructor(store: JobStore) {
		this.#store = store;
	}

	/** Never rejects. */
	send(place: ShardOfQueue, ack: Ack, until: () => number): Promise<AckResult> {
		const { promise, resolve } = Promise.withResolvers<AckResult>();
		const acks = this.#of(place);
		acks.waiting.push({ ack, until, resolve });
		if (acks.waiting.length >= MAX_GATHERED) this.#flush(acks);
		else acks.timer ??= setTimeout(this.#flush.bind(this), GATHER_MS, acks);
		return promise;
	}

	/** Takes what waits for this place, to send it with a claim. Call `settle` or `fail` with it afterwards. */
	take(place: ShardOfQueue): readonly PendingAck[] {
		const acks = this.#of(place);
		const taken = acks.waiting.splice(0, MAX_JOBS);
		if (acks.waiting.length === 0) {
			clearTimeout(acks.timer);
			acks.timer = undefined;
		}
		return taken;
	}

	settle(sent: readonly PendingAck[], results: readonly string[]): void {
		for (const [index, { resolve }] of sent.entries()) {
			resolve(results[index] === "done" ? "done" : "lost");
		}
	}

	/** They are sent again, but for those whose claim has ended. */
	fail(place: ShardOfQueue, sent: readonly PendingAck[], error: unknown): void {
		const now = monotonicMs();
		const isTemporary =
			error instanceof CorkboardError && error.code === "UNAVAILABLE";
		const again = sent.filter((pending) => {
			if (isTemporary && now < pending.until()) return true;
			pending.resolve("lost");
			return false;
		});
		if (again.length === 0) return;
		const acks = this.#of(place);
		acks.waiting.unshift(...again);
		acks.failures++;
		this.#flushIn(
			acks,
			Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (acks.failures - 1)),
		);
	}

	/** Sends everything now. Resolves when that was tried once. */
	async flush(): Promise<void> {
		for (const acks of this.#places.values()) this.#flush(acks);
		await Promise.all(this.#running);
	}

	#of(place: ShardOfQueue): PlaceAcks {
		const key = `${place.queue} ${place.shard}`;
		let acks = this.#places.get(key);
		if (acks === undefined) {
			const { queue, shard } = place;
			acks = { place: { queue, shard }, waiting: [], failures: 0 };
			this.#places.set(key, acks);
		}
		return acks;
	}

	#flushIn(acks: PlaceAcks, ms: number): void {
		acks.timer ??= setTimeout(() => this.#flush(acks), ms);
	}

	#flush(acks: PlaceAcks): void {
		clearTimeout(acks.timer);
		acks.timer = undefined;
		if (acks.waiting.length === 0) return;
		const sending = this.#send(acks).finally(() =>
			this.#running.delete(sending),
		);
		this.#running.add(sending);
	}

	async #send(acks: PlaceAcks): Promise<void> {
		const sent = acks.waiting.splice(0, MAX_JOBS);
		if (acks.waiting.length > 0) this.#flushIn(acks, 0);
		try {
			const { acked } = await this.#store.ackAndClaim(acks.place, {
				acks: sent.map(({ ack }) => ack),
			});
			acks.failures = 0;
			this.settle(sent, acked);
		} catch (error) {
			this.fail(acks.place, sent, error);
		}
	}
}

interface PlaceAcks {
	readonly place: ShardOfQueue;
	waiting: PendingAck[];
	/** In a row. */
	failures: number;
	timer?: NodeJS.Timeout | undefined;
}
