import { CHANNELS } from "../cache/slotVersions.ts";
import { shardInIds } from "../storage/feedShards.ts";
import type { Outbox, OutboxKey, SeenEntries } from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";
import { channelOfShard } from "./channels.ts";
import { followOutbox, type OutboxProof } from "./outboxProof.ts";
import type { OutboxReader } from "./outboxReader.ts";
import type { ProcessCaches } from "./processCaches.ts";
import { publishedKeysOf } from "./publishedKeys.ts";
import { areWritesUnpublished } from "./unpublishedWrites.ts";

/** An entry that may be older than this is one whose writer did not publish it. Milliseconds. */
const PATIENCE_MS = 3_000;
/** A shard whose outbox was not read for so long is bypassed. Milliseconds. */
export const UNREAD_MS = 5_000;
/** A lost channel counts as unproven after so long. It takes two looks. Milliseconds. */
export const UNPROVEN_MS = 4_000;
/** What was checked so long ago is checked again before anything is used. Milliseconds. */
const CHECKED_MS = 1_000;
/** Entries that were found, and applied, so long ago are not looked at again: every transaction with a lower id has ended. Milliseconds. */
export const SETTLED_MS = 20_000;
/** Ids of entries in one statement. */
const PAGE = 1_000;

/**
 * Finds what was committed and not published, for the cache of this process
 * (docs/consistency.md "Freshness by protocol").
 *
 * An entry is published before a process takes or deletes it. So what other
 * processes committed and this one may not know of is in the entries that
 * nobody has taken. Every process that caches looks at them once a second,
 * and drops what those name that a living writer would have published by now,
 * also from the shared caches, which may have the old value still. A
 * shard whose outbox it could not read for five seconds it reads past its cache,
 * until it has looked at it again: what it kept is good then, because what it
 * did not receive is in the entries that it finds.
 *
 * A process without Redis publishes nothing: while one writes, and while it
 * cannot be read whether one does, the age of entries is limited instead.
 *
 * While invalidations are not received on a channel, it applies all that it
 * finds, at once, and drops what belongs to a host if it may have missed
 * something (outboxProof.ts).
 *
 * How long ago an entry was committed is known by this process's clock alone:
 * not before the last look that did not find it.
 *
 * Why nothing older than ten seconds is shown: let a change be committed at t
 * on shard s, and an entry of the cache be used at x. The newest proof of the
 * channel was asked for at h >= x - 1 s, and the last look at s that was
 * complete by then began at u >= h - 5 s. When that look read the outbox, the
 * entry of the change was
 * (a) not committed: t > u;
 * (b) there and untaken: it was applied if t <= u - 3 s;
 * (c) taken or deleted: Redis had accepted the publication before h, and this
 *     process received it before the PONG, or noticed the gap.
 * So unless the change was seen, t > u - 3 s >= x - 9 s.
 *
 * If the channel is lost, the last check before x was at c >= x - 1 s, and
 * found a proof from after c - 4 s: t > x - 5 s.
 */
export class OutboxWatch implements AsyncDisposable {
	readonly #store: WatchedStore;
	readonly #now: () => number;
	/** By shard. */
	readonly #looks = new Map<number, Look>();
	/** All was empty then. */
	readonly #openedAt: number;
	readonly #use: Disposable;
	readonly #reader: OutboxReader;
	/** Channels on which invalidations are not received. */
	#lost: ReadonlySet<number> = new Set();
	/**
	 * By host, the local id of the last entry up to which all are settled. While
	 * Redis is away nobody deletes entries, and who read them all again each time
	 * would read ever more. As long as that entry is there, so is this server: a
	 * new entry has a higher id.
	 */
	readonly #settled = new Map<string, number>();
	/** By host, since a channel was lost. */
	readonly #proofs = new Map<string, OutboxProof>();
	#checkedAt = Number.NEGATIVE_INFINITY;
	#readingUnpublished: Promise<void> | null = null;
	readonly #onBypass: (shards: readonly number[]) => void;
	#bypassed: ReadonlySet<number> | null = null;
	#unread: ReadonlySet<number> = new Set();
	/** When it was last read whether a process writes and publishes nothing. */
	#unpublishedReadAt: number;
	#isAgeLimited = false;

	/** Disposed of after the reader. */
	constructor(
		store: WatchedStore,
		reader: OutboxReader,
		options: {
			/** Milliseconds. */
			readonly now?: () => number;
			/** The shards that are bypassed have changed. */
			readonly onBypass?: (shards: readonly number[]) => void;
		} = {},
	) {
		this.#store = store;
		this.#now = options.now ?? (() => performance.now());
		this.#onBypass = options.onBypass ?? (() => {});
		this.#openedAt = this.#now();
		this.#unpublishedReadAt = this.#openedAt;
		this.#reader = reader;
		this.#use = reader.add({
			isHurried: () => this.#lost.size > 0,
			asks: (outbox) => {
				const at = this.#now();
				return {
					untaken: { after: this.#settledBefore(outbox.host), limit: PAGE },
					next: this.#lost.size > 0,
					use: (seen) => this.#look(outbox, at, seen),
				};
			},
			onLooks: () => {
				this.#readingUnpublished ??= this.#lookForUnpublishedWrites().finally(
					() => {
						this.#readingUnpublished = null;
					},
				);
			},
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#use[Symbol.dispose]();
		await this.#readingUnpublished;
	}

	/**
	 * From now on, or no longer, invalidations are not received on these channels.
	 * Nothing of their shards is used until the first look.
	 */
	lose(channels: ReadonlySet<number>, on: boolean): void {
		this.#lost = on
			? this.#lost.union(channels)
			: this.#lost.difference(channels);
		this.#proofs.clear();
		this.#store.caches.keepBriefly(channels, on);
		this.check();
		if (on) this.#reader.lookSoon();
	}

	/** Whether it has to check before anything cached is used: a process that was paused reads before its timers run. */
	get isOverdue(): boolean {
		return this.#lost.size > 0 && this.#now() - this.#checkedAt > CHECKED_MS;
	}

	/**
	 * Bypasses the shards that were not looked at for too long, and no others.
	 * Called before each question of the invalidation channel, so that a process
	 * that trusts its newest proof has done this less than a second before.
	 */
	check(): void {
		const now = this.#now();
		this.#checkedAt = now;
		if (this.#unpublishedReadAt < now - UNREAD_MS) this.#limitAge(true);
		const unread = new Set<number>();
		const bypassed = new Set<number>();
		for (const { host, shards } of this.#store.storage.map.outboxes) {
			const provenAt = this.#proofs.get(host)?.provenAt;
			const isProven = provenAt !== undefined && provenAt >= now - UNPROVEN_MS;
			for (const shard of shards) {
				if (this.#lookAt(shard).at < now - UNREAD_MS) unread.add(shard);
				else if (isProven || !this.#lost.has(channelOfShard(shard))) continue;
				bypassed.add(shard);
			}
		}
		if (!isSame(bypassed, this.#bypassed ?? new Set())) {
			this.#bypassed = bypassed.size === 0 ? null : bypassed;
			this.#store.caches.bypassShards(this.#bypassed);
		}
		if (isSame(unread, this.#unread)) return;
		this.#unread = unread;
		this.#onBypass([...unread]);
	}

	/**
	 * Looks begin anew if another primary has the shard, which may give a local
	 * id of the former one to another entry. What is cached is younger: a newer
	 * version of the topology empties the cache.
	 */
	#lookAt(shard: number): Look {
		const host = this.#hostOf(shard);
		const known = this.#looks.get(shard);
		if (known?.host === host) return known;
		const at = known === undefined ? this.#openedAt : this.#now();
		const look = { host, at, entries: new Map() };
		this.#looks.set(shard, look);
		return look;
	}

	#hostOf(shard: number): string {
		return this.#store.storage.map.hostOf(shard) ?? "";
	}

	/** Never rejects. */
	async #lookForUnpublishedWrites(): Promise<void> {
		const at = this.#now();
		try {
			const isLimited = await areWritesUnpublished(this.#store.storage);
			this.#unpublishedReadAt = at;
			this.#limitAge(isLimited);
		} catch {
			// Not read.
		}
	}

	#limitAge(on: boolean): void {
		if (on === this.#isAgeLimited) return;
		this.#isAgeLimited = on;
		this.#store.caches.limitAge(on);
	}

	/** Never rejects. */
	async #look(
		outbox: Outbox,
		at: number,
		{ untaken, next }: SeenEntries,
	): Promise<void> {
		try {
			const found = await this.#readUnsettled(outbox, untaken);
			await this.#apply(outbox, at, next, found);
			this.check();
		} catch {
			// As if the outbox had not been read.
		}
	}

	#settledBefore(host: string): number {
		return Math.max(0, (this.#settled.get(host) ?? 0) - 1);
	}

	async #readUnsettled(
		outbox: Outbox,
		first: readonly OutboxKey[],
	): Promise<readonly OutboxKey[]> {
		const settled = this.#settled.get(outbox.host);
		if (settled === undefined || first[0]?.local === settled) {
			return this.#readRest(outbox, first);
		}
		this.#settled.delete(outbox.host);
		return this.#readRest(outbox, await this.#readPage(outbox, 0));
	}

	/** The keys of all further entries that nobody has taken. */
	async #readRest(
		outbox: Outbox,
		first: readonly OutboxKey[],
	): Promise<readonly OutboxKey[]> {
		const found = [...first];
		let page = first;
		while (page.length === PAGE) {
			page = await this.#readPage(outbox, page.at(-1)?.local ?? 0);
			found.push(...page);
		}
		return found;
	}

	async #readPage(
		outbox: Outbox,
		after: number,
	): Promise<readonly OutboxKey[]> {
		const untaken = { after, limit: PAGE };
		const [seen] = await this.#store.storage.read("outboxes", [
			{ outbox, untaken, due: null },
		]);
		if (seen === undefined || seen instanceof Error) throw seen;
		return seen.untaken;
	}

	async #apply(
		{ host, shards }: Outbox,
		at: number,
		next: number | null,
		untaken: readonly OutboxKey[],
	): Promise<void> {
		const lost = this.#lost;
		const step =
			next === null || lost.size === 0
				? null
				: followOutbox(this.#proofs.get(host) ?? null, {
						askedAt: at,
						next,
						found: new Set(untaken.map(({ local }) => local)),
					});
		const news = step?.news ?? new Set<number>();
		const found = Map.groupBy(untaken, ({ shard }) => shard);
		const looks = new Map<number, Look>();
		const read: OutboxKey[] = [];
		for (const shard of shards) {
			const before = this.#lookAt(shard);
			const entries = new Map<number, Seen>();
			for (const { local } of found.get(shard) ?? []) {
				const seen = before.entries.get(local) ?? {
					committedAfter: before.at,
					foundAt: at,
					isApplied: false,
				};
				const isDue =
					(news !== "all" && news.has(local)) ||
					at - seen.committedAfter >= PATIENCE_MS;
				if (isDue && !seen.isApplied) read.push({ shard, local });
				entries.set(local, { ...seen, isApplied: seen.isApplied || isDue });
			}
			looks.set(shard, { host, at, entries });
		}
		let isMissed = news === "all";
		let isRead = true;
		if (read.length > 0) {
			const entries = await this.#store.storage.read("entries", read);
			const keys = new Set<string>();
			// Their writer may have died before it deleted them. Without any Redis no head is read there.
			const undeleted = { objects: true, lists: lost.size < CHANNELS };
			for (const [nth, entry] of entries.entries()) {
				if (entry instanceof Error) {
					looks.delete((read[nth] as OutboxKey).shard);
					isRead = false;
				} else if (entry !== null) {
					for (const key of publishedKeysOf(entry.entry, undeleted)) {
						keys.add(key);
					}
				}
				// One that is gone was published.
				else if (step !== null) isMissed = true;
			}
			this.#store.caches.applyInvalidations([...keys]);
		}
		if (isMissed) {
			const changed = new Set(shards.map(shardInIds));
			this.#store.caches.invalidateShards({
				shards: changed,
				modShards: new Set(),
			});
		}
		for (const [shard, look] of looks) {
			if (this.#hostOf(shard) === host) this.#looks.set(shard, look);
		}
		this.#settle(host, at, untaken);
		// Since then others may be lost.
		if (step !== null && isRead && lost === this.#lost) {
			this.#proofs.set(host, step.proof);
		}
	}

	#settle(host: string, at: number, found: readonly OutboxKey[]): void {
		for (const { shard, local } of found) {
			const seen = this.#looks.get(shard)?.entries.get(local);
			if (!seen?.isApplied || at - seen.foundAt < SETTLED_MS) return;
			this.#settled.set(host, local);
		}
	}
}

function isSame(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
	return one.size === other.size && one.isSubsetOf(other);
}

/** What it looks at, and what it invalidates. */
interface WatchedStore {
	readonly storage: Storage;
	readonly caches: Pick<
		ProcessCaches,
		| "applyInvalidations"
		| "bypassShards"
		| "invalidateShards"
		| "keepBriefly"
		| "limitAge"
	>;
}

/** The last look at a shard's outbox that found all that was there. */
interface Look {
	/** The shard's primary. */
	readonly host: string;
	/** When it began. */
	readonly at: number;
	/** What it found, by local id. */
	readonly entries: ReadonlyMap<number, Seen>;
}

interface Seen {
	/** When the last look began that did not find it. */
	readonly committedAfter: number;
	/** When the first look began that found it. */
	readonly foundAt: number;
	readonly isApplied: boolean;
}
