export interface ImportProgress {
	readonly lines: number;
	readonly bytes?: number;
	readonly totalBytes?: number;
	/** Lines, since the start. */
	readonly perSecond: number;
	/** Only if the size of the source is known. */
	readonly secondsLeft?: number;
}

const INTERVAL_MS = 500;

/** Reports progress at most every INTERVAL_MS. */
export function createProgressReporter(
	report: ((progress: ImportProgress) => void) | undefined,
	totalBytes: number | undefined,
): (lines: number, bytes: number | undefined) => void {
	const began = performance.now();
	let reportedAt = began;
	return (lines, bytes) => {
		const now = performance.now();
		if (report === undefined || now - reportedAt < INTERVAL_MS) return;
		reportedAt = now;
		const seconds = (now - began) / 1_000;
		const isTimed =
			bytes !== undefined && bytes > 0 && totalBytes !== undefined;
		report({
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
