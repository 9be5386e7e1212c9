import { CHANNELS, type DeliveryPass } from "../../diagnostics.ts";
import { RESERVED_LOOKUPS } from "../../model/reservedNames.ts";
import type { OutboxRow } from "../../storage/storage.ts";
import type { Store } from "../store/store.ts";
import { type DatabaseLease, tryDatabaseLease } from "./databaseLease.ts";
import { deliverTogether } from "./delivery.ts";

/** How many outbox rows of a shard are paid together. */
const BATCH = 200;
/** Between sweeps. Milliseconds. */
const INTERVAL_MS = 1_000;
/** Writes pay their own debts, and a rename holds one open while it works: younger ones than this are theirs. Milliseconds. */
const GRACE_MS = 15_000;
/**
 * Paying beside a living write is harmless but for a rename, whose claim would
 * be released under its feet. Whatever else a write could not pay in its time
 * (commit.ts) is not left for longer: a cache that did not hear of a change, and
 * answers again, shows the old value until then. Milliseconds.
 */
const SHORT_GRACE_MS = 3_000;
/** What one process of a fleet does for all of them. */
const LEASE = { name: RESERVED_LOOKUPS.lease, key: "sweeper" } as const;

/** How young a debt may be that is left to the write that made it: none where no other process writes. Milliseconds. */
export function gracePeriodOf({ storage }: Store): number {
	return storage.hasSingleWriter ? 0 : GRACE_MS;
}

/**
 * Pay all that is owed on all shards, or all of it that is `wanted`, oldest
 * first. Goes on past what cannot be paid, and answers how much of it is left.
 */
export async function deliverPending(
	store: Store,
	graceMs: number,
	wanted: (debt: OutboxRow) => boolean = () => true,
): Promise<DeliveryPass> {
	let paid = 0;
	let left = 0;
	let error: unknown;
	for (;;) {
		const debts = (
			await store.storage.pendingEntries({ olderThanMs: graceMs, limit: BATCH })
		).filter(wanted);
		left = 0;
		for (const debt of (await deliverTogether(store, debts)).keys()) {
			// By itself, so that what can be paid is.
			for (const reason of (await deliverTogether(store, [debt])).values()) {
				error = reason;
				left++;
			}
		}
		paid += debts.length - left;
		if (left === debts.length) break;
	}
	return left > 0
		? { delivered: paid, undelivered: left, error }
		: { delivered: paid, undelivered: 0 };
}

/** Sweeps until disposed; of the processes that share their shards, one at a time does. */
export class OutboxWorker implements AsyncDisposable {
	readonly #store: Store;
	#timer: NodeJS.Timeout | undefined;
	#running: Promise<void> = Promise.resolve();
	#lease: DatabaseLease | null = null;
	#stopped = false;

	constructor(store: Store) {
		this.#store = store;
		const next = () => {
			this.#running = this.#sweep().then(() => {
				if (!this.#stopped) this.#timer = setTimeout(next, INTERVAL_MS).unref();
			});
		};
		this.#timer = setTimeout(next, INTERVAL_MS).unref();
	}

	async #sweep(): Promise<void> {
		if (!(await this.#isOurs())) return;
		for (const [graceMs, ofRenames] of [
			[SHORT_GRACE_MS, false],
			[GRACE_MS, true],
		] as const) {
			let swept: DeliveryPass;
			try {
				swept = await deliverPending(
					this.#store,
					graceMs,
					({ entry: debt }) => (debt.reservations !== undefined) === ofRenames,
				);
			} catch (error) {
				swept = { delivered: 0, undelivered: 0, error };
			}
			if (swept.delivered > 0 || swept.error !== undefined) {
				CHANNELS.deliveryPass.publish(swept);
			}
		}
	}

	async #isOurs(): Promise<boolean> {
		const { storage } = this.#store;
		if (storage.hasSingleWriter) return true;
		try {
			if (await this.#lease?.isHeld()) return true;
			await this.#lease?.[Symbol.asyncDispose]();
			this.#lease = await tryDatabaseLease(storage, LEASE);
			return this.#lease !== null;
		} catch {
			// Its mod shard does not answer. What others owe need not wait for that: to pay twice is harmless.
			this.#lease = null;
			return true;
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#stopped = true;
		clearTimeout(this.#timer);
		await this.#running;
		await this.#lease?.[Symbol.asyncDispose]();
	}
}
