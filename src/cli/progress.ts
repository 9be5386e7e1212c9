import type { Io } from "./io.ts";

export interface Progress {
	/** The last line shown is overwritten by this one, where somebody watches. */
	show(text: string): void;
	/** The last line is left as it is. */
	end(): void;
}

/** In a log, a line at most so often (ms). */
const SELDOM_MS = 5_000;

/** How far something long is, on stderr. */
export function showProgress(io: Io): Progress {
	let logged = performance.now();
	let width = 0;
	return {
		show(text) {
			if (io.watched) {
				io.errRaw(`\r${text.padEnd(width)}`);
				width = text.length;
			} else if (performance.now() - logged >= SELDOM_MS) {
				logged = performance.now();
				io.err(text);
			}
		},
		end() {
			if (width > 0) io.errRaw("\n");
			width = 0;
		},
	};
}

/** 30,000 lines, 1,200 a second, 1:15 left */
export function pace(progress: {
	readonly lines: number;
	readonly perSecond: number;
	readonly secondsLeft?: number;
}): string {
	const { lines, perSecond, secondsLeft } = progress;
	const rate = `${count(lines)} lines, ${count(Math.round(perSecond))} a second`;
	if (secondsLeft === undefined) return rate;
	const left = Math.round(secondsLeft);
	return `${rate}, ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
}

/** 116372 as 116,372. */
export function count(number: number): string {
	return number.toLocaleString("en-US");
}
