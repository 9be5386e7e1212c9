import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type QueueResults, writeReport } from "./report.ts";

/** `results.json` and `report.md`, into a folder. */
export function writeResults(results: QueueResults, folder: string): void {
	writeFileSync(
		join(folder, "results.json"),
		`${JSON.stringify(results, null, "\t")}\n`,
	);
	writeFileSync(join(folder, "report.md"), writeReport(results));
}
