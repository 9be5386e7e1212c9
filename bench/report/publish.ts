import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QUERY_NAMES } from "../queries.ts";
import type { Results } from "../results.ts";
import type { VariantName } from "../variants.ts";
import { writeReport } from "./markdown.ts";
import { cellsOf, overBestPeer } from "./statistics.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "docs/performance.md";
const README = "README.md";
const BEGIN = "<!-- results of the benchmark -->";
const END = "<!-- end of results -->";
const CHART = "docs/images/performance.svg";

const HOW = `How to measure it again, on your machine, and how to read the tables:

    npm run bench                  about ten minutes; -- --quick takes about two
    npm run bench -- --minutes 60 --warm 10 --scale 0.4
    npm run bench -- --curves      how the cost grows with lists, depth, shards and graph
    npm run bench:guard            what one request takes: statements, cache commands, cursors, promises, bytes
    npm run bench:pairs            what metrics, traces, another setting or another checkout add to the CPU of a request

- Each server is one process. Load, databases and caches share the other cores, so requests per second of servers that ask a database
  more are bound by the database: compare the CPU of the server process.
- Q1 reads a pin, Q2 a board with 25 pins, their owners and cursors, Q3 a profile with ten boards of ten pins with like counts and three
  likers, Q4 the pins of ten followed users. Keys follow Zipf's law with exponent 0.9.
- Corkboard keeps whole answers of requests that come again, as long as nothing that they were read from has changed
  (\`CORKBOARD_ANSWER_CACHE_MB\`). The row "no whole answers kept" executes every request.
- Before the first round every server gets mixed load, those with a cache in the process three times as much as the others. The rows "cold" come last, because they empty the caches.
- [Where the time goes](profiles.md) has a profile of what misses its goal, and what would change it.
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
	const readme = readFileSync(join(ROOT, README), "utf8");
	const from = readme.indexOf(BEGIN);
	const to = readme.indexOf(END);
	if (from < 0 || to < from) return [PAGE, CHART];
	writeFileSync(
		join(ROOT, README),
		`${readme.slice(0, from + BEGIN.length)}\n${summary(results)}\n${readme.slice(to)}`,
	);
	return [PAGE, CHART, README];
}

const SUMMARY: readonly (readonly [
	section: string,
	variant: VariantName,
	title: string,
])[] = [
	["reads", "text", "any document"],
	["reads", "known", "a known document"],
	["hot", "known", "a known document, 30 objects over and over"],
	["reads", "mysql", "MySQL alone, no caches"],
];

/** The chart, and how many times cheaper than the best peer Corkboard is. */
function summary({ cells }: Results): string {
	const rows = SUMMARY.map(([section, variant, title]) => {
		const ratios = QUERY_NAMES.map((query) =>
			overBestPeer(cellsOf(cells, section, query), variant),
		);
		return { title, ratios };
	}).filter(({ ratios }) => ratios.every((found) => found !== null));
	return [
		"",
		"![CPU time per request of Corkboard and its peers](docs/images/performance.svg)",
		"",
		"| CPU per request: the cheapest peer's over Corkboard's | a pin | a board | a profile | followees' pins |",
		"|---|---:|---:|---:|---:|",
		...rows.map(
			({ title, ratios }) =>
				`| ${title} | ${ratios.map((found) => `${found?.median.toFixed(1)} ×`).join(" | ")} |`,
		),
		"",
	].join("\n");
}
