/** Upper bounds of histograms. Seconds: from a hit in memory to the deadline of a request. */
export const REQUEST_SECONDS = [
	0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
	10,
];
/** Seconds: of a statement, or of a call of a cache. */
export const CALL_SECONDS = [
	0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
	2.5, 5,
];
/** Points (docs/guarantees.md). */
export const COST_POINTS = [
	1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000,
];
/** Seconds: of a job, from a hint to an hour. */
export const JOB_SECONDS = [
	0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
	3_600,
];
