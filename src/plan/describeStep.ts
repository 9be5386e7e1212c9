import type { RetryReason } from "../diagnostics.ts";
import { plural } from "../util/format.ts";
import type {
	ErrorCount,
	ExplainStep,
	ExplainWrite,
	OutboxEntryCount,
} from "./explainOutput.ts";

const INPUTS = { scan: "list", fetch: "id", call: "parent", write: "write" };
const RESULTS = { scan: "edge", fetch: "object", call: "value", write: "row" };

/** `3 lists → 12 edges` */
export function describeFlow({ kind, parents, results }: ExplainStep): string {
	return `${plural(parents, INPUTS[kind])} → ${plural(results, RESULTS[kind])}`;
}

/** What a write did, one phrase each: for a terminal and for the Explain view. */
export function describeWrite(write: ExplainWrite): readonly string[] {
	const { unfinished, retries, grouped, outboxEntries, caches } = write;
	const phrases: string[] = [];
	if (unfinished > 0) phrases.push(`${unfinished} still running`);
	if (retries.length > 0) {
		const reasons = new Set(retries.map((reason) => RETRY_REASONS[reason]));
		phrases.push(
			`${plural(retries.length, "retry", "retries")}: ${[...reasons].join(", ")}`,
		);
	}
	if (grouped > 0) {
		phrases.push(`grouped with ${plural(grouped, "other write")}`);
	}
	if (outboxEntries.length > 0) {
		const parts = outboxEntries.map(describeOutboxPart).join(", ");
		phrases.push(
			`outbox: ${parts}, ${write.delivered ? "delivered" : "pending"}`,
		);
	}
	for (const { layer, verb, keys, ok } of caches) {
		const acknowledged = ok ? "" : ", not acknowledged";
		phrases.push(
			`${layer}: ${plural(keys, CACHE_WRITES[verb])}${acknowledged}`,
		);
	}
	return phrases;
}

/** What each kind of write does. */
export const WRITE_VERBS = {
	transaction: "transaction",
	reservation: "reserve or release natural keys",
	outbox: "delete delivered outbox entries",
	invalidation: "retry cache invalidations",
} as const satisfies Readonly<Record<ExplainWrite["verb"], string>>;

const CACHE_WRITES = { tombstone: "tombstone", delete: "deleted key" };

const RETRY_REASONS: Readonly<Record<RetryReason, string>> = {
	conflict: "conflict with another write",
	connectionLost: "connection lost",
	readOnly: "host is read-only",
};

const OUTBOX_PARTS: Readonly<Record<string, readonly [string, string?]>> = {
	edges: ["edge"],
	pendingObjects: ["pending object"],
	reservations: ["reservation"],
	releases: ["released reservation"],
	lookups: ["natural key"],
	invalidations: ["cache invalidation"],
};

function describeOutboxPart({ kind, count }: OutboxEntryCount): string {
	return plural(count, ...(OUTBOX_PARTS[kind] ?? [kind, kind]));
}

/** `2 errors (UNAVAILABLE, db00003.sqlite)` */
export function describeErrors(
	errors: readonly ErrorCount[],
): readonly string[] {
	return errors.map(
		({ code, host, count }) =>
			`${plural(count, "error")} (${[code, host].filter(Boolean).join(", ")})`,
	);
}
