export interface ImportProgress {
	readonly lines: number;
	readonly bytes?: number;
	readonly totalBytes?: number;
	/** Lines, since the start. */
	readonly perSecond: number;
	/** Where the source's length is known. */
	readonly secondsLeft?: number;
}

const INTERVAL_MS = 500;

/** Tells of progress, but not more often than anybody could read. */
export function createProgressReporter(
	tell: ((progress: ImportProgress) => void) | undefined,
	totalBytes: number | undefined,
): (lines: number, bytes: number | undefined) => void {
	const began = performance.now();
	let told = began;
	return (lines, bytes) => {
		const now = performance.now();
		if (tell === undefined || now - told < INTERVAL_MS) return;
		told = now;
		const seconds = (now - began) / 1_000;
		const isTimed =
			bytes !== undefined && bytes > 0 && totalBytes !== undefined;
		tell({
			lines,
			...(bytes !== undefined && { bytes }),
			...(totalBytes !== undefined && { totalBytes }),
			perSecond: lines / seconds,
			...(isTimed && {
				secondsLeft: Math.max(0, seconds * (totalBytes / bytes - 1)),
			}),
		});
	};
}
