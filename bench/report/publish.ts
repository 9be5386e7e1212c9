import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "../results.ts";
import { writeReport } from "./markdown.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "docs/performance.md";
const CHART = "docs/images/performance.svg";

const HOW = `How to measure it again, on your machine, and how to read the tables:

    npm run bench                  about ten minutes; -- --quick takes 90 seconds
    npm run bench -- --minutes 60 --warm 10 --scale 0.4
    npm run bench -- --curves      how the cost grows with lists, depth, shards and graph
    npm run bench:guard            what one request takes: statements, cache commands, cursors, promises, bytes

- Each server is one process. Load, databases and caches share the other cores, so requests per second of servers that ask a database
  more are bound by the database: compare the CPU of the server process.
- Q1 reads a pin, Q2 a board with 25 pins, their owners and cursors, Q3 a profile with ten boards of ten pins with like counts and three
  likers, Q4 the pins of ten followed users. Keys follow Zipf's law with exponent 0.9.
- The peers are servers that many teams run or would write, tuned as their documentation says ([\`bench/peers\`](../bench/peers/README.md)).
  They check no visibility and have no cache, so they serve every change at once; Corkboard's guarantees are in
  [guarantees](guarantees.md) and [consistency](consistency.md).
`;

/** Makes a run's results the ones that the documentation shows. */
export function publish(folder: string): readonly string[] {
	const results = JSON.parse(
		readFileSync(join(folder, "results.json"), "utf8"),
	) as Results;
	const report = writeReport(results, ["images/performance.svg"]);
	// Under a title of its own.
	const body = report.slice(report.indexOf("\n") + 1);
	const page = `# Performance\n\n${HOW}${body}`;
	writeFileSync(join(ROOT, PAGE), `${page.trimEnd()}\n`);
	copyFileSync(join(folder, "cpu.svg"), join(ROOT, CHART));
	return [PAGE, CHART];
}
