/** Lines of aligned columns. The first row is the head; a column that is empty below it is left out. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
	const [head = [], ...body] = rows;
	const used = [...head.keys()].filter((at) =>
		body.some((row) => row[at] !== ""),
	);
	const widths = new Map(
		used.map((at) => [
			at,
			Math.max(...rows.map((row) => (row[at] ?? "").length)),
		]),
	);
	return rows.map((row) =>
		used
			.map((at) => (row[at] ?? "").padEnd(widths.get(at) ?? 0))
			.join("  ")
			.trimEnd(),
	);
}
