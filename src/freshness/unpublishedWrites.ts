import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";
import type { LookupKey, LookupRow } from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";
import { storageAround } from "../storage/versions/storageAround.ts";

/**
 * A process without Redis publishes nothing of what it writes. So it says in the
 * database, before its first write and again while it writes, that it does: a
 * lookup row with an expiry. As long as that row is fresh, the age of their
 * entries limits what the processes cache that have a Redis
 * (docs/consistency.md "Freshness by protocol").
 */
const KEY: LookupKey = {
	name: RESERVED_LOOKUPS.unpublishedWrites,
	key: "until",
};
/** Much longer than a transaction, and than clocks differ. Milliseconds. */
const MARK_MS = 60_000;
const RENEW_MS = 5_000;

/**
 * Storage of a process without Redis, beside which others may have one. Others
 * look for changes that nobody published among the entries that nobody has
 * taken, so taking and deleting them counts too.
 */
export function markingUnpublishedWrites(storage: Storage): Storage {
	let markedAt = Number.NEGATIVE_INFINITY;
	let marking: Promise<void> | null = null;

	async function mark(): Promise<void> {
		try {
			const before = await read(storage);
			await storage.compareAndSetLookups([
				{
					...KEY,
					expect: before && { id: before.id, token: before.token },
					next: { id: "0" as Id, token: `${Date.now() + MARK_MS}` },
				},
			]);
			markedAt = performance.now();
		} catch {
			// A process that cannot read the row limits ages too. The next write tries again.
		}
	}

	async function marked<T>(write: () => Promise<T>): Promise<T> {
		if (performance.now() - markedAt >= RENEW_MS) {
			marking ??= mark().finally(() => {
				marking = null;
			});
			await marking;
		}
		return write();
	}

	return storageAround(storage, {
		transact: (...call) => marked(() => storage.transact(...call)),
		compareAndSetLookups: (...call) =>
			marked(() => storage.compareAndSetLookups(...call)),
		takeEntries: (...call) => marked(() => storage.takeEntries(...call)),
		deleteOutboxEntries: (...call) =>
			marked(() => storage.deleteOutboxEntries(...call)),
	});
}

/** Whether a process writes, or wrote less than a minute ago, that publishes nothing. Rejects if that cannot be read. */
export async function areWritesUnpublished(storage: Storage): Promise<boolean> {
	const row = await read(storage);
	return row !== null && Number(row.token) > Date.now();
}

async function read(storage: Storage): Promise<LookupRow | null> {
	const [row = null] = await storage.read("lookups", [KEY]);
	if (row instanceof CorkboardError) throw row;
	return row;
}
