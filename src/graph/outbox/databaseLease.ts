import { randomBytes } from "node:crypto";
import type { Id } from "../../id/ids.ts";
import type { LookupKey, LookupRow, Storage } from "../../storage/storage.ts";
import { valuesOrThrow } from "../store/readUncached.ts";

/** How long a holder that was killed keeps the next one waiting. */
export const LEASE_MS = 5_000;
const RENEW_MS = 1_000;

/**
 * Work that one process of a fleet does at a time: a lookup row, changed by
 * compare-and-set only, that says until when it holds. Its holder renews it as
 * long as it lives; one that was killed does not, and after a few seconds the
 * next may take it over. It goes by the clocks of several machines: where they
 * differ by seconds two may hold it at once, so what is done under it has to be
 * harmless when it is done twice.
 */
export class DatabaseLease implements AsyncDisposable {
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

	/** Ask before each piece of work. A process kept busy gets no timers, so it may have to be renewed here. */
	async isHeld(): Promise<boolean> {
		await this.#renewing;
		if (expiryOf(this.#row) - Date.now() < LEASE_MS - 2 * RENEW_MS) {
			await this.#renewSoon();
		}
		return !this.#isLost && expiryOf(this.#row) >= Date.now();
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
			// A mod shard that does not answer may do so before the lease expires.
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		clearInterval(this.#timer);
		await this.#renewing;
		const { name, key, id, token } = this.#row;
		try {
			await this.#storage.compareAndSetLookups([
				{ name, key, expect: { id, token: token }, next: null },
			]);
		} catch {
			// It expires by itself; an error of the holder's own must not be hidden by this one.
		}
	}
}

/** Null while somebody else holds it. */
export async function tryDatabaseLease(
	storage: Storage,
	key: LookupKey,
): Promise<DatabaseLease | null> {
	const row = await readDatabaseLease(storage, key);
	if (row !== null && expiryOf(row) > Date.now()) return null;
	return takeOverDatabaseLease(storage, key, row);
}

/** Take a lease that nobody holds, its row being as it was read; null if somebody was faster. */
export async function takeOverDatabaseLease(
	storage: Storage,
	key: LookupKey,
	row: LookupRow | null,
): Promise<DatabaseLease | null> {
	const owner = randomBytes(6).toString("base64url");
	const taken = await change(storage, key, row, owner);
	return taken && new DatabaseLease(storage, taken, owner);
}

/** The row of whoever holds it, or held it last. */
export async function readDatabaseLease(
	storage: Storage,
	{ name, key }: LookupKey,
): Promise<LookupRow | null> {
	const [row = null] = valuesOrThrow(
		await storage.readLookups([{ name, key }]),
	);
	return row;
}

/** Until when it holds, in milliseconds since 1970. */
export function expiryOf(row: LookupRow): number {
	return Number(row.token.split(" ")[0]);
}

/** The row as it is now, if it is the owner's. */
async function change(
	storage: Storage,
	{ name, key }: LookupKey,
	row: LookupRow | null,
	owner: string,
): Promise<LookupRow | null> {
	const token = `${Date.now() + LEASE_MS} ${owner}`;
	const [answer] = valuesOrThrow(
		await storage.compareAndSetLookups([
			{
				name,
				key,
				expect: row === null ? null : { id: row.id, token: row.token },
				// It leads to no object.
				next: { id: "0" as Id, token: token },
			},
		]),
	);
	return answer?.token === token ? answer : null;
}
