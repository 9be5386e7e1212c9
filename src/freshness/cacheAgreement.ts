import { setTimeout as sleep } from "node:timers/promises";
import type { Gate } from "../cache/gate.ts";
import { CorkboardError } from "../errors.ts";
import {
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

type Terms = Readonly<Record<string, Agreed>>;

/** What the store holds. */
interface Stored {
	readonly terms: Terms;
	/** Processes that serve an older version of the map do not know of servers that others use (fleet/operations/setCaches.ts). */
	readonly oldest: number;
}

/**
 * Keeps all processes of a fleet on the same caches: a process with another
 * Redis, or another list of memcached hosts, would not see what the others
 * change. The store holds which servers the fleet agrees on.
 *
 * 1. A process announces which servers it speaks to before it uses them, and
 *    reads the agreement twice a second. While its servers are others, it reads
 *    past them, and nothing that it deletes or publishes counts as acknowledged:
 *    the outbox keeps it for those who agree.
 * 2. If no member speaks to the agreed servers any more, a process that speaks
 *    to others vacates the agreement, and two seconds later claims it.
 * 3. A process that has not read the agreement for two seconds though the store
 *    answers, because it was paused, counts nothing as acknowledged, and reads it
 *    before it uses what is cached. So a process that claims shares nothing with it.
 *
 * A store that does not answer changes nothing for a process that has run since
 * its newest answer: nobody can vacate meanwhile, unless they reach the store
 * and it does not (docs/consistency/freshness.md, "What remains").
 */
export class CacheAgreement implements Disposable {
	readonly #store: TopologyStore;
	readonly #member: Membership;
	#spokenTo: () => SpokenTo = () => ({});
	/** The version of the map whose caches are in use. */
	#version: () => number = () => Number.POSITIVE_INFINITY;
	#oldest = 0;
	#onChange: (part: string) => void = () => {};
	#terms: Terms = {};
	/** The newest that was read of each part, even if the store has lost it. */
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
	readonly #vacated = new Map<string, { term: number; at: number }>();
	readonly #reported = new Map<string, boolean>();
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
		onChange: (part: string) => void,
		version = this.#version,
	): Promise<void> {
		this.#spokenTo = spokenTo;
		this.#version = version;
		this.#onChange = onChange;
		await this.check();
		this.#timer = setInterval(() => void this.check(), CHECK_MS);
		this.#timer.unref();
	}

	/** Whether what is cached there may be read. Servers that are not known yet hold nothing under the names of this term that others do not delete. */
	mayRead(part: string): boolean {
		if (!this.isCurrent) return false;
		const agreed = this.#terms[part];
		if (!agreed) return this.#isReadOnly && !this.#lastTerms[part];
		if (agreed.servers === null) return false;
		const own = this.#spokenTo()[part];
		return own == null || own === agreed.servers;
	}

	/** Whether the process knows of all servers that the others may use. */
	get isCurrent(): boolean {
		return this.#isKnown && this.#version() >= this.#oldest;
	}

	/** The gate of a server; null: of one that cannot be distinguished from another. */
	gate(part: string | null): Gate {
		const agreement = this;
		const isAgreed = () =>
			part === null ? this.isCurrent && !this.isOverdue : this.isAgreed(part);
		return {
			mayRead: () => (part === null ? this.isCurrent : this.mayRead(part)),
			isAgreed,
			untilAgreed: (ms) => this.#until(isAgreed, ms),
			get term() {
				return part === null ? 0 : agreement.term(part);
			},
		};
	}

	/** Whether what the servers acknowledge now is what the others read. */
	isAgreed(part: string): boolean {
		const own = this.#spokenTo()[part];
		return own != null && this.mayRead(part) && !this.isOverdue;
	}

	/** The process was paused: the others may have agreed on other servers meanwhile. */
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

	term(part: string): number {
		return this.#terms[part]?.term ?? 0;
	}

	async #until(isAgreed: () => boolean, ms: number): Promise<boolean> {
		const until = performance.now() + ms;
		while (!isAgreed()) {
			const left = until - performance.now();
			if (left <= 0 || this.#isUnproven(ms)) return false;
			await sleep(Math.min(left, POLL_MS));
		}
		return true;
	}

	/** Whether the store has not answered for so long since this process was paused. A process that waited as long again for each write would delay all of them, perhaps for hours. */
	#isUnproven(ms: number): boolean {
		return (
			this.#isStoreAway && this.isOverdue && this.#now() - this.#ranSince > ms
		);
	}

	/** Reads the agreement, and changes it if nobody keeps to it. Never rejects. */
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
		const stored = found === null ? NOTHING : storedIn(found.text);
		const terms = Object.fromEntries(
			Object.entries(stored?.terms ?? {}).filter(
				// The store was restored, or began again.
				([part, { term }]) => term >= (this.#lastTerms[part]?.term ?? 0),
			),
		);
		this.#isKnown = true;
		this.#readAt = readAt;
		this.#setTerms(terms, stored?.oldest ?? 0);
		const next = await this.#next(own, terms, stored === null);
		if (next === null) return;
		const oldest = this.#oldest;
		const text = storedText({ terms: { ...stored?.terms, ...next }, oldest });
		const revision = found?.revision ?? null;
		try {
			await this.#store.write([{ path: PATH, revision, text }]);
			if (readAt === this.#readAt) {
				this.#setTerms({ ...terms, ...next }, oldest);
			}
		} catch (error) {
			// Somebody else may have changed it meanwhile: the next check sees that.
			const code = error instanceof CorkboardError ? error.code : null;
			this.#isReadOnly = code !== "CONFLICT" && code !== "UNAVAILABLE";
		}
	}

	/** In one turn of the event loop with what follows from it. */
	#setTerms(terms: Terms, oldest: number): void {
		this.#terms = terms;
		this.#oldest = Math.max(this.#oldest, oldest);
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
		const next: Record<string, Agreed> = {};
		let others: readonly SpokenTo[] | null = null;
		for (const [part, servers] of Object.entries(own)) {
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
		for (const [part, agreed] of Object.entries(terms)) {
			if (agreed.servers !== null) this.#vacated.delete(part);
			else if (this.#vacated.get(part)?.term !== agreed.term) {
				const at = this.#now();
				this.#vacated.set(part, { term: agreed.term, at });
			}
		}
	}

	#report(): void {
		const own = this.#spokenTo();
		for (const [part, servers] of Object.entries(own)) {
			const agreed = this.#terms[part]?.servers ?? null;
			const differs = servers !== null && !this.mayRead(part);
			if (differs === (this.#reported.get(part) ?? false)) continue;
			this.#reported.set(part, differs);
			this.#onChange(part);
			FRESHNESS_CHANNELS.cacheAgreement.publish({
				part,
				differs,
				agreed,
				own: servers,
			});
		}
	}
}

const PATH = "caches";
/** Between two reads of the agreement. Milliseconds. */
const CHECK_MS = 500;
/** How long a read of the agreement counts, and how long vacated servers are left alone. */
export const LIMIT_MS = 2_000;
/** For one read. */
const DEADLINE_MS = 1_000;
const POLL_MS = 20;

/** Not one that a store had before it was restored or lost: by the clock. */
function newTerm(former: number): number {
	return Math.max(former + 1, Math.floor(Date.now() / 1_000));
}

const NOTHING: Stored = { terms: {}, oldest: 0 };
/** Beside the parts. */
const OLDEST = "oldest version";

/** Null if it is not understood. */
function storedIn(text: string): Stored | null {
	try {
		const { [OLDEST]: oldest, ...terms } = JSON.parse(text);
		return { terms, oldest: Number.isSafeInteger(oldest) ? oldest : 0 };
	} catch {
		return null;
	}
}

function storedText({ terms, oldest }: Stored): string {
	return JSON.stringify({ ...terms, ...(oldest > 0 && { [OLDEST]: oldest }) });
}

/**
 * From two seconds after this on, a process that serves an older version of the
 * map reads past all caches, and nothing that it deletes or publishes counts.
 */
export async function requireVersion(
	store: Pick<TopologyStore, "get" | "write">,
	version: number,
): Promise<void> {
	for (let nth = 1; ; nth++) {
		const found = await store.get(PATH);
		const { terms, oldest } = (found && storedIn(found.text)) ?? NOTHING;
		if (oldest >= version) return;
		const text = storedText({ terms, oldest: version });
		const revision = found?.revision ?? null;
		try {
			return await store.write([{ path: PATH, revision, text }]);
		} catch (error) {
			const isOvertaken =
				error instanceof CorkboardError && error.code === "CONFLICT";
			if (!isOvertaken || nth === TRIES) throw error;
		}
	}
}

const TRIES = 20;
