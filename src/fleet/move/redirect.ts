import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import {
	type MoveFacts,
	moveFactsIn,
	otherSide,
	type Wave,
	withWave,
} from "../operations/moveFacts.ts";
import { transition, undoOf } from "../operations/moveTable.ts";
import {
	needsNoRunner,
	Operation,
	requireRecord,
} from "../operations/operations.ts";
import type { LookOptions } from "../operations/signOfLife.ts";
import { type MoveOptions, requireRunning } from "./moveRun.ts";
import { type MoveResult, moveResult } from "./result.ts";
import { runMove } from "./runMove.ts";
import { wish } from "./wishes.ts";

/** How long the runner of a move may take to leave it. Milliseconds. */
const LEAVE_MS = 60_000;
const LOOK_MS = 250;

/** What is changed of a move whose waves are over, or on their way. Throws CONFLICT if it cannot be. */
type Change = (facts: MoveFacts, id: string) => Partial<MoveFacts>;

const canReturn = ({ state }: Wave) => undoOf(state) === "reverse";
const canBeCancelled = ({ state }: Wave) => undoOf(state) === "cancel";

/** All waves that have switched go back, with what was written since; those that wait are given up. */
export function reverseMove(
	options: MoveOptions & LookOptions,
	id: string,
	{ keepsWay }: { readonly keepsWay: boolean },
): Promise<MoveResult> {
	return redirect(options, id, "goes back", (facts) => {
		const gone = facts.waves.filter(canReturn);
		const [first] = gone;
		if (first === undefined)
			throw nothing(id, "has switched, so nothing goes back");
		const isReversing =
			facts.goal === "reverse" && gone.some(({ at }) => at !== facts.aim);
		return {
			goal: "reverse",
			keepsWay,
			// One that was interrupted continues.
			aim: isReversing ? facts.aim : otherSide(first.at),
		};
	});
}

/** One wave that has switched goes back for good, counted from 1; the others stay, with their way back. */
export function reverseWave(
	options: MoveOptions & LookOptions,
	id: string,
	number: number,
): Promise<MoveResult> {
	return redirect(options, id, `wave ${number} goes back`, (facts) => {
		const { waves } = facts;
		const wave = waves[number - 1];
		if (wave === undefined) {
			throw new CorkboardError(
				"NOT_FOUND",
				`${id} has no wave ${number}, but ${waves.length} of them.`,
			);
		}
		requireOver(facts, id, wave);
		if (!canReturn(wave)) {
			throw new CorkboardError(
				"CONFLICT",
				`Wave ${number} of ${id} cannot go back: it is ${wave.state}.`,
			);
		}
		// One that was interrupted continues.
		const alone = wave.alone ?? otherSide(wave.at);
		const { waves: changed } = withWave(facts, number - 1, { alone });
		return { goal: "move", waves: changed };
	});
}

/** Shows that the way back works, and drops the former copies: the end of a move. */
export function completeMove(
	options: MoveOptions & LookOptions,
	id: string,
	{ skipsRehearsal }: { readonly skipsRehearsal: boolean },
): Promise<MoveResult> {
	return redirect(options, id, "completes", (facts) => {
		requireOver(facts, id);
		return { goal: "complete", skipsRehearsal };
	});
}

/** Drops what was copied of waves that did not switch. */
export function cancelMove(
	options: MoveOptions & LookOptions,
	id: string,
): Promise<MoveResult> {
	return redirect(options, id, "is cancelled", ({ waves }) => {
		if (waves.some(canBeCancelled)) return { goal: "cancel" };
		throw nothing(id, "waits: what has switched comes back with moves reverse");
	});
}

/** Continues one that is paused, or that nobody runs. */
export async function resumeMove(
	options: MoveOptions & LookOptions,
	id: string,
): Promise<MoveResult> {
	const { store } = options;
	await requireMove(options, id);
	await wish(store, id, () => ({ isPaused: false }));
	for (;;) {
		await using operation = await Operation.tryTakeOver(store, id, options);
		if (operation !== null) return await runMove(options, operation);
		const { record } = await requireRecord(store, id);
		// Its runner continues within a second; the guard of one that has died does not.
		if (record.step !== "lifting") return moveResult(record);
		requireRunning(options, id);
		await sleep(LOOK_MS);
	}
}

/** Continues one that nobody runs any more; null: somebody does, or it is over. */
export async function continueMove(
	options: MoveOptions & LookOptions,
	id: string,
): Promise<MoveResult | null> {
	const { record } = await requireMove(options, id);
	if (needsNoRunner(record.step)) return null;
	await using operation = await Operation.tryTakeOver(
		options.store,
		id,
		options,
	);
	return operation === null ? null : await runMove(options, operation);
}

/** Lets one more wave switch, or all. Returns how many may then. */
export async function allowCutOver(
	{ store }: Pick<MoveOptions, "store">,
	id: string,
	all: boolean,
): Promise<number> {
	const { record } = await requireMove({ store }, id);
	const { waves, aim } = moveFactsIn(record);
	const over = waves.filter(
		({ at, switches }) => at === aim && switches > 0,
	).length;
	const { allowed } = await wish(store, id, () => ({
		allowed: all ? waves.length : over + 1,
	}));
	return allowed;
}

/** The same with one that this process has taken over. */
export async function abortMove(
	options: MoveOptions,
	operation: Operation,
): Promise<MoveResult> {
	const { id } = operation.record;
	const move = moveFactsIn(operation.record);
	if (!move.waves.some(canBeCancelled)) {
		throw nothing(id, "waits: what has switched comes back with moves reverse");
	}
	await operation.save({ move: { ...move, goal: "cancel" } }, "is cancelled");
	return await runMove(options, operation);
}

/** Asks its runner to leave it, takes it over, and does something else with it. */
async function redirect(
	options: MoveOptions & LookOptions,
	id: string,
	line: string,
	change: Change,
): Promise<MoveResult> {
	const { store } = options;
	const { record } = await requireMove(options, id);
	change(moveFactsIn(record), id);
	if (options.isDryRun) return moveResult(record);
	await wish(store, id, () => ({ isLeaving: true }));
	await using operation = await leftBy(options, id);
	const move = { ...moveFactsIn(operation.record) };
	const patch = { move: { ...move, ...change(move, id) } };
	const { step } = operation.record;
	if (step === "way open") {
		const { step: next = step } = transition("begun", step, null);
		await operation.lockAgain({ ...patch, step: next }, line);
	} else await operation.save(patch, line);
	return await runMove(options, operation);
}

async function leftBy(
	{ store, onStep, ...look }: MoveOptions & LookOptions,
	id: string,
): Promise<Operation> {
	const until = performance.now() + LEAVE_MS;
	for (;;) {
		const operation = await Operation.tryTakeOver(store, id, look);
		if (operation !== null) return operation;
		if (performance.now() > until) {
			throw new CorkboardError(
				"CONFLICT",
				`The runner of ${id} did not leave it within ${LEAVE_MS / 1_000} s. It continues as it was.`,
			);
		}
		await onStep?.("waits for its runner to leave it", id);
		await sleep(LOOK_MS);
	}
}

/** The record of a move that is not over. Throws NOT_FOUND and CONFLICT. */
export async function requireMove(
	{ store }: Pick<MoveOptions, "store">,
	id: string,
): ReturnType<typeof requireRecord> {
	const found = await requireRecord(store, id);
	if (found.record.kind === "move") return found;
	throw new CorkboardError(
		"CONFLICT",
		`${id} is no move, but a ${found.record.kind}.`,
	);
}

/** Throws CONFLICT if waves are not yet on the side that they are to be on; `but` does not count. */
function requireOver({ waves, aim }: MoveFacts, id: string, but?: Wave): void {
	const waiting = waves.filter(
		(wave) =>
			wave !== but &&
			(wave.state === "waiting" ||
				(wave.state === "parked" && wave.at !== (wave.alone ?? aim))),
	);
	if (waiting.length === 0) return;
	throw new CorkboardError(
		"CONFLICT",
		`${waiting.length} of ${waves.length} waves of ${id} have not switched. Let them switch first: corkboard moves resume ${id}. Or give those up: corkboard moves cancel ${id}.`,
	);
}

function nothing(id: string, what: string): CorkboardError {
	return new CorkboardError("CONFLICT", `No wave of ${id} ${what}.`);
}
