import { randomBytes } from "node:crypto";
import type { LookupKey, LookupRow } from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";
import { changeState } from "./lookups.ts";

/** How long the lease of a killed process keeps the next one waiting. */
export const LEASE_MS = 5_000;
const RENEW_MS = 1_000;

/**
 * A lease for work that one process of a fleet does at a time: a lookup row with
 * an expiry, changed by compare-and-set only. The holder renews it while it
 * runs; some seconds after it was killed another process may take the lease
 * over. Expiry is compared with the clocks of several machines: if they
 * differ by seconds two processes may hold the lease at once, so the work has to
 * be harmless when it is done twice.
 */
class DatabaseLease implements AsyncDisposable {
	readonly #storage: Storage;
	readonly #owner: string;
	readonly #timer: NodeJS.Timeout;
	#row: LookupRow;
	#renewing: Promise<void> = Promise.resolve();
	#isLost = false;

	constructor(storage: Storage, row: LookupRow, owner: string) {
		this.#storage = storage;
		this.#row = row;
		this.#owner = owner;
		this.#timer = setInterval(() => this.#renewSoon(), RENEW_MS).unref();
	}

	/** Call before each piece of work. A busy process runs its timers late, so the lease may have to be renewed here. */
	async isHeld(): Promise<boolean> {
		await this.#renewing;
		if (expiryOf(this.#row) - Date.now() < LEASE_MS - 2 * RENEW_MS) {
			await this.#renewSoon();
		}
		return !this.isExpired;
	}

	/** Whether another process may hold it by now. Asked if nothing can be awaited. */
	get isExpired(): boolean {
		return this.#isLost || expiryOf(this.#row) < Date.now();
	}

	#renewSoon(): Promise<void> {
		this.#renewing = this.#renewing.then(() => this.#renew());
		return this.#renewing;
	}

	async #renew(): Promise<void> {
		if (this.#isLost) return;
		try {
			const row = await change(
				this.#storage,
				this.#row,
				this.#row,
				this.#owner,
			);
			if (row === null) this.#isLost = true;
			else this.#row = row;
		} catch {
			// The mod shard may answer again before the lease expires.
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		clearInterval(this.#timer);
		await this.#renewing;
		const { name, key, id, token } = this.#row;
		try {
			await this.#storage.compareAndSetLookups([
				{ name, key, expect: { id, token }, next: null },
			]);
		} catch {
			// The lease expires by itself. An error of its holder must not be hidden by this one.
		}
	}
}

/** Take a lease that nobody holds. `row` is what was read of it; null if another process was faster. */
export async function takeOverDatabaseLease(
	storage: Storage,
	key: LookupKey,
	row: LookupRow | null,
): Promise<DatabaseLease | null> {
	const owner = randomBytes(6).toString("base64url");
	const taken = await change(storage, key, row, owner);
	return taken && new DatabaseLease(storage, taken, owner);
}

/** When the lease expires, in milliseconds since 1970. */
export function expiryOf(row: LookupRow): number {
	return Number(row.token.split(" ")[0]);
}

function change(
	storage: Storage,
	key: LookupKey,
	row: LookupRow | null,
	owner: string,
): Promise<LookupRow | null> {
	return changeState(storage, key, row, `${Date.now() + LEASE_MS} ${owner}`);
}
