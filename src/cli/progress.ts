import { formatNumber } from "../util/format.ts";
import type { CommandContext } from "./commandContext.ts";

interface ProgressLine {
	/** Prints a line over the previous one on a terminal; elsewhere a line every few seconds. */
	update(text: string): void;
	/** Leaves the last line as it is. */
	end(): void;
}

/** Between two lines where stderr is not a terminal. Milliseconds. */
const LOG_INTERVAL_MS = 5_000;

/** Progress of a long command, on stderr. */
export function createProgressLine(context: CommandContext): ProgressLine {
	let logged = performance.now();
	let width = 0;
	return {
		update(text) {
			if (context.isTerminal) {
				context.stderrRaw(`\r${text.padEnd(width)}`);
				width = text.length;
			} else if (performance.now() - logged >= LOG_INTERVAL_MS) {
				logged = performance.now();
				context.stderr(text);
			}
		},
		end() {
			if (width > 0) context.stderrRaw("\n");
			width = 0;
		},
	};
}

/** `30,000 lines, 1,200 per second, 1:15 left` */
export function formatPace(progress: {
	readonly lines: number;
	readonly perSecond: number;
	readonly secondsLeft?: number;
}): string {
	const { lines, perSecond, secondsLeft } = progress;
	const rate = `${formatNumber(lines)} lines, ${formatNumber(Math.round(perSecond))} per second`;
	if (secondsLeft === undefined) return rate;
	const left = Math.round(secondsLeft);
	return `${rate}, ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
}
