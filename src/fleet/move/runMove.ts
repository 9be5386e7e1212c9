import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { RunTrace } from "../../traces/runTrace.ts";
import { dropFerryCopies, forgetFerry } from "../ferry/ferryState.ts";
import { Pace } from "../ferry/pace.ts";
import { agreed } from "../map/barrier.ts";
import { otherSide, withWave } from "../operations/moveFacts.ts";
import { isOver, type Operation } from "../operations/operations.ts";
import { lift } from "./cutOver.ts";
import { databasesOf, nextStep } from "./findMove.ts";
import { flip, rehearse } from "./flip.ts";
import { carryOutbox, lateTransactions } from "./lateWrites.ts";
import { Looking } from "./looking.ts";
import {
	ferryName,
	type MoveOptions,
	type MoveRun,
	openRun,
} from "./moveRun.ts";
import { dropHostDatabases } from "./newHost.ts";
import { dropEmptyParks, dropParked, park } from "./park.ts";
import { type MoveResult, moveResult } from "./result.ts";
import { forgottenWishes, wish } from "./wishes.ts";

const AGREE_MS = 30_000;
/** The disk of a host that serves others gets as much time for itself as the drop of a table took, but no more than this. Milliseconds. */
const MOST_PAUSE_MS = 1_000;

/**
 * Moves shards to other hosts (docs/how-to/move-shards.md), wave by wave, and back.
 * What is to be done is in the record, and what was done is looked at: so whoever
 * goes on does so from where it is. A wave is served by one side at any time: it
 * changes with one write of the store, under a fence that MySQL keeps, and its
 * former copy stays until `complete` has shown that it could be used.
 */
export async function proceedMove(
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
	return trace.run(attributes, () => proceed(options, operation, trace));
}

async function proceed(
	options: MoveOptions,
	operation: Operation,
	trace: RunTrace,
): Promise<MoveResult> {
	await using run = await openRun(options, operation, trace);
	const { step } = operation.record;
	if (step === "way open") return moveResult(operation.record);
	await operation.keepLocks();
	// Whoever asked for it has it by now.
	await wish(options.store, operation.record.id, () => ({ isLeaving: false }));
	if (step === "cutting over" || step === "lifting") {
		await lift(run, "whoever began it has ended", { isTakenOver: true });
	} else if (step === "locked") {
		await operation.save({ step: "moving" }, "begins");
	}
	const pace = new Pace({
		rowsPerSecond: null,
		bytesPerSecond: null,
		maxLagSeconds: 2,
	});
	await using looking = await Looking.begin(run, pace);
	for (const [index] of run.facts.waves.entries()) {
		for (;;) {
			const next = nextStep(run.wave(index), run.facts);
			if (next === null) break;
			run.requireRunning();
			// Somebody waits for it, to do something else with it.
			if (looking.now.isLeaving) return moveResult(operation.record);
			if (next === "flip") {
				if (!(await flip(run, index, pace, looking)))
					return moveResult(operation.record);
			} else if (next === "park") await parkWave(run, index, looking);
			else if (next === "close")
				await closeWave(run, index, pace, looking.signal);
			else await run.part("cancel", index, () => cancelWave(run, index));
		}
	}
	await settle(run);
	return moveResult(operation.record);
}

/** Gives the former copy another name, once all processes serve the map without it. */
async function parkWave(
	run: MoveRun,
	index: number,
	looking: Looking,
): Promise<void> {
	const { options, operation, facts, servers } = run;
	const wave = run.wave(index);
	const former = servers.at(otherSide(wave.at));
	const databases = databasesOf(facts.list, wave.range);
	const { settleMs } = looking.now;
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
			`${agreement.missing.length} processes do not serve version ${wave.version} yet, such as ${first?.id}, so the former copies stay where they are, fenced. Go on when they do: corkboard operations resume ${operation.record.id}.`,
		);
	}
	run.report({ waitsFor: null });
	await run.onStep("agreed");
	await operation.requireHeld();
	await run.part("park", index, () => park(former.primary, databases));
	await run.onStep("renamed");
	const late = await lateTransactions(
		former.primary,
		databases,
		wave.left as string,
	);
	await carryOutbox(former.primary, servers.at(wave.at).primary, databases);
	await dropEmptyParks(servers.at(wave.at).primary, databases);
	await forgetFerry(
		servers.at(wave.at).primary,
		ferryName(run, index, wave.flips - 1),
	);
	await operation.save(
		{
			move: withWave(run.facts, index, {
				state: "parked",
				late: [...wave.late, ...late],
			}),
		},
		late.length === 0
			? `${databases.length} former copies are parked on ${former.primary.name}`
			: `parked on ${former.primary.name}, after ${late.length} late transactions of processes that had been paused: ${late.join(", ")}`,
	);
	await run.onStep("parked");
}

/** Drops the former copy, after it was shown that it could take the place of the one in use. */
async function closeWave(
	run: MoveRun,
	index: number,
	pace: Pace,
	signal: AbortSignal,
): Promise<void> {
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
			await run.onStep("rehearsed");
		}
		// What is left of a copy that is half dropped cannot be rehearsed again.
		await operation.save({
			move: withWave(run.facts, index, { state: "dropping" }),
		});
		await run.onStep("dropping");
	} else await operation.requireHeld();
	await run.part("drop", index, () =>
		dropParked(former, databases, (tookMs) =>
			waitFor(run, Math.min(tookMs, MOST_PAUSE_MS)),
		),
	);
	await forgetFerry(former, ferryName(run, index, wave.flips));
	await operation.save(
		{ move: withWave(run.facts, index, { state: "closed" }) },
		`dropped the former copies of ${facts.list} ${wave.range.join(" to ")} on ${former.name}`,
	);
	await run.onStep("closed");
}

/** What was copied and never used. */
async function cancelWave(run: MoveRun, index: number): Promise<void> {
	const { operation, servers } = run;
	await operation.requireHeld();
	await dropFerryCopies(servers.to.primary, ferryName(run, index, 0));
	await operation.save({
		move: withWave(run.facts, index, { state: "cancelled" }),
	});
	await run.onStep("cancelled");
}

/** All waves are where they are to be. */
async function settle(run: MoveRun): Promise<void> {
	const { operation, options, facts, servers } = run;
	if (isOver(operation.record)) return;
	const { waves } = facts;
	if (waves.some(({ state }) => state === "parked")) {
		await operation.end("way open", "all waves are over; the way back is open");
		await run.onStep("way open");
		return;
	}
	const isMoved = waves.some(
		({ state, at }) => state === "closed" && at === "to",
	);
	await dropHostDatabases(run);
	const wishes = await forgottenWishes(options.store, operation.record.id);
	const [from, to] = [servers.from.primary.name, servers.to.primary.name];
	const back = waves.filter(({ at }) => at === "from").length;
	await operation.end(
		isMoved ? "done" : "rolled back",
		isMoved
			? `${waves.length - back} of ${waves.length} waves are on ${to}, ${back} on ${from}; nothing of them is left on the other`
			: `${facts.list} are on ${from}, as before`,
		wishes,
	);
	await run.onStep("over");
}

async function waitFor(run: MoveRun, ms: number): Promise<void> {
	await sleep(ms, undefined, {
		...(run.options.signal && { signal: run.options.signal }),
	}).catch(() => {});
	run.requireRunning();
}
