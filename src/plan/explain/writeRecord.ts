import { asCorkboardError } from "../../errors.ts";
import type {
	RetryReason,
	Span,
	Statement,
	WriteDescription,
	WriteTrace,
} from "../../trace.ts";
import { PLAN_CHANNELS } from "../diagnostics.ts";
import { countError, type ErrorCounts } from "./errorCounts.ts";
import type { ExplainInvalidation, ExplainWrite } from "./explainOutput.ts";
import type { HostFailure } from "./stepRecord.ts";

/** The writes of one call that change the same things, while they run. */
export interface WriteRecord {
	readonly description: WriteDescription;
	readonly startedAt: number;
	/** When the last of them ended; 0 before the first end. */
	endedAt: number;
	runs: number;
	unfinished: number;
	rowsWritten: number;
	grouped: number;
	/** Writes whose outbox entry is not delivered yet. */
	undelivered: number;
	readonly shards: Set<number>;
	readonly statements: Statement[];
	readonly failures: HostFailure[];
	readonly errors: ErrorCounts;
	readonly retries: RetryReason[];
	/** Numbers by part of the outbox entries. */
	readonly outbox: Map<string, number>;
	readonly caches: Map<string, ExplainInvalidation>;
}

export function newWriteRecord(description: WriteDescription): WriteRecord {
	return {
		description,
		startedAt: performance.now(),
		endedAt: 0,
		runs: 0,
		unfinished: 0,
		rowsWritten: 0,
		grouped: 0,
		undelivered: 0,
		shards: new Set(),
		statements: [],
		failures: [],
		errors: new Map(),
		retries: [],
		outbox: new Map(),
		caches: new Map(),
	};
}

/** Equal for writes that belong in one record. */
export function writeRecordKey({ verb, changes }: WriteDescription): string {
	return `${verb} ${changes.join()}`;
}

/** Adds one write to the record and returns its trace. */
export function traceWrite(
	record: WriteRecord,
	{ verb, changes, shards }: WriteDescription,
	{
		field,
		isBrief,
		parent,
	}: {
		/** The schema coordinate of the field that writes. */
		readonly field: string;
		/** As in `Trace`. */
		readonly isBrief: boolean;
		/** The span of the step; null if the request is not sampled. */
		readonly parent: Span | null;
	},
): WriteTrace {
	record.runs++;
	record.unfinished++;
	for (const shard of shards) record.shards.add(shard);
	const span =
		parent?.start(`write ${verb}`, "internal", {
			"corkboard.write.changes": [...changes],
			"corkboard.shards": [...shards],
		}) ?? null;
	let retries = 0;
	return {
		span,
		isBrief,
		statement: (statement) => void record.statements.push(statement),
		failure(host, failure, ms) {
			record.failures.push({ host, failure, ms });
		},
		retry(reason) {
			retries++;
			record.retries.push(reason);
			publishMutationRetry(field, reason);
		},
		grouped(others) {
			record.grouped += others;
		},
		cache(layer, keys, ok) {
			const key = `${layer} ${ok}`;
			const sum = (record.caches.get(key)?.keys ?? 0) + keys;
			record.caches.set(key, { layer, keys: sum, ok });
		},
		fail(thrown) {
			record.endedAt = performance.now();
			record.unfinished--;
			countError(record.errors, thrown, 1);
			span?.end(asCorkboardError(thrown).code, {
				"corkboard.write.retries": retries,
			});
		},
		end({ rowsWritten, outbox }) {
			record.endedAt = performance.now();
			record.unfinished--;
			record.rowsWritten += rowsWritten;
			const parts = Object.entries(outbox);
			if (parts.length > 0) record.undelivered++;
			for (const [part, count] of parts) {
				record.outbox.set(part, (record.outbox.get(part) ?? 0) + count);
			}
			span?.end(null, {
				"corkboard.write.rows": rowsWritten,
				"corkboard.write.retries": retries,
				"corkboard.write.outbox": parts.map(
					([part, count]) => `${part}: ${count}`,
				),
			});
		},
		delivered() {
			record.undelivered--;
		},
	};
}

function publishMutationRetry(coordinate: string, reason: RetryReason): void {
	if (!PLAN_CHANNELS.mutationRetry.hasSubscribers) return;
	const field = coordinate.slice(coordinate.indexOf(".") + 1);
	PLAN_CHANNELS.mutationRetry.publish({
		field,
		reason,
	});
}

export function explainWrite(record: WriteRecord): ExplainWrite {
	const { description, unfinished, retries, grouped, outbox, caches } = record;
	return {
		verb: description.verb,
		unfinished,
		retries: [...retries],
		grouped,
		outboxEntries: [...outbox].map(([kind, count]) => ({ kind, count })),
		delivered: outbox.size > 0 && record.undelivered === 0,
		caches: [...caches.values()],
	};
}
