import { setTimeout as sleep } from "node:timers/promises";
import {
	isSettledStep,
	Operation,
	requireRecord,
} from "../operations/operations.ts";
import { lift } from "./cutOver.ts";
import { type MoveOptions, openRun } from "./moveRun.ts";
import { readWishes } from "./wishes.ts";

const LOOK_MS = 100;
/** A runner that is so much over its time stands still. Milliseconds. */
const GRACE_MS = 1_000;

export interface GuardOptions
	extends Pick<MoveOptions, "store" | "environment" | "onStep"> {
	/** Whether the process that runs the move is known to have ended. */
	readonly isOrphaned: () => boolean;
	readonly signal: AbortSignal;
}

/**
 * Lifts the fences of a move whose runner has died, or stands still beyond the
 * pause that it may make. It is a process beside the runner, which learns of its
 * end at once, because the server of a fence does not learn of it at all, and the
 * fence may not go by itself: after a publication whose answer was lost it is what
 * keeps writes away from the former copy. Returns when nobody runs the move here
 * any more; whether it has lifted something.
 */
export async function guardMove(
	options: GuardOptions,
	id: string,
): Promise<boolean> {
	const { store, isOrphaned, signal } = options;
	let seen = "";
	let since = 0;
	for (;;) {
		// Asked first: what the runner wrote before its end is read then.
		const isAlone = isOrphaned();
		let found: Awaited<ReturnType<typeof requireRecord>> | null = null;
		try {
			found = await requireRecord(store, id);
		} catch {
			// The store is away: nothing can be lifted without it.
		}
		if (found !== null) {
			const { record, revision } = found;
			if (isSettledStep(record.step)) return false;
			const mayBeFenced =
				record.step === "cutting over" || record.step === "lifting";
			if (revision !== seen) since = performance.now();
			seen = revision;
			const { maxPauseMs } = await readWishes(store, id);
			const isLate = performance.now() - since > maxPauseMs + GRACE_MS;
			if (mayBeFenced && (isAlone || isLate)) {
				await liftFor(options, id);
				return true;
			}
			if (isAlone) return false;
		}
		if (signal.aborted) return false;
		await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
	}
}

/** Its runner is not asked for signs of life: what it still does fails on the record. */
async function liftFor(options: GuardOptions, id: string): Promise<void> {
	const { store, environment, onStep } = options;
	await using operation = await Operation.takeOver(store, id, {
		holderMs: 0,
		lookMs: 0,
	});
	await using run = await openRun(
		{ store, environment, ...(onStep && { onStep }) },
		operation,
	);
	await lift(run, "its runner has ended or stands still", {
		isTakenOver: true,
	});
}
