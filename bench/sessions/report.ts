import { spreadOf } from "../report/statistics.ts";
import { cpuTable, rowsOf, spread, table } from "../signed/report.ts";
import { KINDS } from "./documents.ts";
import { CHECKS, type CheckName } from "./messages.ts";
import type { Cell } from "./run.ts";
import type { Contender } from "./systems.ts";

type Column = Pick<Contender, "title" | "isOurs">;

export interface SessionResults {
	readonly seed: number;
	/** When it ended, in UTC. */
	readonly at: string;
	readonly about: string;
	readonly contenders: readonly Column[];
	readonly cells: readonly Cell[];
}

export const CPU_OF_SERVER = "CPU of the server a request, ms";
export const CPU_OF_ALL = "CPU of server, databases and caches a request, ms";

export function reportOf({ cells, contenders }: SessionResults): string {
	return [
		cpuTable(CPU_OF_SERVER, cells, contenders),
		cpuTable(CPU_OF_ALL, withAll(cells), contenders),
		latencyTable(cells, contenders),
		...rowsOf(cells).map((row) => kindTable(row, cells, contenders)),
		wrongTable(cells, contenders),
		countedTable(cells),
	]
		.filter((text) => text !== "")
		.join("\n\n");
}

/** The CPU of everything in the place of the server's. */
export function withAll(cells: readonly Cell[]): readonly Cell[] {
	return cells.map((cell) => ({ ...cell, cpu: cell.allCpu }));
}

/** Medians of the rounds. */
export function latencyTable(
	cells: readonly Cell[],
	contenders: readonly Column[],
): string {
	return table(
		[
			...["load", "server", "requests/s"],
			...["CPU: server", "databases", "caches", "all, ms"],
			...["reads p50 · p99 · p99.9, ms", "writes p50 · p99 · p99.9, ms"],
			...["server busy", "KB", "signed in", "resident, MB"],
			...["refused · failed", "sender late p99, ms · starved"],
		],
		rowsOf(cells).flatMap((row) =>
			contenders.map(({ title }) => {
				const all = cells.filter(
					(cell) => cell.row === row && cell.title === title,
				);
				const median = (value: (cell: Cell) => number, digits = 0) =>
					(spreadOf(all.map(value))?.median ?? 0).toFixed(digits);
				const total = (value: (cell: Cell) => number) =>
					all.reduce((sum, cell) => sum + value(cell), 0);
				const latency = (of: "reads" | "writes") =>
					(["p50", "p99", "p999"] as const)
						.map((at) => median((cell) => cell[of][at], 1))
						.join(" · ");
				return [
					...[
						row,
						title,
						spread(
							all.map(({ perSecond }) => perSecond),
							0,
						),
					],
					median(({ cpu }) => cpu, 3),
					median(({ databaseCpu }) => databaseCpu, 3),
					median(({ cacheCpu }) => cacheCpu, 3),
					spread(all.map(({ allCpu }) => allCpu)),
					...[latency("reads"), latency("writes")],
					`${median(({ busy }) => busy * 100)} %`,
					median(({ bytes }) => bytes / 1_024, 1),
					`${median(({ signedIn }) => signedIn * 100)} %`,
					median(({ residentMb }) => residentMb),
					`${total(({ refused }) => refused)} · ${total(({ failed }) => failed)}`,
					`${median(({ lateMs }) => lateMs, 1)} · ${total(({ starved }) => starved)}`,
				];
			}),
		),
	);
}

function kindTable(
	row: string,
	cells: readonly Cell[],
	contenders: readonly Column[],
): string {
	const of = cells.filter((cell) => cell.row === row);
	return table(
		[`${row}: share, p50 · p99 in ms`, ...contenders.map(({ title }) => title)],
		KINDS.map((kind) => [
			kind,
			...contenders.map(({ title }) => {
				const all = of.filter((cell) => cell.title === title);
				const median = (value: (cell: Cell) => number, digits: number) =>
					(spreadOf(all.map(value))?.median ?? 0).toFixed(digits);
				const share = median(
					({ kinds, reads, writes }) =>
						(kinds[kind].count / Math.max(1, reads.count + writes.count)) * 100,
					1,
				);
				return `${share} %, ${median(({ kinds }) => kinds[kind].p50, 1)} · ${median(({ kinds }) => kinds[kind].p99, 1)}`;
			}),
		]),
	);
}

function wrongTable(
	cells: readonly Cell[],
	contenders: readonly Column[],
): string {
	const names = Object.keys(CHECKS) as readonly CheckName[];
	return table(
		["wrong of looked at", ...names.map((name) => CHECKS[name])],
		contenders.map(({ title }) => {
			const all = cells.filter((cell) => cell.title === title);
			return [
				title,
				...names.map((name) => {
					const total = (what: "of" | "wrong") =>
						all.reduce((sum, { checked }) => sum + checked[name][what], 0);
					return `${total("wrong")} of ${total("of")}`;
				}),
			];
		}),
	);
}

/** By Corkboard's own metrics, in closed loops. */
function countedTable(cells: readonly Cell[]): string {
	const closed = cells.filter(
		({ row, counted }) =>
			row === rowsOf(cells)[0] && Object.keys(counted).length > 0,
	);
	const titles = [...new Set(closed.map(({ title }) => title))];
	const names = [
		...new Set(closed.flatMap(({ counted }) => Object.keys(counted))),
	];
	if (titles.length === 0) return "";
	const medianOf = (title: string, name: string) =>
		spreadOf(
			closed
				.filter((cell) => cell.title === title)
				.map(({ counted }) => counted[name] ?? 0),
		)?.median ?? 0;
	return table(
		["of a request, in a closed loop", ...titles],
		names
			.filter((name) => titles.some((title) => medianOf(title, name) >= 0.005))
			.map((name) => [
				name,
				...titles.map((title) => medianOf(title, name).toFixed(2)),
			]),
	);
}
