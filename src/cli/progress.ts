import type { CommandContext } from "./commandContext.ts";

export interface ProgressLine {
	/** The last line shown is overwritten by this one, where somebody watches. */
	update(text: string): void;
	/** The last line is left as it is. */
	end(): void;
}

/** In a log, a line at most so often (ms). */
const SELDOM_MS = 5_000;

/** How far something long is, on stderr. */
export function createProgressLine(io: CommandContext): ProgressLine {
	let logged = performance.now();
	let width = 0;
	return {
		update(text) {
			if (io.isTerminal) {
				io.stderrRaw(`\r${text.padEnd(width)}`);
				width = text.length;
			} else if (performance.now() - logged >= SELDOM_MS) {
				logged = performance.now();
				io.stderr(text);
			}
		},
		end() {
			if (width > 0) io.stderrRaw("\n");
			width = 0;
		},
	};
}

/** 30,000 lines, 1,200 a second, 1:15 left */
export function formatPace(progress: {
	readonly lines: number;
	readonly perSecond: number;
	readonly secondsLeft?: number;
}): string {
	const { lines, perSecond, secondsLeft } = progress;
	const rate = `${formatCount(lines)} lines, ${formatCount(Math.round(perSecond))} a second`;
	if (secondsLeft === undefined) return rate;
	const left = Math.round(secondsLeft);
	return `${rate}, ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
}

/** 116372 as 116,372. */
export function formatCount(number: number): string {
	return number.toLocaleString("en-US");
}
