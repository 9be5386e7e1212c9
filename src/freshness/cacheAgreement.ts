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
 * A store that does not answer changes nothing: nobody can vacate meanwhile.
 */
export class CacheAgreement implements Disposable {
	readonly #store: TopologyStore;
	readonly #member: Membership;
	#spokenTo: () => SpokenTo = () => ({ objects: null, lists: null });
	#onChange: (part: CachePart) => void = () => {};
	#terms: Terms = {};
	#isKnown = false;
	/** By `performance.now()`, when the newest read that was answered began. */
	#readAt = Number.NEGATIVE_INFINITY;
	#isStoreAway = false;
	/** This process may write no agreement, so it keeps to what it finds. */
	#isReadOnly = false;
	/** When each part was found vacated. */
	readonly #vacated = new Map<CachePart, { term: number; at: number }>();
	readonly #reported = new Map<CachePart, boolean>();
	#reading: Promise<void> | null = null;
	#timer: NodeJS.Timeout | undefined;
	#said = "";

	constructor(store: TopologyStore, member: Membership) {
		this.#store = store;
		this.#member = member;
	}

	/** Resolves when the agreement is known, or the store does not say. `onChange` is called when the process begins or ceases to agree. */
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
		if (agreed === undefined) return this.#isReadOnly;
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
		return !this.#isStoreAway && performance.now() - this.#readAt > LIMIT_MS;
	}

	term(part: CachePart): number {
		return this.#terms[part]?.term ?? 0;
	}

	/** Whether the part is agreed on, after waiting for that at most so long. */
	async untilAgreed(part: CachePart, ms: number): Promise<boolean> {
		const until = performance.now() + ms;
		while (!this.isAgreed(part)) {
			const left = until - performance.now();
			if (left <= 0) return false;
			await sleep(Math.min(left, POLL_MS));
		}
		return true;
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
		const stop = new AbortController();
		const late = sleep(DEADLINE_MS, false, { signal: stop.signal }).catch(
			() => false,
		);
		const read = this.#read().then(
			() => true,
			() => false,
		);
		const isAnswered = await Promise.race([read, late]);
		stop.abort();
		this.#isStoreAway = !isAnswered;
		this.#report();
	}

	async #read(): Promise<void> {
		const own = this.#spokenTo();
		const said = JSON.stringify(own);
		if (said !== this.#said) {
			await this.#member.speakTo(own);
			this.#said = said;
		}
		const readAt = performance.now();
		const found = await this.#store.get(PATH);
		const terms = found === null ? {} : termsIn(found.text);
		this.#isKnown = true;
		this.#readAt = readAt;
		this.#setTerms(terms);
		const next = await this.#next(own, terms);
		if (next === null) return;
		const text = JSON.stringify({ ...terms, ...next });
		const revision = found?.revision ?? null;
		try {
			await this.#store.write([{ path: PATH, revision, text }]);
			this.#setTerms({ ...terms, ...next });
		} catch (error) {
			// Somebody else may have changed it meanwhile: the next check sees that.
			const code = error instanceof CorkboardError ? error.code : null;
			this.#isReadOnly = code !== "CONFLICT" && code !== "UNAVAILABLE";
		}
	}

	/** In one turn of the event loop with what follows from it. */
	#setTerms(terms: Terms): void {
		this.#terms = terms;
		this.#noteVacated(terms);
		this.#report();
	}

	/** What this process changes of the agreement; null: nothing. */
	async #next(own: SpokenTo, terms: Terms): Promise<Terms | null> {
		const next: Terms = {};
		let others: readonly SpokenTo[] | null = null;
		for (const part of CACHE_PARTS) {
			const servers = own[part];
			const agreed = terms[part];
			if (servers === null || servers === agreed?.servers) continue;
			if (agreed === undefined) next[part] = { servers, term: 0 };
			else if (agreed.servers === null) {
				const since = this.#vacated.get(part)?.at ?? performance.now();
				if (performance.now() - since < LIMIT_MS) continue;
				next[part] = { servers, term: agreed.term };
			} else {
				others ??= (await readMembers(this.#store))
					.filter(({ id }) => id !== this.#member.id)
					.map(({ caches }) => caches);
				if (others.some((other) => other[part] === agreed.servers)) continue;
				next[part] = { servers: null, term: agreed.term + 1 };
			}
		}
		return Object.keys(next).length === 0 ? null : next;
	}

	#noteVacated(terms: Terms): void {
		for (const part of CACHE_PARTS) {
			const agreed = terms[part];
			if (agreed?.servers !== null) this.#vacated.delete(part);
			else if (this.#vacated.get(part)?.term !== agreed.term) {
				const at = performance.now();
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

/** In the store. */
const PATH = "caches";
/** Between two reads of the agreement. Milliseconds. */
const CHECK_MS = 500;
/** How long a read of the agreement counts, and how long vacated servers are left alone. */
const LIMIT_MS = 2_000;
/** For one read. */
const DEADLINE_MS = 1_000;
const POLL_MS = 20;

/** What is not understood is as if nothing were agreed. */
function termsIn(text: string): Terms {
	try {
		const said: unknown = JSON.parse(text);
		return said !== null && typeof said === "object" ? said : {};
	} catch {
		return {};
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
