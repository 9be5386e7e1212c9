/** Files in the order to start them in, each once: started last, a slow file would run alone, on one core. */
export function slowestFirst(
	files: readonly string[],
	slowest: readonly string[],
): readonly string[] {
	const first = new Set(slowest.filter((file) => files.includes(file)));
	return [...first, ...files.filter((file) => !first.has(file))];
}
