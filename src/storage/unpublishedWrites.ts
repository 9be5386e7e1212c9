import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";
import type { LookupKey, LookupRow, Storage } from "./storage.ts";

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

/** Storage of a process without Redis, beside which others may have one. */
export function markingUnpublishedWrites(storage: Storage): Storage {
	let markedAt = Number.NEGATIVE_INFINITY;
	let marking: Promise<void> | null = null;
	const mark = async () => {
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
	};
	const untilMarked = () => {
		if (performance.now() - markedAt < RENEW_MS) return null;
		marking ??= mark().finally(() => {
			marking = null;
		});
		return marking;
	};
	/** Others look for changes that nobody published among the entries that nobody has taken, so taking and deleting them counts too. */
	const writes: Pick<
		Storage,
		"transact" | "compareAndSetLookups" | "takeEntries" | "deleteOutboxEntries"
	> = {
		async transact(transaction, trace) {
			await untilMarked();
			return storage.transact(transaction, trace);
		},
		async compareAndSetLookups(changes, trace) {
			await untilMarked();
			return storage.compareAndSetLookups(changes, trace);
		},
		async takeEntries(entries, until, trace) {
			await untilMarked();
			return storage.takeEntries(entries, until, trace);
		},
		async deleteOutboxEntries(keys, trace) {
			await untilMarked();
			return storage.deleteOutboxEntries(keys, trace);
		},
	};
	return new Proxy(storage, {
		get(target, name) {
			if (Object.hasOwn(writes, name)) {
				return writes[name as keyof typeof writes];
			}
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

/** Whether a process writes, or wrote less than a minute ago, that publishes nothing. Rejects if that cannot be read. */
export async function areWritesUnpublished(storage: Storage): Promise<boolean> {
	const row = await read(storage);
	return row !== null && Number(row.token) > Date.now();
}

async function read(storage: Storage): Promise<LookupRow | null> {
	const [row = null] = await storage.readLookups([KEY]);
	if (row instanceof CorkboardError) throw row;
	return row;
}
