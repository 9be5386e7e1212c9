import { lastOf } from "../../storage/order.ts";
import type {
	OutboxPosition,
	PendingEntry,
	StoredEntry,
} from "../../storage/rows.ts";
import type { StorageMap } from "../../storage/storage.ts";
import { isUnreadable } from "./decodeEntry.ts";
import { deliverEntries } from "./deliver.ts";
import type { DeliveryPass } from "./diagnostics.ts";
import type { OutboxEntry } from "./entry.ts";
import { createGuardedWriter } from "./guardedWriter.ts";
import { HostBreakers, unreachedHost } from "./hostBreakers.ts";
import type { Writer } from "./writer.ts";

/** Entries of an outbox that are delivered together. */
export const PAGE = 500;
/** Failures in a row after which single deliveries stop: the cause is not one entry. */
const MAX_SINGLE_FAILURES = 3;

/** An entry that could not be delivered. */
export interface Undelivered {
	readonly entry: PendingEntry;
	readonly error: unknown;
	/** What is left of it, where some part was delivered. */
	readonly reduced: OutboxEntry | undefined;
}

/**
 * Deliver all entries of all outboxes, or those that `isWanted`, also those that
 * are not due or that a process has taken: delivering twice is harmless. What
 * cannot be delivered stays, and is counted.
 */
export async function deliverPending(
	writer: Writer,
	olderThanMs: number,
	{
		isWanted = () => true,
		onUndelivered,
		breakers = new HostBreakers(),
	}: {
		readonly isWanted?: (entry: PendingEntry) => boolean;
		readonly onUndelivered?: (undelivered: Undelivered) => void;
		readonly breakers?: HostBreakers;
	} = {},
): Promise<DeliveryPass> {
	const { storage } = writer.store;
	const guarded = createGuardedWriter(writer, breakers);
	let pass: DeliveryPass = NOTHING_DELIVERED;
	let after: readonly OutboxPosition[] = [];
	do {
		const page = await storage.pendingEntries({
			olderThanMs,
			includeDelayed: true,
			limit: PAGE,
			after,
			// Other outboxes than those of the last page have nothing left.
			continues: after.length > 0,
		});
		const entries = page.filter(isWanted);
		const undelivered = await deliverPage(guarded, entries);
		pass = addPass(pass, entries, undelivered);
		for (const one of undelivered) onUndelivered?.(one);
		after = nextPositions(storage.map, page);
	} while (after.length > 0);
	return pass;
}

/** Where each outbox continues after a page; those that this page exhausted are left out. */
function nextPositions(
	map: Pick<StorageMap, "hostOf">,
	page: readonly PendingEntry[],
): readonly OutboxPosition[] {
	const hostOf = ({ shard }: OutboxPosition) => map.hostOf(shard);
	const last = [...lastOf(page, hostOf)];
	return last.flatMap(([host, position]) =>
		page.filter((entry) => hostOf(entry) === host).length < PAGE
			? []
			: [position],
	);
}

/** Deliver entries together, then by themselves those that may have failed because of another one. */
export async function deliverPage(
	writer: Writer,
	entries: readonly PendingEntry[],
): Promise<readonly Undelivered[]> {
	if (entries.length === 0) return [];
	const undelivered: Undelivered[] = [];
	const { failures, reduced } = await deliverEntries(writer, entries);
	const failed = (row: StoredEntry, error: unknown, left = reduced.get(row)) =>
		undelivered.push({ entry: row as PendingEntry, error, reduced: left });
	let failedInARow = 0;
	for (const [row, error] of failures) {
		const isOwn =
			entries.length === 1 ||
			isUnreadable(error) ||
			unreachedHost(error) !== null;
		if (isOwn || failedInARow >= MAX_SINGLE_FAILURES) {
			failed(row, error);
			continue;
		}
		const single = await deliverEntries(writer, [row]);
		if (single.failures.has(row)) {
			failed(row, single.failures.get(row), single.reduced.get(row));
			failedInARow++;
		} else failedInARow = 0;
	}
	return undelivered;
}

export const NOTHING_DELIVERED: DeliveryPass = {
	delivered: 0,
	undelivered: 0,
	unreadable: 0,
};

export function addPass(
	pass: DeliveryPass,
	entries: readonly PendingEntry[],
	undelivered: readonly Undelivered[],
): DeliveryPass {
	const error = undelivered.at(-1)?.error ?? pass.error;
	return {
		delivered: pass.delivered + entries.length - undelivered.length,
		undelivered: pass.undelivered + undelivered.length,
		unreadable:
			pass.unreadable +
			undelivered.filter(({ error }) => isUnreadable(error)).length,
		...(error !== undefined && { error }),
	};
}
