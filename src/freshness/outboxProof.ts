/**
 * What a process knows of one host's outbox while it learns from there alone
 * what others change (docs/consistency.md "Without Redis for a time").
 *
 * The server gives each entry its local id at INSERT, in the transaction of the
 * change. So whatever was committed before a look has an id below the one that
 * the server would give next. Such an id is of an entry that the look finds, or
 * of one that is not committed yet, was taken or deleted because somebody
 * published it, or was rolled back. One look later only the first of these
 * shows an entry after all; for the others everything of the host is dropped.
 */
export interface OutboxProof {
	/** Everything that was committed before is known. */
	readonly provenAt: number;
	/** When the newest look began. */
	readonly askedAt: number;
	/** Greater than every local id that was given by then. */
	readonly next: number;
	/** Local ids that were given since the look before and of which no entry was found. */
	readonly missing: ReadonlySet<number>;
	/** Those of which one was. */
	readonly found: ReadonlySet<number>;
}

interface ProofStep {
	readonly proof: OutboxProof;
	/** Local ids of entries that were not known; "all" if something may have been missed, or they are many. */
	readonly news: ReadonlySet<number> | "all";
}

/** More new entries than these cost more to read than what is cached of their host. */
const MOST_NEWS = 1_000;

/**
 * The position of the first look: transactions may be in progress that have any id
 * before the next. No entry has this one, so the second look drops everything too.
 */
const UNKNOWN: ReadonlySet<number> = new Set([0]);

export function followOutbox(
	before: OutboxProof | null,
	look: Pick<OutboxProof, "askedAt" | "next" | "found">,
): ProofStep {
	const { askedAt, next, found } = look;
	// A counter that goes back is that of another server.
	const given = before === null ? 0 : next - before.next;
	if (before === null || given < 0 || given > MOST_NEWS) {
		const proof = { ...look, provenAt: askedAt, missing: UNKNOWN };
		return { proof, news: "all" };
	}
	const missing = new Set<number>();
	for (let id = before.next; id < next; id++) {
		if (!found.has(id)) missing.add(id);
	}
	// What is dropped now was read before it was asked, or is as new as that.
	const isMissed = !before.missing.isSubsetOf(found);
	const isProven = isMissed || missing.size === 0;
	return {
		proof: { ...look, missing, provenAt: isProven ? askedAt : before.askedAt },
		news: isMissed ? "all" : found.difference(before.found),
	};
}
