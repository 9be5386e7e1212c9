/**
 * Counts what requests take and compares it with the table of maxima:
 *
 *     npm run bench -- guard              prints both
 *     npm run bench -- guard --accept  makes the counts the maxima
 */
import { writeFileSync } from "node:fs";
import { countRequests } from "./count.ts";
import { compareCounts, LIMITS_FILE, readLimits } from "./limits.ts";

export async function run(args: readonly string[]): Promise<number> {
	const { requests, writes } = await countRequests();
	console.table(requests);
	console.table(writes);
	const table = { ...requests, ...writes };
	if (args.includes("--accept")) {
		writeFileSync(LIMITS_FILE, `${JSON.stringify(table, null, "\t")}\n`);
		console.log(`written to ${LIMITS_FILE}`);
		return 0;
	}
	const { above, below } = compareCounts(readLimits(), table);
	for (const sentence of [...above, ...below]) console.log(sentence);
	return above.length === 0 ? 0 : 1;
}
