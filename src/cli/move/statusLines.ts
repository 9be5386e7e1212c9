import type { MoveReport, MoveStatus } from "../../fleet/move/moveStatus.ts";
import { needsNoRunner } from "../../fleet/operations/operations.ts";
import { compact } from "../../util/compact.ts";
import { plural } from "../../util/format.ts";
import { pauseLines, rangeOf } from "../describeMove.ts";
import { formatSeconds, formatShards } from "../values.ts";

/** What `moves show` prints. */
export function statusLines(status: MoveStatus): readonly string[] {
	const { operation, step, list, from, to, waves, running, wayBack } = status;
	const over = waves.filter(({ switches }) => switches > 0).length;
	const at =
		running === null ? "" : `wave ${running.wave + 1} of ${waves.length}, `;
	const days = (seconds: number) => `${(seconds / 86_400).toFixed(1)} days`;
	const late = waves.flatMap((wave) => wave.late);
	return compact([
		`${operation}: ${list} ${formatShards(rangeOf(waves))} from ${from} to ${to}: ${at}step ${step}${status.goal === "move" || needsNoRunner(step) ? "" : `, on its way to ${status.goal}`}`,
		...pauseLines(waves),
		...(running === null ? [] : runningLines(running)),
		waitingLine(status),
		late.length > 0 &&
			`${plural(late.length, "late transaction")} on former copies: ${late.join(", ")}`,
		wayBack.waves === 0
			? `way back: ${over === 0 ? "none is needed, no wave switched" : needsNoRunner(step) ? "closed" : "not open before the former copies are parked"}`
			: `way back: open for ${plural(wayBack.waves, "wave")}, ${wayBack.seconds === null ? "as long as the binary log is kept" : `${days(wayBack.seconds)} of binary log after each switch`}`,
		undoLine(status),
		...status.log.map((line) => `  ${line}`),
	]);
}

function runningLines(running: MoveReport): readonly string[] {
	const { tables, rows, lagMs, verified, differences } = running;
	const share = Math.round(running.throttledShare * 100);
	return [
		`${running.step}: ${tables.copied} of ${tables.total} tables copied, ${rows.copied} of about ${rows.total} rows, ${rows.perSecond} rows/s${running.secondsLeft === null ? "" : `, about ${formatSeconds(running.secondsLeft)} left`}`,
		`stream ${lagMs === null ? "not there yet" : `${Math.round(lagMs)} ms behind`}, ${verified.tables} of ${verified.total} tables verified (${plural(differences, "difference")})`,
		`throttled ${share} % of the time${running.throttledBy === null ? "" : `, now by ${running.throttledBy}`}`,
	];
}

/** What would undo it, before it is over. */
function undoLine({ operation, step, undo }: MoveStatus): string | false {
	if (needsNoRunner(step)) return false;
	const ways = compact([
		undo.cancel > 0 &&
			`corkboard moves cancel ${operation} drops what was copied of ${plural(undo.cancel, "wave")}`,
		undo.reverse > 0 &&
			`corkboard moves reverse ${operation} brings ${plural(undo.reverse, "wave")} back`,
	]);
	return ways.length > 0 && `undo: ${ways.join("; ")}`;
}

function waitingLine({
	operation,
	step,
	isHeld,
	holder,
	running,
	wishes,
}: MoveStatus): string {
	if (needsNoRunner(step)) {
		return step === "way open"
			? `waits for you: corkboard moves complete ${operation}, or corkboard moves reverse ${operation}`
			: "over";
	}
	if (!isHeld) {
		return `nobody runs it (${holder} did): corkboard moves resume ${operation}`;
	}
	if (wishes.isPaused) return `paused: corkboard moves resume ${operation}`;
	return `waits for ${running?.waitsFor ?? "nothing"}; run by ${holder}`;
}
