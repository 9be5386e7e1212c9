import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QUERY_NAMES } from "../queries.ts";
import type { Results } from "../results.ts";
import type { VariantName } from "../variants.ts";
import { writeReport } from "./markdown.ts";
import { cellsOf, overBestPeer } from "./statistics.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "bench/results/performance.md";
const README = "README.md";
const CHART = "docs/images/performance.svg";

const INTRODUCTION =
	"[Performance](README.md) says how to measure this again and how to read the tables; [where the time goes](profiles.md) has a profile of what misses its goal.";

/** Makes a run's results the ones that bench/results and the README show. */
export function publish(folder: string): readonly string[] {
	const results = JSON.parse(
		readFileSync(join(folder, "results.json"), "utf8"),
	) as Results;
	const report = writeReport(results, ["../../docs/images/performance.svg"]);
	// Under a title of its own.
	const body = report.slice(report.indexOf("\n") + 1);
	const page = `# Results of the benchmark\n\n${INTRODUCTION}\n${body}`;
	writeFileSync(join(ROOT, PAGE), `${page.trimEnd()}\n`);
	copyFileSync(join(folder, "cpu.svg"), join(ROOT, CHART));
	return [PAGE, CHART, ...replaceResults("repeats", summary(results))];
}

/** Puts text in the place of that of an earlier run in the README, if it has one. */
export function replaceResults(name: string, text: string): readonly string[] {
	const begin = `<!-- results: ${name} -->`;
	const readme = readFileSync(join(ROOT, README), "utf8");
	const from = readme.indexOf(begin);
	const to = readme.indexOf("<!-- end of results -->", from);
	if (from < 0 || to < from) return [];
	writeFileSync(
		join(ROOT, README),
		`${readme.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${readme.slice(to)}`,
	);
	return [README];
}

const SUMMARY: readonly (readonly [
	section: string,
	variant: VariantName,
	title: string,
])[] = [
	["reads", "text", "any document"],
	["reads", "known", "a known document"],
	["hot", "known", "a known document, 30 objects over and over"],
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
