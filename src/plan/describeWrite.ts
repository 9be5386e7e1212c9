import type { ErrorCount } from "./errorCounts.ts";
import type { ExplainWrite, OutboxEntryCount } from "./explainWrite.ts";

/** What became of a write, in a few words each: for a terminal and for the Explain view. */
export function describeWrite(write: ExplainWrite): readonly string[] {
	const {
		unfinished,
		retries: again,
		grouped: together,
		outboxEntries: owes,
		delivered: paid,
		caches,
	} = write;
	const debts = owes.map(debt).join(", ");
	const words = [
		unfinished === 0 ? null : `${unfinished} not waited for any longer`,
		again.length === 0
			? null
			: `run again ${count(again.length, "time")}: ${reasons(again)}`,
		together === 0 ? null : `together with ${count(together, "other")}`,
		debts === ""
			? null
			: `owes ${debts}, ${paid ? "paid at once" : "left to the sweeper"}`,
		...caches.map(
			({ layer, verb, keys, ok }) =>
				`${layer} ${ok ? DONE[verb] : `did not ${verb}`} ${count(keys, "key")}`,
		),
	];
	return words.filter((word) => word !== null);
}

/** What each kind of write does. */
export const WRITE_VERBS = {
	transaction: "transaction",
	reservation: "natural keys reserved or released",
	outbox: "delivered outbox entries deleted",
	invalidation: "cache keys deleted again",
} as const satisfies Readonly<Record<ExplainWrite["verb"], string>>;

const DONE = { bury: "buried", clear: "cleared" };

const REASONS: Readonly<Record<ExplainWrite["retries"][number], string>> = {
	conflict: "met another write",
	lost: "connection was dead",
	readOnly: "host took no writes",
};

const DEBTS: Readonly<Record<string, string>> = {
	edges: "edge",
	pendingObjects: "pending object",
	reservations: "reservation",
	lookups: "lookup",
	invalidations: "cache key",
};

function debt({ kind, count: number }: OutboxEntryCount): string {
	return count(number, DEBTS[kind] ?? kind);
}

function reasons(again: ExplainWrite["retries"]): string {
	return [...new Set(again)].map((why) => REASONS[why]).join(", ");
}

export function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** `2 failed (UNAVAILABLE, db00003.sqlite)` */
export function describeErrors(
	failures: readonly ErrorCount[],
): readonly string[] {
	return failures.map(
		({ code, host, count }) =>
			`${count} failed (${[code, host].filter(Boolean).join(", ")})`,
	);
}
