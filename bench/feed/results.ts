/** One line of a table of the report. */
export interface Measurement {
	readonly part: PartName;
	/** What was measured. */
	readonly name: string;
	/** By column, with the unit in its name. */
	readonly values: Readonly<Record<string, number>>;
}

export interface FeedResults {
	readonly when: string;
	readonly users: number;
	readonly pins: number;
	readonly follows: number;
	readonly measurements: readonly Measurement[];
}

export const PARTS = {
	rows: "Rows that one MySQL host takes into pools, four workers with 50 jobs each",
	lag: "From the commit of a pin until a page of its followers has it, over HTTP, the outbox, the queue and two workers",
	page: "A page of 20 pins with owners and boards over HTTP, one request at a time, no whole answers cached",
	read: "Pages of 20 pins in one process with four readers: the home feed beside one SQL statement over follows",
	bytes: "Disk of a user with 500 pins that wait and 1,000 that were shown",
	limit:
		"The push limit: pins pushed to followers or read by those who look, one worker",
} as const;
export type PartName = keyof typeof PARTS;
export const PART_NAMES = Object.keys(PARTS) as readonly PartName[];

/** Tables of Markdown, one a part. */
export function markdownOf({
	measurements,
	users,
	pins,
	follows,
}: FeedResults): string {
	const parts = PART_NAMES.flatMap((part) => {
		const lines = measurements.filter((one) => one.part === part);
		if (lines.length === 0) return [];
		const columns = [
			...new Set(lines.flatMap(({ values }) => Object.keys(values))),
		];
		const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
		return [
			`${PARTS[part]}:`,
			"",
			row(["", ...columns]),
			row(["---", ...columns.map(() => "---:")]),
			...lines.map(({ name, values }) =>
				row([
					name,
					...columns.map((column) => printed(values[column] ?? Number.NaN)),
				]),
			),
			"",
		];
	});
	return [
		`${printed(users)} users, ${printed(pins)} pins, ${printed(follows)} follows.`,
		"",
		...parts,
	].join("\n");
}

function printed(value: number): string {
	if (Number.isNaN(value)) return "";
	if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
	return value.toFixed(Number.isInteger(value) ? 0 : value < 10 ? 2 : 1);
}

/** The value below which that part of the numbers is. */
export function percentile(numbers: readonly number[], part: number): number {
	const sorted = numbers.toSorted((a, b) => a - b);
	const at = Math.min(sorted.length - 1, Math.floor(sorted.length * part));
	return sorted[at] ?? 0;
}
