import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "../results.ts";
import type { Cell } from "./cell.ts";
import type { Options } from "./options.ts";
import { writeReport } from "./report.ts";

/** All of a run, as `results.json` has it. */
export interface QueueResults {
	readonly at: string;
	readonly machine: Results["machine"];
	readonly options: Options;
	readonly cells: readonly Cell[];
	/** What was not measured, and why. */
	readonly notes: readonly string[];
	/** Why the run ended early; null if it did not. */
	readonly ended: string | null;
}

/** `results.json` and `report.md`, into a folder. */
export function writeResults(results: QueueResults, folder: string): void {
	writeFileSync(
		join(folder, "results.json"),
		`${JSON.stringify(results, null, "\t")}\n`,
	);
	writeFileSync(join(folder, "report.md"), writeReport(results));
}
