import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { QUERY_NAMES } from "../queries.ts";
import type { Results } from "../results.ts";
import { VARIANTS, type VariantName } from "../variants.ts";
import { writeReport } from "./markdown.ts";
import { cellsOf, spreadOf } from "./statistics.ts";
import { type BarPanel, barChart } from "./svg.ts";

const CHART: readonly (readonly [VariantName, string])[] = [
	["known", "#2da44e"],
	["text", "#57ab5a"],
	["mercurius", "#8b949e"],
	["postgraphile", "#8b949e"],
	["yoga", "#8b949e"],
	["drizzle", "#8b949e"],
];
const TITLES: Readonly<Record<(typeof QUERY_NAMES)[number], string>> = {
	q1: "Q1: a pin",
	q2: "Q2: a board with 25 pins",
	q3: "Q3: a profile, three levels",
	q4: "Q4: pins of ten followees",
};

/** `results.json`, `report.md` and the chart, into a folder. */
export function writeResults(results: Results, folder: string): void {
	const json = `${JSON.stringify(results, null, "\t")}\n`;
	writeFileSync(join(folder, "results.json"), json);
	const panels = QUERY_NAMES.map((query): BarPanel => {
		const cells = cellsOf(results.cells, "reads", query);
		return {
			title: TITLES[query],
			bars: CHART.flatMap(([variant, color]) => {
				const found = spreadOf(
					cells
						.filter((cell) => cell.variant === variant)
						.map(({ cpuMs }) => cpuMs),
				);
				if (found === null) return [];
				const { median: value, least, most } = found;
				const label = VARIANTS[variant].title.replace(
					"known document by POST",
					"known document",
				);
				return [{ label, value, range: [least, most] as const, color }];
			}),
		};
	}).filter(({ bars }) => bars.length > 0);
	const charts: string[] = [];
	if (panels.length > 0) {
		charts.push("cpu.svg");
		writeFileSync(
			join(folder, "cpu.svg"),
			barChart("CPU time of the server process per request", "ms", panels),
		);
	}
	writeFileSync(join(folder, "report.md"), writeReport(results, charts));
}
