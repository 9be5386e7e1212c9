import { isFeedShard, shardInIds } from "../../storage/feedShards.ts";
import type { RetryReason } from "../../trace.ts";
import { plural } from "../../util/format.ts";
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

/** Why a step read more rows than it has results. */
interface Surplus {
	/** `4 edges read ahead` */
	readonly fact: string;
	readonly why: string;
}

const AHEAD =
	"One edge more than a page decides whether another page follows, and a list is read and cached 4, 12, 32 edges deep, or deeper.";
const HIDDEN =
	"The edges lead to objects that the viewer may not see. The page was filled up with the edges after them.";
const DECIDING =
	"What the viewer may see depends on an object's parents and owner, so they are read too. An object that turns out to be hidden was also read.";
const SHARED =
	"Steps of one level share statements, and so do requests of one moment. Each reports all rows.";

/** Nothing for a step that read no more than its results. If caches had a part of the results, the numbers are the least possible. */
export function explainSurplus(step: ExplainStep): readonly Surplus[] {
	const { kind, statements, results, hiddenEdges } = step;
	if (kind !== "scan" && kind !== "fetch") return [];
	const rowsOf = (verb: string) =>
		statements
			.filter(({ name, shared }) => name.startsWith(verb) && !shared)
			.reduce((sum, { rows }) => sum + rows, 0);
	const fetched =
		kind === "fetch"
			? results
			: step.steps
					.filter(({ withPage }) => withPage)
					.reduce((sum, one) => sum + one.results, 0);
	const ahead = kind === "scan" ? rowsOf("scan") - results - hiddenEdges : 0;
	const deciding = rowsOf("objects") - fetched;
	const shared = statements
		.filter((one) => one.shared)
		.reduce((sum, { rows }) => sum + rows, 0);
	return [
		[ahead, `${plural(ahead, "edge")} read ahead`, AHEAD] as const,
		[hiddenEdges, `${plural(hiddenEdges, "edge")} hidden`, HIDDEN] as const,
		[
			deciding,
			`${plural(deciding, "object")} read to decide what is visible`,
			DECIDING,
		] as const,
		[shared, `${plural(shared, "row")} shared`, SHARED] as const,
	]
		.filter(([count]) => count > 0)
		.map(([, fact, why]): Surplus => ({ fact, why }));
}

/** `shard 1 7, mod shard 12`; above `most` numbers, how many. Empty if nothing was read from a shard. */
export function describeShards(
	{ shards, modShards }: Pick<ExplainStep, "shards" | "modShards">,
	most: number,
): string {
	return (
		[
			[shards.filter((shard) => !isFeedShard(shard)), "shard"],
			[shards.filter(isFeedShard).map(shardInIds), "feed"],
			[modShards, "mod shard"],
		] as const
	)
		.filter(([numbers]) => numbers.length > 0)
		.map(([numbers, noun]) =>
			numbers.length > most
				? plural(numbers.length, noun)
				: `${noun} ${numbers.join(" ")}`,
		)
		.join(", ");
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
	for (const { layer, keys, ok } of caches) {
		const acknowledged = ok ? "" : ", not acknowledged";
		phrases.push(`${layer}: ${plural(keys, "deleted key")}${acknowledged}`);
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

const RETRY_REASONS: Readonly<Record<RetryReason, string>> = {
	deadlock: "deadlock with another write",
	lockWait: "waited too long for another write",
	shared: "another write of its transaction failed",
	connectionLost: "connection lost",
	readOnly: "host is read-only",
	moved: "tables are not on the host",
};

const OUTBOX_PARTS: Readonly<Record<string, readonly [string, string?]>> = {
	edges: ["edge"],
	pendingObjects: ["pending object"],
	reservations: ["reservation"],
	releases: ["released reservation"],
	lookups: ["natural key"],
	jobs: ["job"],
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
