import type { MoveReport, MoveStatus } from "../fleet/move/moveStatus.ts";
import type { MoveResult } from "../fleet/move/result.ts";
import type { Wave } from "../fleet/operations/moveFacts.ts";
import { isSettledStep } from "../fleet/operations/operations.ts";
import { formatSeconds, formatShards } from "./values.ts";

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
	return [
		`${operation}: ${standing(step, what, from, to)}`,
		...(version === null ? [] : [`published version ${version} last`]),
		...pauseLines(waves),
		...(late.length === 0
			? []
			: [
					`${late.length} late transactions on the former copy, of processes that had stood still: ${late.join(", ")}`,
				]),
		...(step === "way open"
			? [
					`the way back is open: corkboard move reverse ${operation}; or drop the former copies: corkboard move complete ${operation}`,
				]
			: []),
	];
}

function standing(
	step: MoveResult["step"],
	what: string,
	from: string,
	to: string,
): string {
	switch (step) {
		case "done":
			return `${what} are on ${to}, and nothing of them is left on ${from}`;
		case "rolled back":
			return `${what} are on ${from}, and nothing of them is left on ${to}`;
		case "way open":
			return `${what}: all waves between ${from} and ${to} are over`;
		default:
			return `${what} from ${from} to ${to}: ${step}`;
	}
}

/** `4 of 16 waves went over; writes paused 84 ms, at most 212 ms` */
export function pauseLines(waves: readonly Wave[]): readonly string[] {
	const pauses = waves.flatMap((wave) => wave.pauses).toSorted((a, b) => a - b);
	if (pauses.length === 0) return [];
	const median = pauses[Math.floor((pauses.length - 1) / 2)];
	return [
		`${waves.filter(({ flips }) => flips > 0).length} of ${waves.length} waves went over; writes to one waited ${median} ms (p50), at most ${pauses.at(-1)} ms`,
	];
}

/** All shards of a move. */
export function rangeOf(waves: readonly Wave[]): readonly [number, number] {
	return [waves[0]?.range[0] ?? 0, waves.at(-1)?.range[1] ?? 0];
}

/** What `move status` prints. */
export function statusLines(status: MoveStatus): readonly string[] {
	const { operation, step, list, from, to, waves, running, wayBack } = status;
	const over = waves.filter(({ flips }) => flips > 0).length;
	const at =
		running === null ? "" : `wave ${running.wave + 1} of ${waves.length}, `;
	const days = (seconds: number) => `${(seconds / 86_400).toFixed(1)} days`;
	const late = waves.flatMap((wave) => wave.late);
	return [
		`${operation}: ${list} ${formatShards(rangeOf(waves))} from ${from} to ${to}: ${at}step ${step}${status.goal === "move" ? "" : `, on its way to ${status.goal}`}`,
		...pauseLines(waves),
		...(running === null ? [] : runningLines(running)),
		waitingLine(status),
		...(late.length === 0
			? []
			: [
					`${late.length} late transactions on former copies: ${late.join(", ")}`,
				]),
		wayBack.waves === 0
			? `way back: none is needed, ${over} waves went over`
			: `way back: open for ${wayBack.waves} waves, ${wayBack.seconds === null ? "as long as the binary log is kept" : `${days(wayBack.seconds)} of binary log from each flip on`}`,
		...status.log.map((line) => `  ${line}`),
	];
}

function runningLines(running: MoveReport): readonly string[] {
	const { tables, rows, lagMs, verified, differences } = running;
	const share = Math.round(running.throttledShare * 100);
	return [
		`${running.step}: ${tables.copied} of ${tables.total} tables copied, ${rows.copied} of about ${rows.total} rows, ${rows.perSecond} rows/s${running.secondsLeft === null ? "" : `, about ${formatSeconds(running.secondsLeft)} left`}`,
		`stream ${lagMs === null ? "not there yet" : `${Math.round(lagMs)} ms behind`}, ${verified.tables} of ${verified.total} tables verified (${differences} differences)`,
		`throttled ${share} % of the time${running.throttledBy === null ? "" : `, now by ${running.throttledBy}`}`,
	];
}

function waitingLine({
	operation,
	step,
	isHeld,
	holder,
	running,
	wishes,
}: MoveStatus): string {
	if (isSettledStep(step)) {
		return step === "way open"
			? `waits for you: corkboard move complete ${operation}, or corkboard move reverse ${operation}`
			: "over";
	}
	if (!isHeld) {
		return `nobody runs it (${holder} did): corkboard move resume ${operation}`;
	}
	if (wishes.isPaused) return `paused: corkboard move resume ${operation}`;
	return `waits for ${running?.waitsFor ?? "nothing"}; run by ${holder}`;
}
