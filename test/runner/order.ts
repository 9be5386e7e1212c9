/** How long (s) a file has to take to be among the slowest. */
const SLOW_S = 10;

/** The files that took long, the slowest first. */
export function slowestOf(
	seconds: ReadonlyMap<string, number>,
): readonly string[] {
	return [...seconds]
		.filter(([, took]) => took >= SLOW_S)
		.toSorted(([, a], [, b]) => b - a)
		.map(([file]) => file);
}

/** Files in the order to start them in, each once: started last, a slow file would run alone, on one core. */
export function slowestFirst(
	files: readonly string[],
	slowest: readonly string[],
): readonly string[] {
	const first = new Set(slowest.filter((file) => files.includes(file)));
	return [...first, ...files.filter((file) => !first.has(file))];
}
