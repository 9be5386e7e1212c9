import { CHANNELS, type DeliveryPass } from "../../diagnostics.ts";
import { RESERVED_LOOKUPS } from "../../model/reservedNames.ts";
import type { OutboxPosition, PendingEntry } from "../../storage/storage.ts";
import { errorCode, isInvalidation, retryDelayMs } from "./backoff.ts";
import { type DatabaseLease, tryDatabaseLease } from "./databaseLease.ts";
import { deliverEntries } from "./deliver.ts";
import { HostBreakers, HostSkipped, isUnreachable } from "./hostBreakers.ts";
import type { Writer } from "./writer.ts";

/** Entries of a shard that are delivered together. */
const PAGE = 200;
/** Between two delivery passes. Milliseconds. */
const INTERVAL_MS = 1_000;
/**
 * Entries younger than this are left to the write that committed them: delivering
 * beside it is harmless, but does everything twice. Milliseconds.
 */
const GRACE_MS = 3_000;
/**
 * The same for entries with reservations. Delivering beside a rename makes it
 * fail with UNAVAILABLE (./fence.ts), so slow ones get some time. Only courtesy:
 * no key is owned twice however short this is. Milliseconds.
 */
const RENAME_PATIENCE_MS = 5_000;
/** Of the processes of a fleet, one delivers for all. */
const LEASE = { name: RESERVED_LOOKUPS.lease, key: "outbox" } as const;
/** Failures in a row after which single deliveries stop: the cause is not one entry. */
const MAX_SINGLE_FAILURES = 3;

/** How old an entry has to be before it is delivered beside renames of other processes. Milliseconds. */
export function renamePatienceOf({ store }: Writer): number {
	return store.storage.hasSingleWriter ? 0 : RENAME_PATIENCE_MS;
}

/**
 * Deliver all entries of all shards, or those that `isWanted`, whether or not
 * their next attempt is due. What cannot be delivered stays, and is counted.
 */
export async function deliverPending(
	writer: Writer,
	olderThanMs: number,
	isWanted: (entry: PendingEntry) => boolean = () => true,
): Promise<DeliveryPass> {
	const query = { olderThanMs, includeDelayed: true };
	let pass: DeliveryPass = { delivered: 0, undelivered: 0 };
	const breakers = new HostBreakers();
	for await (const page of pagesOf(writer, query)) {
		const entries = page.filter(isWanted);
		const failures = await deliverPage(writer, entries, breakers);
		pass = added(pass, entries, failures);
	}
	return pass;
}

/** Delivers until disposed. Of the processes that share their shards, one at a time does. */
export class OutboxWorker implements AsyncDisposable {
	readonly #writer: Writer;
	readonly #breakers = new HostBreakers();
	/** Microseconds since 1970. */
	readonly #startedAt = Date.now() * 1_000;
	#timer: NodeJS.Timeout | undefined;
	#running: Promise<void> = Promise.resolve();
	#lease: DatabaseLease | null = null;
	#isFirstPass = true;
	#isStopped = false;

	/** The first pass begins at once, in the background. */
	constructor(writer: Writer) {
		this.#writer = writer;
		const next = () => {
			this.#running = this.#pass().then(() => {
				if (this.#isStopped) return;
				this.#timer = setTimeout(next, INTERVAL_MS).unref();
			});
		};
		this.#timer = setTimeout(next, 0).unref();
	}

	async #pass(): Promise<void> {
		if (!(await this.#isOurs())) return;
		let pass: DeliveryPass = { delivered: 0, undelivered: 0 };
		try {
			for await (const page of pagesOf(this.#writer, {
				olderThanMs: this.#isFirstPass ? 0 : GRACE_MS,
			})) {
				if (this.#isStopped) break;
				const entries = page.filter((entry) => this.#isDue(entry));
				const failures = await deliverPage(
					this.#writer,
					entries,
					this.#breakers,
				);
				pass = added(pass, entries, failures);
				await this.#recordFailures(failures);
			}
			this.#isFirstPass = false;
		} catch (error) {
			pass = { ...pass, error };
		}
		if (pass.delivered > 0 || pass.error !== undefined) {
			CHANNELS.deliveryPass.publish(pass);
		}
	}

	/** Whether no write is at work on the entry any more. */
	#isDue({ entry, writtenAt }: PendingEntry): boolean {
		const { hasSingleWriter } = this.#writer.store.storage;
		// The process that wrote it has ended: this one is the only writer, and started later.
		if (hasSingleWriter && writtenAt < this.#startedAt) return true;
		const graceMs =
			entry?.reservations === undefined ? GRACE_MS : RENAME_PATIENCE_MS;
		return writtenAt <= (Date.now() - graceMs) * 1_000;
	}

	async #recordFailures(
		failures: ReadonlyMap<PendingEntry, unknown>,
	): Promise<void> {
		if (failures.size === 0) return;
		const now = Date.now();
		await this.#writer.store.storage.recordFailedDeliveries(
			[...failures].map(([{ shard, local, attempts }, error]) => ({
				shard,
				local,
				nextAttemptAt: Math.round(
					(now + retryDelayMs(attempts, error)) * 1_000,
				),
				error: errorCode(error),
			})),
		);
	}

	async #isOurs(): Promise<boolean> {
		const { storage } = this.#writer.store;
		if (storage.hasSingleWriter) return true;
		try {
			if (await this.#lease?.isHeld()) return true;
			await this.#lease?.[Symbol.asyncDispose]();
			this.#lease = await tryDatabaseLease(storage, LEASE);
			return this.#lease !== null;
		} catch {
			// The lease's mod shard does not answer. Entries need not wait for it: delivering twice is harmless.
			this.#lease = null;
			return true;
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isStopped = true;
		clearTimeout(this.#timer);
		await this.#running;
		await this.#lease?.[Symbol.asyncDispose]();
	}
}

/** Pages of pending entries, each after the last: entries that stay undelivered do not come again. */
async function* pagesOf(
	{ store: { storage } }: Writer,
	query: { readonly olderThanMs: number; readonly includeDelayed?: boolean },
): AsyncGenerator<readonly PendingEntry[]> {
	const after = new Map<number, OutboxPosition>();
	let isLast = false;
	while (!isLast) {
		const page = await storage.pendingEntries({
			...query,
			limit: PAGE,
			after: [...after.values()],
			// Other shards than those of the last page have nothing left.
			...(after.size > 0 && { shards: [...after.keys()] }),
		});
		after.clear();
		for (const [shard, entries] of Map.groupBy(page, (entry) => entry.shard)) {
			if (entries.length < PAGE) continue;
			after.set(
				shard,
				entries.reduce((last, entry) =>
					entry.nextAttemptAt > last.nextAttemptAt ||
					(entry.nextAttemptAt === last.nextAttemptAt &&
						entry.local > last.local)
						? entry
						: last,
				),
			);
		}
		isLast = after.size === 0;
		if (page.length > 0) yield page;
	}
}

/** Deliver entries together, then by themselves those that may have failed because of another one. */
async function deliverPage(
	writer: Writer,
	entries: readonly PendingEntry[],
	breakers: HostBreakers,
): Promise<ReadonlyMap<PendingEntry, unknown>> {
	const remaining = new Map<PendingEntry, unknown>();
	if (entries.length === 0) return remaining;
	const { failures } = await deliverEntries(writer, entries, breakers);
	let failedInARow = 0;
	for (const [row, error] of failures) {
		const entry = row as PendingEntry;
		const isAlone = entries.length === 1;
		const isOfHost = isUnreachable(error) || error instanceof HostSkipped;
		const isHopeless =
			isInvalidation(error) && failedInARow >= MAX_SINGLE_FAILURES;
		if (isAlone || isOfHost || isHopeless) {
			remaining.set(entry, error);
			continue;
		}
		const single = await deliverEntries(writer, [entry], breakers);
		if (single.failures.has(entry)) {
			remaining.set(entry, single.failures.get(entry));
			failedInARow++;
		} else failedInARow = 0;
	}
	return remaining;
}

function added(
	pass: DeliveryPass,
	entries: readonly PendingEntry[],
	failures: ReadonlyMap<PendingEntry, unknown>,
): DeliveryPass {
	const error = [...failures.values()].at(-1) ?? pass.error;
	return {
		delivered: pass.delivered + entries.length - failures.size,
		undelivered: pass.undelivered + failures.size,
		...(error !== undefined && { error }),
	};
}
