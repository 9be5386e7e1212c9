import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";
import type {
	LookupKey,
	LookupRow,
	Transaction,
	TransactionResult,
} from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";
import { StorageAround } from "../storage/versions/storageAround.ts";
import type { WriteTrace } from "../trace.ts";

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
	return new MarkingStorage(storage);
}

/** Others look for changes that nobody published among the entries that nobody has taken, so taking and deleting them counts too. */
class MarkingStorage extends StorageAround {
	#markedAt = Number.NEGATIVE_INFINITY;
	#marking: Promise<void> | null = null;

	override async transact<T>(
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>> {
		await this.#untilMarked();
		return this.inner.transact(transaction, trace);
	}

	override async compareAndSetLookups(
		...call: Parameters<Storage["compareAndSetLookups"]>
	): ReturnType<Storage["compareAndSetLookups"]> {
		await this.#untilMarked();
		return this.inner.compareAndSetLookups(...call);
	}

	override async takeEntries(
		...call: Parameters<Storage["takeEntries"]>
	): ReturnType<Storage["takeEntries"]> {
		await this.#untilMarked();
		return this.inner.takeEntries(...call);
	}

	override async deleteOutboxEntries(
		...call: Parameters<Storage["deleteOutboxEntries"]>
	): ReturnType<Storage["deleteOutboxEntries"]> {
		await this.#untilMarked();
		return this.inner.deleteOutboxEntries(...call);
	}

	#untilMarked(): Promise<void> | null {
		if (performance.now() - this.#markedAt < RENEW_MS) return null;
		this.#marking ??= this.#mark().finally(() => {
			this.#marking = null;
		});
		return this.#marking;
	}

	async #mark(): Promise<void> {
		try {
			const before = await read(this.inner);
			await this.inner.compareAndSetLookups([
				{
					...KEY,
					expect: before && { id: before.id, token: before.token },
					next: { id: "0" as Id, token: `${Date.now() + MARK_MS}` },
				},
			]);
			this.#markedAt = performance.now();
		} catch {
			// A process that cannot read the row limits ages too. The next write tries again.
		}
	}
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
