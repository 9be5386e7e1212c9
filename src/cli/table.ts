import { AsyncLocalStorage } from "node:async_hooks";

/** How wide a table may be. `-o wide` lifts it. */
const TABLE_COLUMNS = 100;
/** No column is cut to less. */
const LEAST_COLUMNS = 12;

const widest = new AsyncLocalStorage<number>();

/** Runs `body`, whose tables may be as wide as their cells. */
export function withWideTables<T>(body: () => T): T {
	return widest.run(Number.POSITIVE_INFINITY, body);
}

/**
 * Lines of aligned columns. The first row is the head; a column that is empty
 * below it is left out. The first column names the row, so it stays whole; if the
 * others are too wide together, the widest of them are cut.
 */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
	const [head = [], ...body] = rows;
	const used = [...head.keys()].filter((at) =>
		body.some((row) => row[at] !== ""),
	);
	const widths = fitted(
		used.map((at) => Math.max(...rows.map((row) => (row[at] ?? "").length))),
		widest.getStore() ?? TABLE_COLUMNS,
	);
	return rows.map((row) =>
		used
			.map((at, nth) => {
				const cell = row[at] ?? "";
				const width = widths[nth] ?? 0;
				return cell.length > width
					? `${cell.slice(0, width - 1)}…`
					: cell.padEnd(width);
			})
			.join("  ")
			.trimEnd(),
	);
}

/** The widths of columns, those of the widest reduced until a line fits. */
function fitted(wanted: readonly number[], most: number): readonly number[] {
	const widths = [...wanted];
	const between = 2 * (widths.length - 1);
	let excess = widths.reduce((sum, width) => sum + width, between) - most;
	for (; excess > 0; excess--) {
		const others = widths.slice(1);
		const wide = Math.max(0, ...others);
		if (wide <= LEAST_COLUMNS) break;
		widths[others.indexOf(wide) + 1] = wide - 1;
	}
	return widths;
}
