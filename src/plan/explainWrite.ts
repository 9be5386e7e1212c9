import type {
	CacheLayer,
	RetryReason,
	Statement,
	WriteDescription,
	WriteTrace,
} from "../diagnostics.ts";

import { type Failures, noteFailure } from "./failures.ts";

/**
 * What is told of writes of one kind besides what is told of any step: those of
 * one call that change the same things are one step that ran as often. Names
 * and numbers only.
 */
export interface ExplainedWrite {
	readonly verb: WriteDescription["verb"];
	/** How many still ran: the answer did not wait for them any longer. */
	readonly unfinished: number;
	/** Why one was begun anew, each time: all its statements were sent again. */
	readonly again: readonly RetryReason[];
	/** Other requests' changes in the same transactions of the database, whose statements are told too. */
	readonly together: number;
	/** Their debts, by kind. */
	readonly owes: readonly ExplainedDebt[];
	/** Whether these were paid before the answer went out, rather than left to the sweeper. */
	readonly paid: boolean;
	readonly caches: readonly ExplainedForgetting[];
}

export interface ExplainedDebt {
	/** `edges`, `names`, `claims`, `keys`, or `caches`. */
	readonly kind: string;
	readonly count: number;
}

/** Keys of a shared cache: buried before COMMIT, cleared after it. */
export interface ExplainedForgetting {
	readonly layer: CacheLayer;
	readonly verb: "bury" | "clear";
	readonly keys: number;
	/** Whether the cache acknowledged. */
	readonly ok: boolean;
}

/** What is noted of writes of one kind while they run. */
export interface WriteRecord {
	readonly begun: WriteDescription;
	readonly started: number;
	/** The last of them; 0 while none has. */
	ended: number;
	runs: number;
	unfinished: number;
	written: number;
	together: number;
	/** Writes that owe something, less those that were paid. */
	unpaid: number;
	readonly shards: Set<number>;
	readonly statements: Statement[];
	readonly failures: Failures;
	readonly again: RetryReason[];
	readonly owes: Map<string, number>;
	readonly caches: Map<string, ExplainedForgetting>;
}

export function writeRecord(begun: WriteDescription): WriteRecord {
	return {
		begun,
		started: performance.now(),
		ended: 0,
		runs: 0,
		unfinished: 0,
		written: 0,
		together: 0,
		unpaid: 0,
		shards: new Set(),
		statements: [],
		failures: new Map(),
		again: [],
		owes: new Map(),
		caches: new Map(),
	};
}

/** Writes that are told as one. */
export function writeKey({ verb, changes }: WriteDescription): string {
	return `${verb} ${changes.join()}`;
}

/** Of one write more. */
export function writeTrace(
	record: WriteRecord,
	{ shards }: WriteDescription,
	statement: WriteTrace["statement"],
): WriteTrace {
	record.runs++;
	record.unfinished++;
	for (const shard of shards) record.shards.add(shard);
	return {
		statement,
		again(why) {
			record.again.push(why);
		},
		grouped(others) {
			record.together += others;
		},
		cache(verb, layer, keys, ok) {
			const key = `${verb} ${layer} ${ok}`;
			const sum = (record.caches.get(key)?.keys ?? 0) + keys;
			record.caches.set(key, { layer, verb, keys: sum, ok });
		},
		fail(thrown) {
			record.ended = performance.now();
			record.unfinished--;
			noteFailure(record.failures, thrown, 1);
		},
		end({ rowsWritten: written, outbox: owes }) {
			record.ended = performance.now();
			record.unfinished--;
			record.written += written;
			const debts = Object.entries(owes);
			if (debts.length > 0) record.unpaid++;
			for (const [kind, count] of debts) {
				record.owes.set(kind, (record.owes.get(kind) ?? 0) + count);
			}
		},
		delivered() {
			record.unpaid--;
		},
	};
}

export function explainedWrite({
	begun,
	unfinished,
	again,
	together,
	owes,
	unpaid,
	caches,
}: WriteRecord): ExplainedWrite {
	return {
		verb: begun.verb,
		unfinished,
		again: [...again],
		together,
		owes: [...owes].map(([kind, count]) => ({ kind, count })),
		paid: owes.size > 0 && unpaid === 0,
		caches: [...caches.values()],
	};
}
