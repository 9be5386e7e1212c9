import type { Note } from "./trialJobs.ts";

/** What worker processes noted, one after the other. */
export interface WorkerNotes {
	readonly name: string;
	readonly notes: readonly Note[];
	/** When it ended; null: it did not. */
	readonly endedAt: number | null;
	/** When it was paused: signals, and what it saw by itself. */
	readonly still: readonly (readonly [from: number, until: number])[];
}

/** A change of a job's state, as a trigger of the table recorded it in the same transaction. */
export interface StateChange {
	/** The job's local id. */
	readonly local: string;
	readonly was: number;
	readonly is: number;
	/** The claim before, and when it was to end: milliseconds. */
	readonly claim: string;
	readonly until: number;
	/** When it happened, by the server's clock. Milliseconds. */
	readonly at: number;
}

/** What the driver knows of one job that it asked for. */
export interface AskedJob {
	readonly n: number;
	/**
	 * - `acknowledged`: it has to run.
	 * - `unknown`: it may.
	 * - `refused`: its write was not committed, so it must not.
	 */
	readonly outcome: "acknowledged" | "unknown" | "refused";
	readonly from: "call" | "outbox";
}

export interface Evidence {
	readonly asked: readonly AskedJob[];
	readonly workers: readonly WorkerNotes[];
	readonly changes: readonly StateChange[];
	/** Whether no job was left: if some are, none can be said to be lost. */
	readonly isOver: boolean;
	/** The local id of a job's id. */
	readonly localOf: (id: string) => string;
}

export interface Findings {
	readonly runs: number;
	/** Jobs that were started more than once. */
	readonly startedAgain: number;
	/** Two starts of a job at the same time, of which the first one's process had been paused past its claim. */
	readonly overlaps: number;
	readonly violations: readonly string[];
}

interface Run {
	readonly n: number;
	readonly local: string;
	readonly worker: WorkerNotes;
	readonly from: number;
	readonly until: number;
	readonly isDone: boolean;
}

const PENDING = 0;
const RUNNING = 1;
/** Clocks of processes of one machine are read to the millisecond, and a note is written after its moment. */
const CLOCK_MS = 20;

/** Compares what ran with what was asked for. */
export function examine(evidence: Evidence): Findings {
	const violations: string[] = [];
	const runs = evidence.workers.flatMap((worker) =>
		runsOf(worker, evidence.localOf),
	);
	const byJob = Map.groupBy(runs, ({ n }) => n);
	for (const { n, outcome, from } of evidence.asked) {
		const own = byJob.get(n) ?? [];
		const isDone = own.some((run) => run.isDone);
		if (evidence.isOver && outcome === "acknowledged" && !isDone) {
			violations.push(
				`lost: job ${n} (${from}) was acknowledged and never ran to its end (${own.length} starts)`,
			);
		}
		if (outcome === "refused" && own.length > 0) {
			violations.push(
				`a job without its write: ${n} ran, and its write was not committed`,
			);
		}
	}
	const changesOf = Map.groupBy(evidence.changes, ({ local }) => local);
	violations.push(...checkClaims(changesOf));
	let overlaps = 0;
	for (const own of byJob.values()) {
		const ordered = own.toSorted((one, other) => one.from - other.from);
		for (const [index, later] of ordered.entries()) {
			for (const earlier of ordered.slice(0, index)) {
				if (earlier.until <= later.from + CLOCK_MS) continue;
				const problem = judgeOverlap(
					earlier,
					later,
					changesOf.get(earlier.local) ?? [],
				);
				if (problem === null) overlaps++;
				else violations.push(problem);
			}
		}
	}
	return {
		runs: runs.length,
		startedAgain: [...byJob.values()].filter(({ length }) => length > 1).length,
		overlaps,
		violations,
	};
}

function runsOf(
	worker: WorkerNotes,
	localOf: Evidence["localOf"],
): readonly Run[] {
	const open = new Map<string, Note & { readonly kind: "start" }>();
	const runs: Run[] = [];
	const close = (
		start: Note & { readonly kind: "start" },
		until: number,
		isDone: boolean,
	) => {
		const { n, id, at } = start;
		runs.push({ n, local: localOf(id), worker, from: at, until, isDone });
	};
	for (const note of worker.notes) {
		if (!("n" in note)) continue;
		const key = `${note.n} ${note.attempt}`;
		if (note.kind === "start") open.set(key, note as never);
		else {
			const start = open.get(key);
			if (start !== undefined) close(start, note.at, note.kind === "end");
			open.delete(key);
		}
	}
	for (const start of open.values()) {
		close(start, worker.endedAt ?? Number.POSITIVE_INFINITY, false);
	}
	return runs;
}

/** Between two claims of a job the first one has ended. */
function checkClaims(
	changesOf: ReadonlyMap<string, readonly StateChange[]>,
): readonly string[] {
	const violations: string[] = [];
	for (const [local, changes] of changesOf) {
		for (const [index, { was, is }] of changes.entries()) {
			const before = changes[index - 1];
			if (before !== undefined && is === RUNNING && before.is === RUNNING) {
				violations.push(`two claims: job ${local} was claimed while claimed`);
			}
			if (is === RUNNING && was !== PENDING) {
				violations.push(`job ${local} was claimed in state ${was}`);
			}
		}
	}
	return violations;
}

/** Null if the earlier one's claim was over, and its process had been paused past it. */
function judgeOverlap(
	earlier: Run,
	later: Run,
	changes: readonly StateChange[],
): string | null {
	const what = `job ${later.n} began in ${later.worker.name} at ${later.from} while it ran in ${earlier.worker.name} since ${earlier.from}`;
	const history = `; all claims of the job: ${JSON.stringify(changes)}`;
	// Others may have claimed it and given it back since.
	const claimed = changes.findLastIndex(
		({ is, at }) => is === RUNNING && at <= earlier.from + CLOCK_MS,
	);
	const ended = claimed === -1 ? undefined : changes[claimed + 1];
	if (ended === undefined || ended.at > later.from + CLOCK_MS) {
		return `run twice: ${what}, and its claim had not ended${history}`;
	}
	if (ended.until > ended.at + CLOCK_MS) {
		return `run twice: ${what}: its claim, valid for ${Math.round(ended.until - ended.at)} ms more, was ended${history}`;
	}
	const stoodStill = earlier.worker.still.some(
		([from, until]) => from <= later.from && until >= ended.until - CLOCK_MS,
	);
	return stoodStill
		? null
		: `overlap: ${what}, though its process had not been paused when its claim ended at ${ended.until}${history}`;
}
