import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceResults } from "../report/publish.ts";
import {
	overBestPeer,
	reportOf,
	rowsOf,
	type SignedResults,
	spread,
	table,
} from "./report.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "bench/results/signed.md";

const INTRODUCTION =
	"`npm run bench -- signed`: four queries on keys by Zipf's law, a quarter each, beside writes of signed-in viewers, and shapes that no other bench asks for. [Performance](README.md) says how to read the tables, [where the time goes](profiles.md) has a profile of what misses its goal. CPU is that of the server process, of a request; medians of the rounds, with the least and the most in brackets.";

/** Makes a run's results the ones that bench/results and the README show. */
export function publish(file: string): readonly string[] {
	const results = JSON.parse(readFileSync(file, "utf8")) as SignedResults;
	const { at, about } = results;
	const measured = `${at.slice(0, 16).replace("T", " ")} UTC · ${about}`;
	writeFileSync(
		join(ROOT, PAGE),
		`# Signed-in viewers, while others write\n\n${INTRODUCTION}\n\n${measured}\n\n${reportOf(results)}\n`,
	);
	return [PAGE, ...replaceResults("signed", summary(results))];
}

/** How many times cheaper than the best peer Corkboard is, by who reads, and how many of the requests are writes. */
function summary({ blend, contenders }: SignedResults): string {
	const ours = contenders.filter(({ isOurs }) => isOurs);
	const peers = contenders.filter(({ isOurs }) => !isOurs);
	const rows = rowsOf(blend);
	const readers = [...new Set(rows.map((row) => row.split(", ")[0] as string))];
	const writes = [...new Set(rows.map((row) => row.split(", ")[1] as string))];
	return table(
		["CPU per request: the cheapest peer's over Corkboard's", ...writes],
		readers.flatMap((who) =>
			ours.map(({ title }) => [
				`${who}, ${title.replace(/^.*?, /, "")}`,
				...writes.map((share) => {
					const cells = blend.filter(({ row }) => row === `${who}, ${share}`);
					return `${spread(overBestPeer(cells, title, peers), 1)} ×`;
				}),
			]),
		),
	);
}
