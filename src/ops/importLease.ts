import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { LookupRow, Storage } from "../storage/port.ts";
import { IMPORT_STATE } from "./importKeys.ts";

const KEY = "lease";
/** How long a holder that was killed keeps the next one waiting. */
const LEASE_MS = 5_000;
const RENEW_MS = 1_000;
const POLL_MS = 200;

/**
 * One import at a time: a lookup row, changed by compare-and-set only, that
 * says until when it holds. Its holder renews it as long as it lives; one that
 * was killed does not, and after a few seconds the next may take it over.
 */
export class Lease implements AsyncDisposable {
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

	/** Call it before each batch: throws when the lease is no longer ours. A process kept busy gets no timers, so it may have to be renewed here. */
	async check(): Promise<void> {
		await this.#renewing;
		if (expiryOf(this.#row) - Date.now() < LEASE_MS - 2 * RENEW_MS) {
			await this.#renewSoon();
		}
		if (this.#isLost || expiryOf(this.#row) < Date.now()) throw inUse();
	}

	#renewSoon(): Promise<void> {
		this.#renewing = this.#renewing.then(() => this.#renew());
		return this.#renewing;
	}

	async #renew(): Promise<void> {
		if (this.#isLost) return;
		try {
			const row = await change(this.#storage, this.#row, this.#owner);
			if (row === null) this.#isLost = true;
			else this.#row = row;
		} catch {
			// A mod shard that does not answer may do so before the lease expires.
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		clearInterval(this.#timer);
		await this.#renewing;
		const { name, key, id, nonce } = this.#row;
		try {
			await this.#storage.setLookups([
				{ name, key, expect: { id, nonce }, next: null },
			]);
		} catch {
			// It expires by itself; an error of the import's own must not be hidden by this one.
		}
	}
}

/** Waits for a lease that nobody renews any more; refuses as soon as somebody does. */
export async function takeLease(storage: Storage): Promise<Lease> {
	const owner = randomBytes(6).toString("base64url");
	const first = await readRow(storage);
	let row = first;
	const until = Date.now() + 2 * LEASE_MS;
	while (row !== null && expiryOf(row) > Date.now()) {
		// Renewed by its holder; or by a clock so far ahead of ours that nothing can be told.
		if (row.nonce !== first?.nonce || Date.now() > until) throw inUse();
		await sleep(POLL_MS);
		row = await readRow(storage);
	}
	const taken = await change(storage, row, owner);
	if (taken === null) throw inUse();
	return new Lease(storage, taken, owner);
}

/** The row as it is now, if it is ours. */
async function change(
	storage: Storage,
	row: LookupRow | null,
	owner: string,
): Promise<LookupRow | null> {
	const nonce = `${Date.now() + LEASE_MS} ${owner}`;
	const [answer] = await storage.setLookups([
		{
			name: IMPORT_STATE,
			key: KEY,
			expect: row === null ? null : { id: row.id, nonce: row.nonce },
			// It leads to no object.
			next: { id: "0" as Id, nonce },
		},
	]);
	if (answer instanceof CorkboardError) throw answer;
	return answer?.nonce === nonce ? answer : null;
}

function expiryOf(row: LookupRow): number {
	return Number(row.nonce.split(" ")[0]);
}

async function readRow(storage: Storage): Promise<LookupRow | null> {
	const [row] = await storage.lookups([{ name: IMPORT_STATE, key: KEY }]);
	if (row instanceof CorkboardError) throw row;
	return row ?? null;
}

function inUse(): CorkboardError {
	return new CorkboardError(
		"IN_USE",
		"Another import is at work on this graph; expected one at a time.",
	);
}
