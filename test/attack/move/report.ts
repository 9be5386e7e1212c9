import type { DefectReport } from "./defects.ts";
import { judgementLines, type Served } from "./judgement.ts";
import type { Report } from "./moveAttack.ts";
import type { OutageReport } from "./outages.ts";

/** What a run prints: a table as pages have it, and sentences. */

export function moveLines(report: Report): readonly string[] {
	const { ways, calm } = report;
	const pauses = ways.flatMap((way) => way.pauses).toSorted((a, b) => a - b);
	const killedAfter = ways.flatMap((way) => way.killedAfter);
	const fencedAfter = Math.max(0, ...ways.map((way) => way.fencedAfterMs));
	return [
		...table([
			[
				...["", "s", "pauses, ms", "slowest write, ms"],
				...["p99 of reads: moved · others", "p99 of writes: moved · others"],
				...["CPU a request, ms", "more than before"],
			],
			["nothing", "", "", ...servedCells(calm), cell(calm.cpuMs, 3), ""],
			...ways.map((way) => [
				way.isReached ? way.way : `${way.way}, NOT ENDED`,
				way.seconds.toFixed(1),
				way.pauses.map((ms) => cell(ms)).join(", "),
				...servedCells(way),
				cell(way.cpuMs, 3),
				`${cell(100 * (way.cpuMs / calm.cpuMs - 1), 1)} %`,
			]),
		]),
		`${pauses.length} pauses: median ${cell(at(pauses, 0.5))} ms, p99 ${cell(at(pauses, 0.99))} ms, longest ${cell(pauses.at(-1) ?? 0)} ms`,
		...(killedAfter.length === 0
			? []
			: [
					`${killedAfter.length} runners killed, after the steps ${counted(killedAfter)}; writes waited at most ${cell(fencedAfter)} ms for a fence after that`,
				]),
		...judgementLines(report),
		...report.broken,
		...ways.flatMap(({ error }) => error ?? []),
	];
}

export function outageLines(report: OutageReport): readonly string[] {
	return [
		...table([
			[
				...["killed", "after the step", "away, s", "ended by"],
				...["after, s", "fenced once it was back, ms"],
			],
			...report.outages.map((outage) => [
				outage.what,
				outage.step,
				(outage.awayMs / 1_000).toFixed(1),
				endOf(outage),
				outage.seconds.toFixed(1),
				cell(outage.fencedAfterMs),
			]),
		]),
		...judgementLines(report),
		...report.broken,
		...report.outages.flatMap(({ error }) => error ?? []),
	];
}

export function defectLines(report: DefectReport): readonly string[] {
	return [
		...table([
			["defect", "found before anything switched"],
			...report.defects.map(({ kind, planted, found }) => [
				kind,
				`${found} of ${planted}`,
			]),
		]),
		...judgementLines(report),
		...report.broken,
	];
}

function endOf({
	isReached,
	resumed,
}: OutageReport["outages"][number]): string {
	if (!isReached) return "nothing";
	return resumed === 0
		? "itself"
		: `resume${resumed > 1 ? ` × ${resumed}` : ""}`;
}

function servedCells(served: Served): readonly string[] {
	const both = (moved: number, other: number) =>
		`${cell(moved)} · ${cell(other)}`;
	return [
		cell(served.slowestWriteMs),
		both(served.movedReadP99Ms, served.otherReadP99Ms),
		both(served.movedWriteP99Ms, served.otherWriteP99Ms),
	];
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	const [head = [], ...body] = rows;
	return [
		line(head),
		`|${head.map((_, nth) => (nth === 0 ? "---" : "---:")).join("|")}|`,
		...body.map(line),
	];
}

function counted(words: readonly string[]): string {
	return [...Map.groupBy(words, (word) => word)]
		.map(([word, some]) => `${word} ${some.length}`)
		.join(", ");
}

function at(sorted: readonly number[], share: number): number {
	return sorted[Math.floor(sorted.length * share)] ?? 0;
}

function cell(value: number, digits = 0): string {
	return value.toFixed(digits);
}
