import { CorkboardError } from "../errors.ts";
import { deliverPending } from "../graph/outbox/deliverPending.ts";
import { valuesOrThrow } from "../graph/store/readUncached.ts";
import type { Store } from "../graph/store/store.ts";
import { WritePipeline } from "../graph/write/pipeline.ts";
import type { StoredTypes } from "../model/storedTypes.ts";
import { readState } from "../ops/lookups.ts";
import { type VerifyReport, verify } from "../ops/verify/verify.ts";
import { print, RESTORE_RECORD, type RestoreRecord } from "./restoreRecord.ts";

export interface Settled {
	/** Outbox entries. */
	readonly delivered: number;
	readonly verified: VerifyReport;
}

/**
 * Delivers what is in the outboxes, and repairs what differs between shards that were
 * dumped one after another. The restore is done then, and its record goes. Throws
 * CONFLICT if another run has taken the restore over.
 */
export async function settleRestore(
	store: Store,
	types: StoredTypes,
	record: RestoreRecord,
	signal: AbortSignal,
): Promise<Settled> {
	const pass = await deliverPending(new WritePipeline(store), 0);
	const verified = await verify(store, { repair: true, types, signal });
	await end(store, record);
	return { delivered: pass.delivered, verified };
}

async function end({ storage }: Store, record: RestoreRecord): Promise<void> {
	const row = await readState(storage, RESTORE_RECORD);
	if (row?.token !== print(record)) {
		throw new CorkboardError(
			"CONFLICT",
			"Another run has resumed this restore, so that run ends it.",
		);
	}
	const { id, token } = row;
	valuesOrThrow(
		await storage.compareAndSetLookups([
			{ ...RESTORE_RECORD, expect: { id, token }, next: null },
		]),
	);
}
