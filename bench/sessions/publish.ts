import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceResults } from "../report/publish.ts";
import { spreadOf } from "../report/statistics.ts";
import { overBestPeer, rowsOf, spread, table } from "../signed/report.ts";
import { reportOf, type SessionResults, withAll } from "./report.ts";
import type { Cell } from "./run.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "bench/results/sessions.md";

const INTRODUCTION =
	"`npm run bench -- sessions`: people with an app, whose requests follow from the answers before: a profile, its boards by cursor, a board of 25 pins with likes and `viewerLikes`, further pages, a pin with likers; now and then a like, a new pin, a follow. Answers were compared before, and people look whether they see their own writes and nothing twice in a scroll. [Performance](README.md) says how to measure this again and what the tables leave out. CPU is that of processes, of a request; medians of the rounds, with the least and the most in brackets.";

/** Makes a run's results the ones that bench/results and the README show. */
export function publish(file: string): readonly string[] {
	const results = JSON.parse(readFileSync(file, "utf8")) as SessionResults;
	const { at, about } = results;
	const measured = `${at.slice(0, 16).replace("T", " ")} UTC · ${about}`;
	writeFileSync(
		join(ROOT, PAGE),
		`# People's sessions\n\n${INTRODUCTION}\n\n${measured}\n\n${reportOf(results)}\n`,
	);
	return [PAGE, ...replaceResults("sessions", summary(results))];
}

/** How many times cheaper than the best peer Corkboard is, and what people wait. */
function summary({ cells, contenders }: SessionResults): string {
	const ours = contenders.filter(({ isOurs }) => isOurs);
	const peers = contenders.filter(({ isOurs }) => !isOurs);
	const rows = rowsOf(cells);
	const ratios = (of: readonly Cell[], title: string) =>
		rows.map(
			(row) =>
				`${spread(
					overBestPeer(
						of.filter((cell) => cell.row === row),
						title,
						peers,
					),
					2,
				)} ×`,
		);
	const waits = (title: string) =>
		rows.map((row) => {
			const of = cells.filter(
				(cell) => cell.row === row && cell.title === title,
			);
			const median = (value: (cell: Cell) => number) =>
				(spreadOf(of.map(value))?.median ?? 0).toFixed(1);
			const refused = of.reduce((sum, cell) => sum + cell.refused, 0);
			return `${median(({ reads }) => reads.p50)} · ${median(({ reads }) => reads.p99)}; ${median(({ writes }) => writes.p50)} · ${median(({ writes }) => writes.p99)}; ${refused}`;
		});
	return table(
		["", ...rows],
		[
			...ours.flatMap(({ title }) => {
				const way = title.replace(/^.*?, /, "");
				return [
					[
						`${way}: CPU of the server, the cheapest peer's over Corkboard's`,
						...ratios(cells, title),
					],
					[
						`${way}: CPU with databases and caches`,
						...ratios(withAll(cells), title),
					],
				];
			}),
			...contenders.map(({ title }) => [
				`${title}: reads p50 · p99; writes p50 · p99, ms; refused`,
				...waits(title),
			]),
		],
	);
}
