import type {
	CacheLayer,
	RetryReason,
	Statement,
	WriteDescription,
	WriteTrace,
} from "../diagnostics.ts";

import { countError, type ErrorCounts } from "./errorCounts.ts";

/**
 * What is told of writes of one kind besides what is told of any step: those of
 * one call that change the same things are one step that ran as often. Names
 * and numbers only.
 */
export interface ExplainWrite {
	readonly verb: WriteDescription["verb"];
	/** How many still ran: the answer did not wait for them any longer. */
	readonly unfinished: number;
	/** Why one was begun anew, each time: all its statements were sent again. */
	readonly retries: readonly RetryReason[];
	/** Other requests' changes in the same transactions of the database, whose statements are told too. */
	readonly grouped: number;
	/** Their debts, by kind. */
	readonly outboxEntries: readonly OutboxEntryCount[];
	/** Whether these were paid before the answer went out, rather than left to the sweeper. */
	readonly delivered: boolean;
	readonly caches: readonly ExplainInvalidation[];
}

export interface OutboxEntryCount {
	/** `edges`, `names`, `claims`, `keys`, or `caches`. */
	readonly kind: string;
	readonly count: number;
}

/** Keys of a shared cache: buried before COMMIT, cleared after it. */
export interface ExplainInvalidation {
	readonly layer: CacheLayer;
	readonly verb: "bury" | "clear";
	readonly keys: number;
	/** Whether the cache acknowledged. */
	readonly ok: boolean;
}

/** What is noted of writes of one kind while they run. */
export interface WriteRecord {
	readonly start: WriteDescription;
	readonly startedAt: number;
	/** The last of them; 0 while none has. */
	endedAt: number;
	runs: number;
	unfinished: number;
	written: number;
	grouped: number;
	/** Writes that owe something, less those that were paid. */
	undelivered: number;
	readonly shards: Set<number>;
	readonly statements: Statement[];
	readonly errors: ErrorCounts;
	readonly retries: RetryReason[];
	readonly outboxEntries: Map<string, number>;
	readonly caches: Map<string, ExplainInvalidation>;
}

export function writeRecord(begun: WriteDescription): WriteRecord {
	return {
		start: begun,
		startedAt: performance.now(),
		endedAt: 0,
		runs: 0,
		unfinished: 0,
		written: 0,
		grouped: 0,
		undelivered: 0,
		shards: new Set(),
		statements: [],
		errors: new Map(),
		retries: [],
		outboxEntries: new Map(),
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
		retry(why) {
			record.retries.push(why);
		},
		grouped(others) {
			record.grouped += others;
		},
		cache(verb, layer, keys, ok) {
			const key = `${verb} ${layer} ${ok}`;
			const sum = (record.caches.get(key)?.keys ?? 0) + keys;
			record.caches.set(key, { layer, verb, keys: sum, ok });
		},
		fail(thrown) {
			record.endedAt = performance.now();
			record.unfinished--;
			countError(record.errors, thrown, 1);
		},
		end({ rowsWritten: written, outbox: owes }) {
			record.endedAt = performance.now();
			record.unfinished--;
			record.written += written;
			const debts = Object.entries(owes);
			if (debts.length > 0) record.undelivered++;
			for (const [kind, count] of debts) {
				record.outboxEntries.set(
					kind,
					(record.outboxEntries.get(kind) ?? 0) + count,
				);
			}
		},
		delivered() {
			record.undelivered--;
		},
	};
}

export function explainWrite({
	start: begun,
	unfinished,
	retries: again,
	grouped: together,
	outboxEntries: owes,
	undelivered: unpaid,
	caches,
}: WriteRecord): ExplainWrite {
	return {
		verb: begun.verb,
		unfinished,
		retries: [...again],
		grouped: together,
		outboxEntries: [...owes].map(([kind, count]) => ({ kind, count })),
		delivered: owes.size > 0 && unpaid === 0,
		caches: [...caches.values()],
	};
}
