import type { Io } from "./io.ts";

/** At most so often (ms) a line of progress is written: for eyes, and for a log. */
const OFTEN_MS = 200;
const SELDOM_MS = 5_000;

export interface Progress {
	/** So many done; `fraction` of the whole, if that is known. */
	show(done: number, fraction?: number): void;
	/** The last line is left as it is. */
	end(): void;
}

/** How far something long is, with its rate and the time left, on stderr: one line that is overwritten where somebody watches. */
export function showProgress(
	io: Io,
	what: string,
	now: () => number = () => performance.now(),
): Progress {
	const started = now();
	let shown = started;
	let width = 0;
	return {
		show(done, fraction) {
			const time = now();
			if (time - shown < (io.watched ? OFTEN_MS : SELDOM_MS)) return;
			shown = time;
			const text = progressLine(what, done, fraction, (time - started) / 1_000);
			if (!io.watched) return io.err(text);
			io.errRaw(`\r${text.padEnd(width)}`);
			width = text.length;
		},
		end() {
			if (width > 0) io.errRaw("\n");
			width = 0;
		},
	};
}

export function progressLine(
	what: string,
	done: number,
	fraction: number | undefined,
	seconds: number,
): string {
	const rate = `${count(done)} ${what}, ${count(Math.round(done / seconds))} a second`;
	if (!fraction) return rate;
	const left = Math.round((seconds * (1 - fraction)) / fraction);
	return `${rate}, ${Math.floor(fraction * 100)} %, ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
}

/** 116372 as 116,372. */
export function count(number: number): string {
	return number.toLocaleString("en-US");
}
