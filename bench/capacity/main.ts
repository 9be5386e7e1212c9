/**
 * Works out a fleet from the inputs of inputs.ts, and prints it as the tables of
 * bench/results/capacity.md:
 *
 *     npm run bench -- capacity             prints them
 *     npm run bench -- capacity --write  puts them into the page
 *
 * Change an input, run it, and read what it means. A test holds the page to it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Limit, limitsOf, movesOf, rowsOf, workOut } from "./fleet.ts";
import { INPUTS, type Input, values } from "./inputs.ts";

export const PAGE = join(import.meta.dirname, "../results/capacity.md");
const BEGIN = "<!-- tables: npm run bench -- capacity --write -->";
const END = "<!-- end of tables -->";

/** The tables, as bench/results/capacity.md has them. */
export function capacityTables(): string {
	const v = values();
	const fleet = workOut(v);
	const [rows, limits] = [rowsOf(v, fleet), limitsOf(v, fleet)];
	const headroom = ({ used, limit }: Limit) => limit / used;
	return [
		"### Inputs",
		"",
		"| input | value | source |",
		"|---|---:|---|",
		...Object.values(INPUTS).map(
			({ what, value, unit, source, note }: Input) =>
				`| ${what} | ${spelled(value)}${unit === "" ? "" : ` ${unit}`} | ${source}${note === undefined ? "" : `: ${note}`} |`,
		),
		"",
		"### The fleet",
		"",
		"| | formula | |",
		"|---|---|---:|",
		...rows.map(
			({ what, formula, value, unit }) =>
				`| ${what} | ${formula} | ${spelled(value)}${unit === "" ? "" : ` ${unit}`} |`,
		),
		"",
		"### Moving half of a full host",
		"",
		"| | formula | load 10 | load 25 |",
		"|---|---|---:|---:|",
		...movesOf(v, fleet).map(
			({ what, formula, values: [one, other], unit }) =>
				`| ${what}${unit === "" ? "" : `, ${unit}`} | ${formula} | ${spelled(one)} | ${spelled(other)} |`,
		),
		"",
		"### What breaks first",
		"",
		"| resource | needed | there is | times | what then |",
		"|---|---:|---:|---:|---|",
		...limits
			.toSorted((a, b) => headroom(a) - headroom(b))
			.map(
				(row) =>
					`| ${row.what} | ${spelled(row.used)} | ${spelled(row.limit)} | ${spelled(headroom(row))} | ${row.remedy} |`,
			),
	].join("\n");
}

/** The page, with the tables as they are now. */
export function pageWithTables(page: string): string {
	const from = page.indexOf(BEGIN);
	const to = page.indexOf(END);
	if (from < 0 || to < from)
		throw new Error(`${PAGE} has no place for tables.`);
	return `${page.slice(0, from + BEGIN.length)}\n\n${capacityTables()}\n\n${page.slice(to)}`;
}

function spelled(value: number): string {
	if (value >= 1e15) return `${digits(value / 1e15)} × 10¹⁵`;
	if (value >= 1e12) return `${digits(value / 1e12)} × 10¹²`;
	if (value >= 1e9) return `${digits(value / 1e9)} billion`;
	if (value >= 1e6) return `${digits(value / 1e6)} million`;
	return digits(value);
}

/** Three digits that count. */
function digits(value: number): string {
	if (value >= 1_000) {
		const rounded = Number(value.toPrecision(3));
		return (value < 100_000 ? Math.round(value) : rounded).toLocaleString(
			"en-US",
		);
	}
	return String(Number(value.toPrecision(3)));
}

export async function run(args: readonly string[]): Promise<number> {
	if (args.includes("--write")) {
		writeFileSync(PAGE, pageWithTables(readFileSync(PAGE, "utf8")));
	} else {
		console.log(capacityTables());
	}
	return 0;
}
