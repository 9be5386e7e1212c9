import type { MoveResult } from "../fleet/move/result.ts";
import type { Wave } from "../fleet/operations/moveFacts.ts";
import { compact } from "../util/compact.ts";
import { formatShards } from "./values.ts";

/** What an operator reads of a move, by its record. */
export function describeMove({
	operation,
	step,
	list,
	from,
	to,
	version,
	waves,
}: MoveResult): readonly string[] {
	const range = rangeOf(waves);
	const what = `${list} ${formatShards(range)}`;
	const late = waves.flatMap((wave) => wave.late);
	return compact([
		`${operation}: ${standing(step, what, from, to, waves)}`,
		version !== null && `published version ${version} last`,
		...pauseLines(waves),
		late.length > 0 &&
			`${late.length} late transactions on the former copy, of processes that had been paused: ${late.join(", ")}`,
		step === "way open" &&
			`the way back is open: corkboard moves reverse ${operation}; or drop the former copies: corkboard moves complete ${operation}`,
	]);
}

function standing(
	step: MoveResult["step"],
	what: string,
	from: string,
	to: string,
	waves: readonly Wave[],
): string {
	const stayed = waves.filter(({ at }) => at === "from");
	switch (step) {
		case "done":
			if (stayed.length > 0) {
				const ranges = stayed.map(({ range }) => formatShards(range));
				return `${what} are on ${to}, but ${ranges.join(", ")} on ${from}; no former copy is left`;
			}
			return `${what} are on ${to}, and nothing of them is left on ${from}`;
		case "rolled back":
			return `${what} are on ${from}, and nothing of them is left on ${to}`;
		case "way open":
			return `${what}: all waves between ${from} and ${to} are over`;
		default:
			return `${what} from ${from} to ${to}: ${step}`;
	}
}

/** `4 of 16 waves switched; writes paused 84 ms, at most 212 ms` */
export function pauseLines(waves: readonly Wave[]): readonly string[] {
	const pauses = waves.flatMap((wave) => wave.pauses).toSorted((a, b) => a - b);
	if (pauses.length === 0) return [];
	const median = pauses[Math.floor((pauses.length - 1) / 2)];
	return [
		`${waves.filter(({ switches }) => switches > 0).length} of ${waves.length} waves switched; writes to one waited ${median} ms (p50), at most ${pauses.at(-1)} ms`,
	];
}

/** All shards of a move. */
export function rangeOf(waves: readonly Wave[]): readonly [number, number] {
	return [waves[0]?.range[0] ?? 0, waves.at(-1)?.range[1] ?? 0];
}
