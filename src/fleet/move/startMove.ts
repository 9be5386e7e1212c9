import { nameOf } from "../map/mapRanges.ts";
import type { MoveFacts } from "../operations/moveFacts.ts";
import { beginOperation } from "../operations/operations.ts";
import { type FoundMove, newWave } from "./findMove.ts";
import type { MoveOptions } from "./moveRun.ts";
import type { MoveResult } from "./result.ts";
import { runMove } from "./runMove.ts";
import { firstWishes, type Wishes } from "./wishes.ts";

/** Begins a move, and runs it until all waves are over and parked. Throws CONFLICT with all faults: nothing has changed then. */
export async function startMove(
	options: MoveOptions,
	found: FoundMove,
	faults: readonly string[],
	wishes: Partial<Wishes> = {},
): Promise<MoveResult> {
	const { from, to } = found;
	const alsoLocks = [from.replica, to.replica].flatMap((url) =>
		url === null ? [] : [nameOf(url)],
	);
	return beginOperation(
		options,
		{
			kind: "move",
			from: from.name,
			to: to.name,
			alsoLocks,
			move: factsOf(found),
		},
		faults,
		(operation) => runMove(options, operation),
		(id) => [firstWishes(id, wishes)],
	);
}

function factsOf({ list, from, to, waves }: FoundMove): MoveFacts {
	return {
		list,
		from,
		to,
		waves: waves.map(newWave),
		goal: "move",
		aim: "to",
		keepsWay: true,
		skipsRehearsal: false,
	};
}
