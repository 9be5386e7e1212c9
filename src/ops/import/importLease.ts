import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import {
	expiryOf,
	LEASE_MS,
	readDatabaseLease,
	takeOverDatabaseLease,
} from "../../graph/outbox/databaseLease.ts";
import type { Storage } from "../../storage/storage.ts";
import { IMPORT_STATE_LOOKUP } from "../lookups.ts";

const KEY = { name: IMPORT_STATE_LOOKUP, key: "lease" } as const;
const POLL_MS = 200;
/** A wait longer than this is told of. */
const SILENT_MS = 1_000;

/** One import at a time. */
export interface ImportLease extends AsyncDisposable {
	/** Call it before each batch: throws when the lease is no longer ours. */
	assertHeld(): Promise<void>;
}

/** Waits for a lease that nobody renews any more, and tells once for what; refuses as soon as somebody does. */
export async function acquireImportLease(
	storage: Storage,
	onWaiting: (what: string) => void = () => {},
): Promise<ImportLease> {
	const first = await readDatabaseLease(storage, KEY);
	let row = first;
	const until = Date.now() + 2 * LEASE_MS;
	const began = performance.now();
	let isTold = false;
	while (row !== null && expiryOf(row) > Date.now()) {
		// Renewed by its holder; or by a clock so far ahead of ours that nothing can be told.
		if (row.token !== first?.token || Date.now() > until) throw inUse();
		if (!isTold && performance.now() - began >= SILENT_MS) {
			isTold = true;
			onWaiting(
				`the lease of an import that was cut off, at most ${LEASE_MS / 1_000} seconds`,
			);
		}
		await sleep(POLL_MS);
		row = await readDatabaseLease(storage, KEY);
	}
	const lease = await takeOverDatabaseLease(storage, KEY, row);
	if (lease === null) throw inUse();
	return {
		async assertHeld() {
			if (!(await lease.isHeld())) throw inUse();
		},
		[Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
	};
}

function inUse(): CorkboardError {
	return new CorkboardError(
		"IN_USE",
		"Another import is at work on this graph; expected one at a time.",
	);
}
