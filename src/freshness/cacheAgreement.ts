import { setTimeout as sleep } from "node:timers/promises";
import {
	DOWN,
	type GetOrLeaseResult,
	type SharedCache,
} from "../cache/sharedCache.ts";
import { CorkboardError } from "../errors.ts";
import {
	CACHE_PARTS,
	type CachePart,
	type Membership,
	readMembers,
	type SpokenTo,
} from "../topology/members.ts";
import type { TopologyStore } from "../topology/store.ts";
import { withDeadline } from "../util/deadline.ts";
import { FRESHNESS_CHANNELS } from "./diagnostics.ts";

/** As it stands in the store. */
interface Agreed {
	/** Null: nobody uses them, until those who did have noticed. */
	readonly servers: string | null;
	/** Part of the keys, so that servers which are agreed on again start empty. */
	readonly term: number;
}

type Terms = Partial<Record<CachePart, Agreed>>;

/**
 * Keeps all processes of a fleet on the same caches: a process with another
 * Redis, or another list of memcached hosts, would not see what the others
 * change. The store holds which servers the fleet agrees on.
 *
 * 1. A process announces which servers it speaks to before it uses them, and
 *    reads the agreement twice a second. While its servers are others, it reads
 *    past them, and nothing that it deletes or publishes counts as acknowledged:
 *    the outbox keeps it for those who agree.
 * 2. Where no member speaks to the agreed servers any more, a process that speaks
 *    to others vacates the agreement, and two seconds later claims it.
 * 3. A process that has not read the agreement for two seconds though the store
 *    answers, because it stood still, counts nothing as acknowledged, and reads it
 *    before it uses what is cached. So whoever claims shares nothing with it.
 *
 * A store that does not answer changes nothing for a process that has run since
 * its newest answer: nobody can vacate meanwhile, unless they reach the store
 * and it does not (docs/consistency/freshness.md, "What remains").
 */
export class CacheAgreement implements Disposable {
	readonly #store: TopologyStore;
	readonly #member: Membership;
	#spokenTo: () => SpokenTo = () => ({ objects: null, lists: null });
	#onChange: (part: CachePart) => void = () => {};
	#terms: Terms = {};
	/** The newest that was read of each part, also where the store has lost it. */
	#lastTerms: Terms = {};
	#isKnown = false;
	readonly #now: () => number;
	readonly #deadlineMs: number;
	/** When the newest read that was answered began. */
	#readAt = Number.NEGATIVE_INFINITY;
	#isStoreAway = false;
	/** When a check last began or ended, and since when there was no longer gap between these than a read counts. */
	#ranAt = Number.NEGATIVE_INFINITY;
	#ranSince = Number.NEGATIVE_INFINITY;
	/** This process may write no agreement, so it keeps to what it finds. */
	#isReadOnly = false;
	/** When each part was found vacated. */
	readonly #vacated = new Map<CachePart, { term: number; at: number }>();
	readonly #reported = new Map<CachePart, boolean>();
	#reading: Promise<void> | null = null;
	#timer: NodeJS.Timeout | undefined;
	#said = "";

	constructor(
		store: TopologyStore,
		member: Membership,
		{ now = () => performance.now(), deadlineMs = DEADLINE_MS } = {},
	) {
		this.#store = store;
		this.#member = member;
		this.#now = now;
		this.#deadlineMs = deadlineMs;
	}

	/** Resolves when the agreement is known, or the store does not say. What `spokenTo` returns may change. `onChange` is called when the process begins or ceases to agree. */
	async begin(
		spokenTo: () => SpokenTo,
		onChange: (part: CachePart) => void,
	): Promise<void> {
		this.#spokenTo = spokenTo;
		this.#onChange = onChange;
		await this.check();
		this.#timer = setInterval(() => void this.check(), CHECK_MS);
		this.#timer.unref();
	}

	/** Whether what is cached there may be read. Servers that are not known yet hold nothing under the names of this term that others do not delete. */
	mayRead(part: CachePart): boolean {
		if (!this.#isKnown) return false;
		const agreed = this.#terms[part];
		if (!agreed) return this.#isReadOnly && !this.#lastTerms[part];
		if (agreed.servers === null) return false;
		const own = this.#spokenTo()[part];
		return own === null || own === agreed.servers;
	}

	/** Whether what the servers acknowledge now is what the others read. */
	isAgreed(part: CachePart): boolean {
		const own = this.#spokenTo()[part];
		return own !== null && this.mayRead(part) && !this.isOverdue;
	}

	/** The process stood still: the others may have agreed on other servers meanwhile. */
	get isOverdue(): boolean {
		const now = this.#now();
		const stoodStill =
			now - this.#ranAt > LIMIT_MS || this.#readAt < this.#ranSince;
		return (stoodStill || !this.#isStoreAway) && now - this.#readAt > LIMIT_MS;
	}

	/** Reads an overdue agreement before what is cached is used, unless the store is known not to answer. */
	async untilProven(): Promise<void> {
		if (this.isOverdue && !this.#isStoreAway) await this.check();
	}

	term(part: CachePart): number {
		return this.#terms[part]?.term ?? 0;
	}

	/** Whether the part is agreed on, after waiting for that at most so long. */
	async untilAgreed(part: CachePart, ms: number): Promise<boolean> {
		const until = performance.now() + ms;
		while (!this.isAgreed(part)) {
			const left = until - performance.now();
			if (left <= 0 || this.#isUnproven(ms)) return false;
			await sleep(Math.min(left, POLL_MS));
		}
		return true;
	}

	/** After it stood still, the store has not answered for so long: who waits as long again delays each write, perhaps for hours. */
	#isUnproven(ms: number): boolean {
		return (
			this.#isStoreAway && this.isOverdue && this.#now() - this.#ranSince > ms
		);
	}

	/** Reads the agreement, and changes it where nobody keeps to it. Never rejects. */
	check(): Promise<void> {
		this.#reading ??= this.#check().finally(() => {
			this.#reading = null;
		});
		return this.#reading;
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}

	async #check(): Promise<void> {
		this.#noteRunning();
		const until = performance.now() + this.#deadlineMs;
		const read = withDeadline(this.#read(), { until });
		this.#isStoreAway = await read.then(
			() => false,
			() => true,
		);
		this.#noteRunning();
		this.#report();
	}

	#noteRunning(): void {
		const now = this.#now();
		if (now - this.#ranAt > LIMIT_MS) this.#ranSince = now;
		this.#ranAt = now;
	}

	async #read(): Promise<void> {
		const own = { ...this.#spokenTo() };
		const said = JSON.stringify(own);
		if (said !== this.#said) {
			await this.#member.speakTo(own);
			this.#said = said;
		}
		const readAt = this.#now();
		const found = await this.#store.get(PATH);
		// The answer to an earlier check, which did not wait for it.
		if (readAt < this.#readAt) return;
		const stored = found === null ? {} : termsIn(found.text);
		const terms = { ...stored };
		for (const part of CACHE_PARTS) {
			// The store was restored, or began again.
			const last = this.#lastTerms[part]?.term ?? 0;
			if ((terms[part]?.term ?? 0) < last) delete terms[part];
		}
		this.#isKnown = true;
		this.#readAt = readAt;
		this.#setTerms(terms);
		const next = await this.#next(own, terms, stored === null);
		if (next === null) return;
		const text = JSON.stringify({ ...stored, ...next });
		const revision = found?.revision ?? null;
		try {
			await this.#store.write([{ path: PATH, revision, text }]);
			if (readAt === this.#readAt) this.#setTerms({ ...terms, ...next });
		} catch (error) {
			// Somebody else may have changed it meanwhile: the next check sees that.
			const code = error instanceof CorkboardError ? error.code : null;
			this.#isReadOnly = code !== "CONFLICT" && code !== "UNAVAILABLE";
		}
	}

	/** In one turn of the event loop with what follows from it. */
	#setTerms(terms: Terms): void {
		this.#terms = terms;
		this.#lastTerms = { ...this.#lastTerms, ...terms };
		this.#noteVacated(terms);
		this.#report();
	}

	/** What this process changes of the agreement; null: nothing. */
	async #next(
		own: SpokenTo,
		terms: Terms,
		isUnreadable: boolean,
	): Promise<Terms | null> {
		const next: Terms = {};
		let others: readonly SpokenTo[] | null = null;
		for (const part of CACHE_PARTS) {
			const servers = own[part];
			const agreed = terms[part];
			if (servers === null || servers === agreed?.servers) continue;
			if (agreed === undefined) {
				// Others may still keep to what was lost. Term 0 is what earlier versions use, so a fleet begins with it.
				const isLost = isUnreadable || this.#lastTerms[part] !== undefined;
				next[part] = isLost
					? { servers: null, term: newTerm(0) }
					: { servers, term: 0 };
			} else if (agreed.servers === null) {
				const since = this.#vacated.get(part)?.at ?? this.#now();
				if (this.#now() - since < LIMIT_MS) continue;
				next[part] = { servers, term: agreed.term };
			} else {
				others ??= (await readMembers(this.#store))
					.filter(({ id }) => id !== this.#member.id)
					.map(({ caches }) => caches);
				if (others.some((other) => other[part] === agreed.servers)) continue;
				next[part] = { servers: null, term: newTerm(agreed.term) };
			}
		}
		return Object.keys(next).length === 0 ? null : next;
	}

	#noteVacated(terms: Terms): void {
		for (const part of CACHE_PARTS) {
			const agreed = terms[part];
			if (agreed?.servers !== null) this.#vacated.delete(part);
			else if (this.#vacated.get(part)?.term !== agreed.term) {
				const at = this.#now();
				this.#vacated.set(part, { term: agreed.term, at });
			}
		}
	}

	#report(): void {
		const own = this.#spokenTo();
		for (const part of CACHE_PARTS) {
			const agreed = this.#terms[part]?.servers ?? null;
			const differs = own[part] !== null && !this.mayRead(part);
			if (differs === (this.#reported.get(part) ?? false)) continue;
			this.#reported.set(part, differs);
			this.#onChange(part);
			FRESHNESS_CHANNELS.cacheAgreement.publish({
				...{ part, differs, agreed },
				own: own[part],
			});
		}
	}
}

const PATH = "caches";
/** Between two reads of the agreement. Milliseconds. */
const CHECK_MS = 500;
/** How long a read of the agreement counts, and how long vacated servers are left alone. */
const LIMIT_MS = 2_000;
/** For one read. */
const DEADLINE_MS = 1_000;
const POLL_MS = 20;

/** Not one that a store had before it was restored or lost: by the clock. */
function newTerm(former: number): number {
	return Math.max(former + 1, Math.floor(Date.now() / 1_000));
}

/** Null if it is not understood. */
function termsIn(text: string): Terms | null {
	try {
		const said: unknown = JSON.parse(text);
		return typeof said === "object" ? said : null;
	} catch {
		return null;
	}
}

/** A shared cache that is skipped while its servers are others than the fleet's: what they acknowledge does not count then. */
export function agreedCache(
	cache: SharedCache,
	part: CachePart,
	agreement: CacheAgreement,
): SharedCache {
	return {
		layer: cache.layer,
		hostOf: (key) => cache.hostOf(key),
		levels: () => cache.levels(),

		async getOrLease(keys): Promise<readonly GetOrLeaseResult[]> {
			if (!agreement.mayRead(part)) return keys.map(() => DOWN);
			const results = await cache.getOrLease(keys);
			return agreement.mayRead(part) ? results : keys.map(() => DOWN);
		},

		async fill(fills) {
			if (agreement.mayRead(part)) await cache.fill(fills);
		},

		putTombstones: async (keys) =>
			(await cache.putTombstones(keys)) && agreement.isAgreed(part),

		delete: async (keys) =>
			(await cache.delete(keys)) && agreement.isAgreed(part),

		async untilDeleted(keys, ms) {
			const [isDeleted, isAgreed] = await Promise.all([
				cache.untilDeleted(keys, ms),
				agreement.untilAgreed(part, ms),
			]);
			return isDeleted && isAgreed;
		},

		[Symbol.asyncDispose]: () => cache[Symbol.asyncDispose](),
	};
}
