import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Storage } from "../../storage/storage.ts";
import { expiryOf, LEASE_MS, takeOverDatabaseLease } from "../databaseLease.ts";
import { IMPORT_STATE_LOOKUP, readState } from "../lookups.ts";

const KEY = { name: IMPORT_STATE_LOOKUP, key: "lease" } as const;
const POLL_MS = 200;
/** A longer wait is reported. */
const REPORT_AFTER_MS = 1_000;

/** Held by the one import that runs. */
export interface ImportLease extends AsyncDisposable {
	/** Call it before each batch. Throws IN_USE when the lease is lost. */
	assertHeld(): Promise<void>;
	/** Call it under the locks of each transaction. Throws UNAVAILABLE when the lease may have expired. */
	assertNotExpired(): void;
}

/** Waits for a lease that is not renewed any more to expire. Throws IN_USE as soon as another import renews it. */
export async function acquireImportLease(
	storage: Storage,
	onWaiting: (what: string) => void = () => {},
): Promise<ImportLease> {
	const first = await readState(storage, KEY);
	let row = first;
	const until = Date.now() + 2 * LEASE_MS;
	const began = performance.now();
	let isReported = false;
	while (row !== null && expiryOf(row) > Date.now()) {
		// Its holder renewed it, or the holder's clock is too far ahead to know.
		if (row.token !== first?.token || Date.now() > until) throw inUse();
		if (!isReported && performance.now() - began >= REPORT_AFTER_MS) {
			isReported = true;
			onWaiting(
				`the lease of an interrupted import, at most ${LEASE_MS / 1_000} seconds`,
			);
		}
		await sleep(POLL_MS);
		row = await readState(storage, KEY);
	}
	const lease = await takeOverDatabaseLease(storage, KEY, row);
	if (lease === null) throw inUse();
	return {
		async assertHeld() {
			if (!(await lease.isHeld())) throw inUse();
		},
		assertNotExpired() {
			// The lock of the folder keeps others out, and calls that block keep the timer from renewing.
			if (storage.map.hasSingleWriter || !lease.isExpired) return;
			throw new CorkboardError(
				"UNAVAILABLE",
				"The import was paused for longer than its lease lasts, so another one may have begun. Run it again to resume it.",
			);
		},
		[Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
	};
}

function inUse(): CorkboardError {
	return new CorkboardError(
		"IN_USE",
		"Another import is running on this graph. Run one at a time.",
	);
}
