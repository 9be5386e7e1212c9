import type { Outbox, OutboxKey } from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";
import type { Invalidator } from "./invalidator.ts";
import type { OutboxReader } from "./outboxReader.ts";
import { publishedKeysOf } from "./publishedKeys.ts";
import { areWritesUnpublished } from "./unpublishedWrites.ts";

/** An entry that may be older than this is one whose writer did not publish it. Milliseconds. */
const PATIENCE_MS = 3_000;
/** A shard whose outbox was not read for so long is bypassed. Milliseconds. */
export const UNREAD_MS = 5_000;
/** Ids of entries in one statement. */
const PAGE = 1_000;

/**
 * Finds what was committed and not published, for the cache of this process
 * (docs/consistency.md "Freshness by protocol").
 *
 * An entry is published before a process takes or deletes it. So what other
 * processes committed and this one may not know of is in the entries that
 * nobody has taken. Every process that caches looks at them once a second,
 * and drops what those name that a living writer would have published by now. A
 * shard whose outbox it could not read for five seconds it reads past its cache,
 * until it has looked at it again: what it kept is good then, because what it
 * did not receive is in the entries that it finds.
 *
 * A process without Redis publishes nothing: while one writes, and while it
 * cannot be read whether one does, the age of entries is limited instead.
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
 */
export class OutboxWatch implements AsyncDisposable {
	readonly #store: WatchedStore;
	readonly #now: () => number;
	/** By shard. */
	readonly #looks = new Map<number, Look>();
	/** All was empty then. */
	readonly #openedAt: number;
	readonly #use: Disposable;
	#readingUnpublished: Promise<void> | null = null;
	readonly #onBypass: (shards: readonly number[]) => void;
	#bypassed: ReadonlySet<number> | null = null;
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
		this.#use = reader.add({
			asks: (outbox) => {
				const at = this.#now();
				return {
					untaken: { after: 0, limit: PAGE },
					use: (seen) => this.#look(outbox, at, seen.untaken),
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
	 * Bypasses the shards that were not looked at for too long, and no others.
	 * Called before each question of the invalidation channel, so that a process
	 * that trusts its newest proof has done this less than a second before.
	 */
	check(): void {
		const oldest = this.#now() - UNREAD_MS;
		if (this.#unpublishedReadAt < oldest) this.#limitAge(true);
		const unread = this.#store.storage.map.outboxes.flatMap(({ shards }) =>
			shards.filter((shard) => this.#lookAt(shard).at < oldest),
		);
		const isSame =
			unread.length === (this.#bypassed?.size ?? 0) &&
			unread.every((shard) => this.#bypassed?.has(shard));
		if (isSame) return;
		this.#bypassed = unread.length === 0 ? null : new Set(unread);
		this.#store.bypassShards(this.#bypassed);
		this.#onBypass(unread);
	}

	/**
	 * Looks begin anew where another primary has the shard, which may give a local
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
		this.#store.limitAge(on);
	}

	/** Never rejects. */
	async #look(
		outbox: Outbox,
		at: number,
		untaken: readonly OutboxKey[],
	): Promise<void> {
		try {
			await this.#apply(outbox, at, await this.#readRest(outbox, untaken));
			this.check();
		} catch {
			// As if the outbox had not been read.
		}
	}

	/** The keys of all entries that nobody has taken. */
	async #readRest(
		outbox: Outbox,
		first: readonly OutboxKey[],
	): Promise<readonly OutboxKey[]> {
		const found = [...first];
		let page = first;
		while (page.length === PAGE) {
			const after = page.at(-1)?.local ?? 0;
			const untaken = { after, limit: PAGE };
			const [seen] = await this.#store.storage.read("outboxes", [
				{ outbox, untaken, due: null },
			]);
			if (seen === undefined || seen instanceof Error) throw seen;
			page = seen.untaken;
			found.push(...page);
		}
		return found;
	}

	async #apply(
		{ host, shards }: Outbox,
		at: number,
		untaken: readonly OutboxKey[],
	): Promise<void> {
		const found = Map.groupBy(untaken, ({ shard }) => shard);
		const looks = new Map<number, Look>();
		const old: OutboxKey[] = [];
		for (const shard of shards) {
			const before = this.#lookAt(shard);
			const entries = new Map<number, Seen>();
			for (const { local } of found.get(shard) ?? []) {
				const seen = before.entries.get(local) ?? {
					committedAfter: before.at,
					isApplied: false,
				};
				const isOld = at - seen.committedAfter >= PATIENCE_MS;
				if (isOld && !seen.isApplied) old.push({ shard, local });
				entries.set(local, { ...seen, isApplied: seen.isApplied || isOld });
			}
			looks.set(shard, { host, at, entries });
		}
		if (old.length > 0) {
			const entries = await this.#store.storage.read("entries", old);
			const keys = new Set<string>();
			for (const [nth, entry] of entries.entries()) {
				if (entry instanceof Error) looks.delete((old[nth] as OutboxKey).shard);
				// One that is gone was published.
				else if (entry !== null) {
					for (const key of publishedKeysOf(entry.entry)) keys.add(key);
				}
			}
			this.#store.applyInvalidations([...keys]);
		}
		for (const [shard, look] of looks) {
			if (this.#hostOf(shard) === host) this.#looks.set(shard, look);
		}
	}
}

/** What it looks at, and what it invalidates. */
interface WatchedStore
	extends Pick<
		Invalidator,
		"applyInvalidations" | "bypassShards" | "limitAge"
	> {
	readonly storage: Storage;
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
	readonly isApplied: boolean;
}
