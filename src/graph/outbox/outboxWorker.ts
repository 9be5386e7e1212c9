import {
	type OutboxQuestion,
	OutboxReader,
} from "../../freshness/outboxReader.ts";
import { publishedKeysOf } from "../../freshness/publishedKeys.ts";
import { entryName } from "../../storage/keys.ts";
import type {
	DueEntries,
	Outbox,
	OutboxPosition,
	PendingEntry,
} from "../../storage/rows.ts";
import { BoundedMap } from "../../util/boundedMap.ts";
import type { JsonObject } from "../../util/json.ts";
import { errorCode, retryDelayMs } from "./backoff.ts";
import {
	addPass,
	deliverPage,
	NOTHING_DELIVERED,
	PAGE,
	type Undelivered,
} from "./deliverPending.ts";
import {
	type DeliveryPass,
	OUTBOX_CHANNELS,
	reportDelivery,
} from "./diagnostics.ts";
import { createGuardedWriter } from "./guardedWriter.ts";
import { HostBreakers, unreachedHost } from "./hostBreakers.ts";
import { invalidationFailed, type Writer } from "./writer.ts";

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
/**
 * How long an entry that a process took is hidden from the others. If the
 * process ends or freezes, another one takes it then. Milliseconds.
 */
const TAKEN_MS = 4_500;
/** Added to it at random, so that no two processes take an entry until the same moment. Microseconds. */
const TAKEN_SPREAD = 1_000_000;
/** Entries that a pass may read and leave to other processes, because this one does not reach a host. The next pass continues behind them. */
const MAX_SKIPPED = 2_000;
/** Entries for which a process remembers the host that it did not reach. */
const MAX_BLOCKED = 50_000;

/** How old an entry has to be before it is delivered beside renames of other processes. Milliseconds. */
export function renamePatienceOf({ store }: Writer): number {
	return store.storage.map.hasSingleWriter ? 0 : RENAME_PATIENCE_MS;
}

/**
 * Delivers until disposed. Every process of a fleet runs one, and each takes
 * entries before it delivers them, so that the others do not do the same work.
 * That saves work and nothing else: an entry may be delivered twice, by
 * processes at once. What this process cannot deliver because it does not reach
 * a host it gives back at once, and leaves to others until it reaches the host
 * (docs/consistency.md "The outbox worker").
 */
export class OutboxWorker implements AsyncDisposable {
	readonly #writer: Writer;
	readonly #breakers = new HostBreakers();
	/** By entry, the host that was not reached. */
	readonly #blocked = new BoundedMap<string>({
		maxWeight: MAX_BLOCKED,
		weigh: () => 1,
	});
	/** Where the next pass of a host continues, if the last one skipped too many entries. */
	readonly #positions = new Map<string, OutboxPosition>();
	/** Microseconds since 1970. */
	readonly #startedAt = Date.now() * 1_000;
	/** By the host of the outboxes: one that does not answer delays no other. */
	readonly #passes = new Map<string, Promise<void>>();
	readonly #probes = new Set<Promise<void>>();
	readonly #reader: OutboxReader;
	readonly #use: Disposable;
	#isStopped = false;

	/** The first passes begin at once, in the background. */
	constructor(
		writer: Writer,
		/** Default: one of its own. */
		reader = new OutboxReader(writer.store.storage),
	) {
		this.#writer = writer;
		this.#reader = reader;
		this.#use = reader.add({ asks: (outbox) => this.#ask(outbox) });
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isStopped = true;
		this.#use[Symbol.dispose]();
		await Promise.all([...this.#passes.values(), ...this.#probes]);
	}

	/** The first page of a pass, unless one is running. The reader does not wait for the pass. */
	#ask(outbox: Outbox): OutboxQuestion | null {
		const { host } = outbox;
		if (this.#isStopped || this.#passes.has(host)) return null;
		const after = this.#positions.get(host);
		return {
			due: this.#dueAfter(after),
			use: ({ due }) => {
				this.#positions.delete(host);
				if (due.length === 0 || this.#isStopped || this.#passes.has(host))
					return;
				const pass = this.#pass(outbox, due)
					.then(publish)
					.finally(() => this.#passes.delete(host));
				this.#passes.set(host, pass);
			},
		};
	}

	#dueAfter(after: OutboxPosition | undefined): DueEntries {
		const { hasSingleWriter } = this.#writer.store.storage.map;
		return {
			olderThanMs: hasSingleWriter ? 0 : GRACE_MS,
			limit: PAGE,
			after,
		};
	}

	/** Never rejects. */
	async #pass(
		outbox: Outbox,
		first: readonly PendingEntry[],
	): Promise<DeliveryPass> {
		const { storage } = this.#writer.store;
		let pass = NOTHING_DELIVERED;
		let page = first;
		let skipped = 0;
		/** Entries that were given back since are left to the next pass. */
		const began = Date.now() * 1_000;
		const isBefore = ({ nextAttemptAt }: OutboxPosition) =>
			nextAttemptAt <= began;
		try {
			while (!this.#isStopped) {
				const due = page.filter(
					(entry) => isBefore(entry) && this.#isDue(entry),
				);
				const { entries, probes } = this.#choose(due);
				skipped += page.length - entries.length;
				for (const [host, entry] of probes) this.#probe(host, entry);
				pass = sum(pass, await this.#takeAndDeliver(entries));
				const after = page.length < PAGE ? undefined : page.at(-1);
				if (after === undefined || !isBefore(after)) break;
				if (skipped >= MAX_SKIPPED) {
					this.#positions.set(outbox.host, after);
					break;
				}
				const [seen] = await storage.read("outboxes", [
					{ outbox, untaken: null, due: this.#dueAfter(after) },
				]);
				if (seen === undefined || seen instanceof Error) break;
				page = seen.due;
			}
		} catch (error) {
			pass = { ...pass, error };
		}
		return pass;
	}

	/** Whether no write is at work on the entry any more. */
	#isDue({ entry, writtenAt }: PendingEntry): boolean {
		const { hasSingleWriter } = this.#writer.store.storage.map;
		// The process that wrote it has ended: this one is the only writer, and started later.
		if (hasSingleWriter && writtenAt < this.#startedAt) return true;
		const graceMs =
			entry?.reservations === undefined ? GRACE_MS : RENAME_PATIENCE_MS;
		return writtenAt <= (Date.now() - graceMs) * 1_000;
	}

	/** Those to deliver, without those that wait for a host that this process does not reach; one of these for each host to try again. */
	#choose(due: readonly PendingEntry[]): {
		readonly entries: readonly PendingEntry[];
		readonly probes: ReadonlyMap<string, PendingEntry>;
	} {
		const probes = new Map<string, PendingEntry>();
		const entries = due.filter((entry) => {
			const host = this.#blocked.get(entryName(entry));
			if (host === undefined || !this.#breakers.isOpen(host)) return true;
			if (this.#breakers.startProbe(host)) probes.set(host, entry);
			return false;
		});
		return { entries, probes };
	}

	/** Deliver one entry alone, in the background: it may wait for its host until a deadline. */
	#probe(host: string, entry: PendingEntry): void {
		const probe = this.#takeAndDeliver([entry], host)
			.then((pass) => {
				publish(pass);
				if (pass.delivered > 0) this.#breakers.succeeded(host);
				if (!this.#breakers.isOpen(host)) this.#reader.lookSoon();
			})
			.finally(() => {
				this.#breakers.endProbe(host);
				this.#probes.delete(probe);
			});
		this.#probes.add(probe);
	}

	/** Never rejects. */
	async #takeAndDeliver(
		entries: readonly PendingEntry[],
		probedHost: string | null = null,
	): Promise<DeliveryPass> {
		if (entries.length === 0) return NOTHING_DELIVERED;
		let pass = NOTHING_DELIVERED;
		try {
			const taken = await this.#take(await this.#announce(entries));
			const writer = createGuardedWriter(
				this.#writer,
				this.#breakers,
				(host) => host === probedHost,
			);
			const undelivered = await deliverPage(writer, taken);
			pass = addPass(pass, taken, undelivered);
			reportDelivery(
				"worker",
				taken.length,
				undelivered.map(({ error, entry: { writtenAt } }) => ({
					error,
					writtenAt,
				})),
			);
			for (const entry of taken) this.#blocked.delete(entryName(entry));
			for (const { entry, error } of undelivered) {
				const host = unreachedHost(error);
				if (host === null) continue;
				this.#blocked.set(entryName(entry), host);
				// An error that does not name its host opens no breaker by itself.
				if (!this.#breakers.isOpen(host)) this.#breakers.failed(host, error);
			}
			// The rest of a shard's entries and other shards do not depend on it: what is not recorded is tried again.
			await this.#recordFailures(undelivered);
		} catch (error) {
			pass = { ...pass, error };
		}
		return pass;
	}

	/**
	 * Publishes what the entries that nobody has taken name. Processes that look for
	 * what was committed and not published look at these entries alone
	 * (src/freshness/outboxWatch.ts). Returns those that may be taken.
	 */
	async #announce(
		entries: readonly PendingEntry[],
	): Promise<readonly PendingEntry[]> {
		const { store } = this.#writer;
		if (store.storage.map.hasSingleWriter || !store.sharesCaches)
			return entries;
		const isUntaken = (entry: PendingEntry) => entry.nextAttemptAt === 0;
		const untaken = entries.filter(isUntaken);
		if (untaken.length === 0) return entries;
		// Their writer may have died before it deleted them, and this process may die before it does.
		const undeleted = { objects: true, lists: true };
		const keys = new Set(
			untaken.flatMap(({ entry }) => publishedKeysOf(entry, undeleted)),
		);
		if (await store.invalidator.announce([...keys])) return entries;
		const error = invalidationFailed();
		const host = unreachedHost(error) as string;
		for (const entry of untaken) this.#blocked.set(entryName(entry), host);
		this.#breakers.failed(host, error);
		reportDelivery(
			"worker",
			untaken.length,
			untaken.map(({ writtenAt }) => ({ error, writtenAt })),
		);
		return entries.filter((entry) => !isUntaken(entry));
	}

	async #take(
		entries: readonly PendingEntry[],
	): Promise<readonly PendingEntry[]> {
		const { storage } = this.#writer.store;
		if (storage.map.hasSingleWriter || entries.length === 0) return entries;
		const until =
			(Date.now() + TAKEN_MS) * 1_000 +
			Math.floor(Math.random() * TAKEN_SPREAD);
		const keys = await storage.takeEntries(entries, until);
		const taken = new Set(keys.map(entryName));
		return entries
			.filter((entry) => taken.has(entryName(entry)))
			.map((entry) => ({ ...entry, nextAttemptAt: until }));
	}

	/** A failure that another process may not meet gives the entry back at once. */
	async #recordFailures(undelivered: readonly Undelivered[]): Promise<void> {
		if (undelivered.length === 0) return;
		const now = Date.now();
		await this.#writer.store.storage.recordFailedDeliveries(
			undelivered.map(({ entry, error, reduced }) => {
				const isGivenBack = unreachedHost(error) !== null;
				const delayMs = isGivenBack ? 0 : retryDelayMs(entry.attempts, error);
				return {
					isGivenBack,
					shard: entry.shard,
					local: entry.local,
					takenUntil: entry.nextAttemptAt,
					nextAttemptAt: Math.round((now + delayMs) * 1_000),
					error: errorCode(error),
					remaining: reduced as JsonObject | undefined,
				};
			}),
		);
	}
}

function publish(pass: DeliveryPass): void {
	if (pass.delivered > 0 || pass.error !== undefined) {
		OUTBOX_CHANNELS.deliveryPass.publish(pass);
	}
}

function sum(one: DeliveryPass, other: DeliveryPass): DeliveryPass {
	const error = other.error ?? one.error;
	return {
		delivered: one.delivered + other.delivered,
		undelivered: one.undelivered + other.undelivered,
		unreadable: one.unreadable + other.unreadable,
		...(error !== undefined && { error }),
	};
}
