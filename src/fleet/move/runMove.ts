import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { RunTrace } from "../../traces/runTrace.ts";
import { Pace } from "../../util/pace.ts";
import { dropFerryCopies, forgetFerry } from "../ferry/ferryState.ts";
import { agreed } from "../map/barrier.ts";
import { otherSide } from "../operations/moveFacts.ts";
import {
	endOf,
	mayBeFenced,
	nextTask,
	type Task,
} from "../operations/moveTable.ts";
import { isOver, type Operation } from "../operations/operations.ts";
import { lift } from "./cutOver.ts";
import { databasesOf } from "./findMove.ts";
import { carryOutbox, lateTransactions } from "./lateWrites.ts";
import {
	ferryName,
	type MoveOptions,
	type MoveRun,
	openRun,
} from "./moveRun.ts";
import { dropHostDatabases } from "./newHost.ts";
import { dropEmptyParks, dropParked, park } from "./park.ts";
import { type MoveResult, moveResult } from "./result.ts";
import { type Ended, rehearse, switchWave } from "./switchWave.ts";
import { forgottenWishes, wish } from "./wishes.ts";
import { WishWatcher } from "./wishWatcher.ts";

const AGREE_MS = 30_000;
/** The disk of a host that serves others gets as much time for itself as the drop of a table took, but no more than this. Milliseconds. */
const MOST_PAUSE_MS = 1_000;

/**
 * Moves shards to other hosts (docs/how-to/move-shards.md), wave by wave, and back, as
 * `moveTable.ts` says. What is to be done is in the record, and what was done is looked
 * at, so another runner continues from there. A wave is served by one side at any time:
 * it changes with one write of the store, under a fence that MySQL keeps, and its
 * former copy stays until `complete` has shown that it could be used.
 */
export async function runMove(
	options: MoveOptions,
	operation: Operation,
): Promise<MoveResult> {
	const { id, from, to } = operation.record;
	const trace = new RunTrace(options.traces?.begin("move") ?? null);
	const attributes = {
		"corkboard.operation.id": id,
		"corkboard.move.from": from,
		"corkboard.move.to": to,
	};
	return trace.run(attributes, () => runTasks(options, operation, trace));
}

async function runTasks(
	options: MoveOptions,
	operation: Operation,
	trace: RunTrace,
): Promise<MoveResult> {
	await using run = await openRun(options, operation, trace);
	const { step } = operation.record;
	if (step === "way open") return moveResult(operation.record);
	await operation.keepLocks();
	// If a command asked the former runner to leave, it runs the move itself now.
	await wish(options.store, operation.record.id, () => ({ isLeaving: false }));
	if (mayBeFenced(step)) {
		await lift(run, "the runner that began it has ended", {
			isTakenOver: true,
		});
	} else if (step === "locked") {
		await operation.save(run.after("begun", null), "begins");
	}
	const pace = new Pace({
		rowsPerSecond: null,
		bytesPerSecond: null,
		maxLagSeconds: 2,
	});
	await using watcher = await WishWatcher.begin(run, pace);
	for (const [index] of run.facts.waves.entries()) {
		for (;;) {
			const task = nextTask(run.wave(index), run.facts);
			if (task === null) break;
			run.requireRunning();
			const ended = watcher.now.isLeaving
				? "left"
				: await TASKS[task](run, index, pace, watcher);
			if (ended === "left") return moveResult(operation.record);
		}
	}
	await endMove(run);
	return moveResult(operation.record);
}

const TASKS: Readonly<
	Record<
		Task,
		(
			run: MoveRun,
			index: number,
			pace: Pace,
			watcher: WishWatcher,
		) => Promise<Ended>
	>
> = {
	switch: switchWave,
	park: parkWave,
	close: closeWave,
	cancel: (run, index) =>
		run.part("cancel", index, () => cancelWave(run, index)),
};

/** Gives the former copy another name, once all processes serve the map without it. */
async function parkWave(
	run: MoveRun,
	index: number,
	_: Pace,
	watcher: WishWatcher,
): Promise<Ended> {
	const { options, operation, facts, servers } = run;
	const wave = run.wave(index);
	const former = servers.at(otherSide(wave.at));
	const databases = databasesOf(facts.list, wave.range);
	const { settleMs } = watcher.now;
	if (settleMs > 0)
		run.report({ waitsFor: `${settleMs / 1_000} s (--settle)` });
	await run.part("watch", index, () => waitFor(run, settleMs));
	run.report({ waitsFor: `all processes to serve version ${wave.version}` });
	const agreement = await run.part("agree", index, () =>
		agreed(
			options.store,
			wave.version as number,
			options.agreeMs ?? AGREE_MS,
			options.signal === undefined ? {} : { signal: options.signal },
		),
	);
	if (agreement.missing.length > 0) {
		const [first] = agreement.missing;
		throw new CorkboardError(
			"UNAVAILABLE",
			`${agreement.missing.length} processes do not serve version ${wave.version} yet, such as ${first?.id}, so the former copies stay where they are, fenced. Continue when they do: corkboard operations resume ${operation.record.id}.`,
		);
	}
	run.report({ waitsFor: null });
	await run.happened("agreed", index);
	await operation.requireHeld();
	await run.part("park", index, () => park(former.primary, databases));
	await run.happened("renamed", index);
	const late = await lateTransactions(
		former.primary,
		databases,
		wave.left as string,
	);
	await carryOutbox(former.primary, servers.at(wave.at).primary, databases);
	await dropEmptyParks(servers.at(wave.at).primary, databases);
	await forgetFerry(
		servers.at(wave.at).primary,
		ferryName(run, index, wave.switches - 1),
	);
	await run.advance(
		"parked",
		index,
		late.length === 0
			? `${databases.length} former copies are parked on ${former.primary.name}`
			: `parked on ${former.primary.name}, after ${late.length} late transactions of processes that had been paused: ${late.join(", ")}`,
		{ late: [...wave.late, ...late] },
	);
	return "done";
}

/** Drops the former copy, after it was shown that it could take the place of the one in use. */
async function closeWave(
	run: MoveRun,
	index: number,
	pace: Pace,
	{ signal }: WishWatcher,
): Promise<Ended> {
	const { operation, facts, servers } = run;
	const wave = run.wave(index);
	const side = otherSide(wave.at);
	const former = servers.at(side).primary;
	const databases = databasesOf(facts.list, wave.range);
	if (wave.state !== "dropping") {
		if (!facts.skipsRehearsal) {
			await run.part("rehearse", index, () =>
				rehearse(run, index, pace, signal),
			);
			await run.happened("rehearsed", index);
		}
		// What is left of a copy that is half dropped cannot be rehearsed again.
		await run.advance("dropping", index, null);
	} else await operation.requireHeld();
	await run.part("drop", index, () =>
		dropParked(former, databases, (tookMs) =>
			waitFor(run, Math.min(tookMs, MOST_PAUSE_MS)),
		),
	);
	await forgetFerry(former, ferryName(run, index, wave.switches));
	await run.advance(
		"closed",
		index,
		`dropped the former copies of ${facts.list} ${wave.range.join(" to ")} on ${former.name}`,
	);
	return "done";
}

/** What was copied and never used. */
async function cancelWave(run: MoveRun, index: number): Promise<Ended> {
	const { operation, servers } = run;
	await operation.requireHeld();
	await dropFerryCopies(servers.to.primary, ferryName(run, index, 0));
	await run.advance("cancelled", index, null);
	return "done";
}

/** All waves are where they are to be. */
async function endMove(run: MoveRun): Promise<void> {
	const { operation, options, facts, servers } = run;
	if (isOver(operation.record)) return;
	const { waves } = facts;
	const end = endOf(waves);
	run.after(end, null);
	if (end === "way open") {
		await operation.end(end, "all waves are over; the way back is open");
		await run.say(end);
		return;
	}
	await dropHostDatabases(run);
	const wishes = await forgottenWishes(options.store, operation.record.id);
	const [from, to] = [servers.from.primary.name, servers.to.primary.name];
	const back = waves.filter(({ at }) => at === "from").length;
	await operation.end(
		end,
		end === "done"
			? `${waves.length - back} of ${waves.length} waves are on ${to}, ${back} on ${from}; nothing of them is left on the other`
			: `${facts.list} are on ${from}, as before`,
		wishes,
	);
	await run.say(end);
}

async function waitFor(run: MoveRun, ms: number): Promise<void> {
	await sleep(ms, undefined, {
		...(run.options.signal && { signal: run.options.signal }),
	}).catch(() => {});
	run.requireRunning();
}
