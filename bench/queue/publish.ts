import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cell } from "./cell.ts";
import { LOAD_NAMES, type LoadName } from "./loads/names.ts";
import type { QueueResults } from "./report.ts";
import { writeReport } from "./report.ts";
import { SYSTEM_NAMES } from "./systems.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "bench/results/queue.md";
const BEGIN = "<!-- results of the benchmark of the queue -->";
const END = "<!-- end of results -->";

/** Makes the results of one or several runs the ones that the documentation shows. A later run's take the place of an earlier one's load. */
export function publish(folders: readonly string[]): string {
	const page = readFileSync(join(ROOT, PAGE), "utf8");
	const from = page.indexOf(BEGIN);
	const to = page.indexOf(END, from);
	if (from < 0 || to < 0) throw new Error(`${PAGE} has no place for results.`);
	const report = writeReport(merged(folders.map(read)));
	// Under a title of its own, one level down.
	const body = report
		.slice(report.indexOf("\n") + 1)
		.replaceAll(/^## /gm, "### ")
		.trim();
	writeFileSync(
		join(ROOT, PAGE),
		`${page.slice(0, from + BEGIN.length)}\n\n${body}\n\n${page.slice(to)}`,
	);
	return PAGE;
}

function read(folder: string): QueueResults {
	const text = readFileSync(join(folder, "results.json"), "utf8");
	return JSON.parse(text) as QueueResults;
}

function merged(runs: readonly QueueResults[]): QueueResults {
	const [first] = runs;
	if (first === undefined) throw new Error("There are no results to publish.");
	/** By load: the last run that measured it. */
	const cells = new Map<LoadName, readonly Cell[]>();
	for (const run of runs) {
		for (const [load, some] of Map.groupBy(run.cells, ({ load }) => load)) {
			cells.set(load, some);
		}
	}
	return {
		...first,
		options: {
			...first.options,
			loads: LOAD_NAMES.filter((load) => cells.has(load)),
			systems: SYSTEM_NAMES,
		},
		cells: [...cells.values()].flat(),
		notes: runs.flatMap(({ notes }) => notes),
	};
}
