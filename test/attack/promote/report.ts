import type { LoadReport } from "./load.ts";
import type { NamesRound } from "./namesAttack.ts";
import type { OpeningReport } from "./openingAttack.ts";
import type { Report } from "./promoteAttack.ts";
import type { StoreReport } from "./storeAttack.ts";

/** What a run prints, as sentences. */

export function promotionLines(report: Report): readonly string[] {
	const ms = ({ p50, max }: Report["pauseMs"]) =>
		`p50 ${Math.round(p50)} ms, at most ${Math.round(max)} ms`;
	return [
		`${report.rounds.length} promotions`,
		`pause (the longest time without an acknowledged write): ${ms(report.pauseMs)}`,
		`the slowest write of each promotion: ${ms(report.roundWriteMs)}`,
		`from the fence to the publication: ${ms(report.fenceMs)}`,
		`from the publication until all servers serve it: ${ms(report.agreedMs)}`,
		...report.rounds.map(
			({ pauseMs, slowestWriteMs, steps }, nth) =>
				`  ${nth + 1}: ${Math.round(pauseMs)} ms without a write, the slowest ${Math.round(slowestWriteMs)} ms; ${steps}`,
		),
		`longest time without an acknowledged write and without a promotion: ${Math.round(report.quietGapMs)} ms; the slowest write then: ${Math.round(report.quietWriteMs)} ms`,
		loadLine(report),
		`${report.acknowledged} acknowledged: ${report.lost.length} lost, ${report.repeated.length} ids twice`,
		...report.failures,
		...report.rounds.flatMap(({ error }) => error ?? []),
	];
}

export function openingLines(report: OpeningReport): readonly string[] {
	return [
		report.opening.trim(),
		`${Math.round(report.openingMs)} ms; ${report.users} users signed up, ${report.placed} of them on new shards; each was read on every server at once`,
		`${loadLine(report, `, ${report.followed} reads of new users`)}, ${report.nulls} answered null`,
		`${report.lost.length} lost`,
		...report.failures,
	];
}

export function namesLines(rounds: readonly NamesRound[]): readonly string[] {
	const sum = (count: (round: NamesRound) => number) =>
		rounds.reduce((all, round) => all + count(round), 0);
	return [
		...rounds.map(
			({ flip, backMs, acknowledged, failed, lost, inFlight, broken }, nth) =>
				`  ${nth + 1}: ${flip}, writes back after ${Math.round(backMs)} ms; ${acknowledged} acknowledged, ${failed} requests failed, ${lost} lost and named, ${inFlight} named and never acknowledged, ${broken.length} broken promises`,
		),
		`${rounds.length} flips, ${sum(({ reads }) => reads)} reads, ${sum(({ acknowledged }) => acknowledged)} acknowledged writes, ${sum(({ lost }) => lost)} lost, ${sum(({ conflicts }) => conflicts)} conflicts, ${sum(({ broken }) => broken.length)} broken promises`,
		...rounds.flatMap(({ broken }) => broken),
	];
}

export function storeLines(report: StoreReport): readonly string[] {
	const { p50, max } = report.adoptedMs;
	return [
		...report.faults.map(
			({ fault, listedMs }) =>
				`${fault}: all servers listed again ${Math.round(listedMs)} ms after its end`,
		),
		`${report.publications} versions: all servers served one p50 ${Math.round(p50)} ms, at most ${Math.round(max)} ms after it was there`,
		`${report.kills} publishers killed: ${report.publishedByKilled} had published, ${report.torn.length} versions are half there`,
		loadLine(report),
		...report.failures,
		...report.torn,
	];
}

function loadLine(report: LoadReport, more = ""): string {
	const { reads, writes, failed, refused } = report;
	const slowestRead = Math.round(report.slowestReadMs);
	const slowestWrite = Math.round(report.slowestWriteMs);
	return `${reads} reads (the slowest ${slowestRead} ms), ${writes} writes (${slowestWrite} ms)${more}: ${failed} failed, ${refused} more were refused at once for load`;
}
