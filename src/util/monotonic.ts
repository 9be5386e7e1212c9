/** Milliseconds of a clock that only goes forward, the same for all threads of the process. */
export function monotonicMs(): number {
	return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
