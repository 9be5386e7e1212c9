import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../errors.ts";
import { expiryOf, LEASE_MS, readLease, takeOver } from "../graph/lease.ts";
import type { Storage } from "../storage/port.ts";
import { IMPORT_STATE } from "./importKeys.ts";

const KEY = { name: IMPORT_STATE, key: "lease" } as const;
const POLL_MS = 200;

/** One import at a time. */
export interface ImportLease extends AsyncDisposable {
	/** Call it before each batch: throws when the lease is no longer ours. */
	check(): Promise<void>;
}

/** Waits for a lease that nobody renews any more; refuses as soon as somebody does. */
export async function takeLease(storage: Storage): Promise<ImportLease> {
	const first = await readLease(storage, KEY);
	let row = first;
	const until = Date.now() + 2 * LEASE_MS;
	while (row !== null && expiryOf(row) > Date.now()) {
		// Renewed by its holder; or by a clock so far ahead of ours that nothing can be told.
		if (row.nonce !== first?.nonce || Date.now() > until) throw inUse();
		await sleep(POLL_MS);
		row = await readLease(storage, KEY);
	}
	const lease = await takeOver(storage, KEY, row);
	if (lease === null) throw inUse();
	return {
		async check() {
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
