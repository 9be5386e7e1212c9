import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { mayBeFenced } from "../operations/moveTable.ts";
import { isUnknownRecord } from "../operations/operationRecord.ts";
import {
	isTakenOver,
	needsNoRunner,
	Operation,
	requireRecord,
} from "../operations/operations.ts";
import { lift } from "./cutOver.ts";
import { type MoveOptions, openRun } from "./moveRun.ts";
import { readWishes } from "./wishes.ts";

const LOOK_MS = 100;
/** If writes have waited for so much longer than they may, the runner is paused. Milliseconds. */
const GRACE_MS = 1_000;
/** How long the guard waits for a store or a server that is away. Milliseconds. */
const ALONE_MS = 600_000;

interface GuardOptions
	extends Pick<MoveOptions, "store" | "environment" | "onStep"> {
	/** Whether the guarded process holds the operation under this name. */
	readonly isRunner: (holder: string) => boolean;
	/** Whether that process is known to have ended. */
	readonly isOrphaned: () => boolean;
	readonly signal: AbortSignal;
}

/**
 * Lifts the fences of a move whose runner has died, or is paused for longer than
 * writes may wait. The guard is a process beside the runner, and learns at once that
 * the runner has ended. The server that has the fence would not learn of it. And a
 * fence may not end with the runner's session: if the answer to a publication was
 * lost, the fence is what keeps writes away from the former copy.
 *
 * Returns when nobody runs the move here any more, with whether it has lifted something.
 */
export async function guardMove(
	options: GuardOptions,
	id: string,
): Promise<boolean> {
	const { store, isRunner, isOrphaned, signal } = options;
	let isAway = awayFor(ALONE_MS);
	let seen = "";
	let since = 0;
	let wasOpen = false;
	for (;;) {
		// Asked first: what the runner wrote before its end is read then.
		const isAlone = isOrphaned();
		try {
			const { record, revision } = await requireRecord(store, id);
			// The runner may be about to open the move again, as `moves reverse` does.
			const isSettled = needsNoRunner(record.step);
			if (isSettled && (isAlone || wasOpen)) return false;
			wasOpen ||= !isSettled;
			// If another process has the move, such as another guard, that one lifts the fences.
			const isOurs = isRunner(record.holder) && mayBeFenced(record.step);
			if (revision !== seen) since = performance.now();
			seen = revision;
			const { maxPauseMs } = await readWishes(store, id);
			isAway = awayFor(ALONE_MS);
			const isLate = performance.now() - since > maxPauseMs + GRACE_MS;
			if (isOurs && (isAlone || isLate)) return await liftFor(options, id);
			if (isAlone) return false;
		} catch (thrown) {
			// A later version runs it, and guards it.
			if (isUnknownRecord(thrown)) return false;
			// A runner that was late may have been faster, with a sign of life too.
			const isOvertaken =
				thrown instanceof CorkboardError && thrown.code === "CONFLICT";
			if (!isAway(thrown) && !isOvertaken) throw thrown;
		}
		if (signal.aborted) return false;
		await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
	}
}

/** Its runner is not asked for signs of life: what it still does fails on the record. */
async function liftFor(options: GuardOptions, id: string): Promise<boolean> {
	const { store, environment, onStep, signal } = options;
	await using operation = await Operation.takeOver(store, id, {
		holderMs: 0,
		lookMs: 0,
	});
	await using run = await openRun(
		{ store, environment, ...(onStep && { onStep }) },
		operation,
	);
	const isAway = awayFor(ALONE_MS);
	for (;;) {
		try {
			await lift(run, "its runner has ended or is paused", {
				isTakenOver: true,
			});
			return true;
		} catch (thrown) {
			// Somebody continues with it.
			if (isTakenOver(thrown)) return false;
			if (!isAway(thrown) || signal.aborted) throw thrown;
		}
		await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
	}
}

/** Says of each failure whether it may pass: the store or a server is away, and not for longer than this. */
function awayFor(ms: number): (thrown: unknown) => boolean {
	let since: number | null = null;
	return (thrown) => {
		since ??= performance.now();
		return (
			thrown instanceof CorkboardError &&
			thrown.code === "UNAVAILABLE" &&
			performance.now() - since < ms
		);
	};
}
